"""`arcreach figure contact` and `arcreach figure search`: figures of planar scenes."""

from __future__ import annotations

from typing import Annotated

import typer

from arcreach.cli.arguments import PlanarName, complete
from arcreach.cli.figure_output import Out, Width, WidthChoice, save, width_option
from arcreach.cli.output import check_figure
from arcreach.cli.progress import announce_compiling
from arcreach.errors import SceneError
from arcreach.files import PlanarScene, load_planar_scene, planar_catalogue
from arcreach.planning.contact.contact_plan import ContactPlans
from arcreach.planning.contact.plan import plan_contact


def contact(
    scenes: Annotated[
        list[str],
        typer.Argument(
            metavar="SCENE...", help="Planar scenes: names or .toml files.", autocompletion=complete(planar_catalogue)
        ),
    ],
    out: Out,
    rod: Annotated[bool, typer.Option("--rod/--no-rod", help="Add a row with the elastic rod.")] = True,
    width: WidthChoice = None,
) -> None:
    """Draw the contact plans of planar scenes side by side."""
    check_figure(out)
    loaded = [load_planar_scene(name) for name in scenes]
    for one in loaded:
        _check_target(one)
    from arcreach import figures

    with announce_compiling():
        plans = {one.name or "scene": _planned(one) for one in loaded}
        drawn = figures.contact(
            plans, rod=rod, **width_option(width or (Width.COLUMN if len(plans) == 1 else Width.PAGE))
        )
    save(drawn, out)


def search(
    scene: PlanarName,
    out: Out,
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="Rounds of the search, a panel each.")] = 2,
    automatic: Annotated[
        bool, typer.Option("--auto", help="Allow contact with every convex corner and disc, not only at given points.")
    ] = False,
    width: WidthChoice = None,
) -> None:
    """Draw the rounds of the contact planner's search side by side."""
    check_figure(out)
    loaded = load_planar_scene(scene)
    _check_target(loaded)
    from arcreach import figures

    with announce_compiling():
        drawn = figures.contact_search(_planned(loaded, automatic, trace=True), rounds=rounds, **width_option(width))
    save(drawn, out)


def _check_target(scene: PlanarScene) -> None:
    if scene.target is None:
        raise SceneError(f"scene '{scene.name}' has no target to reach; give one that has")


def _planned(scene: PlanarScene, automatic: bool = False, trace: bool = False) -> ContactPlans:
    contacts = None if automatic else scene.contacts
    return plan_contact(
        scene.robot, scene.target, scene.obstacles, contacts, bend_radius=scene.bend_radius, trace=trace
    )
