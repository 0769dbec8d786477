"""`arcreach contact`: reach a target behind obstacles by bending around them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from arcreach._io import check_output
from arcreach.cli.output import AsJson, announce_compiling, print_json, printable
from arcreach.errors import FileError, SceneError
from arcreach.files import units
from arcreach.files.toml.planar_file import PlanarScene, load_planar_scene, planar_catalogue
from arcreach.planning.contact.contact_plan import ContactPlan, ContactPlans
from arcreach.planning.contact.plan import plan_contact
from arcreach.planning.contact.rod import RodShape
from arcreach.scenes.planar import Point

EXIT_NOT_REACHED = 1


def complete_scene(incomplete: str) -> list[str]:
    """Names of planar scenes for the shell's completion."""
    return [name for name in planar_catalogue() if name.startswith(incomplete)]


SceneName = Annotated[
    str,
    typer.Argument(metavar="SCENE", help="Planar scene: a name or a .toml file.", autocompletion=complete_scene),
]
FigurePath = Annotated[Path | None, typer.Option("--figure", help="Draw it: .png, .pdf or .svg.")]


def contact(
    scene: SceneName,
    to: Annotated[str | None, typer.Option("--to", help="Another target: 50mm,190mm (x,z).")] = None,
    automatic: Annotated[
        bool, typer.Option("--auto", help="Touch any convex corner and disc, not only the scene's contact points.")
    ] = False,
    rule: Annotated[bool, typer.Option("--rule/--no-rule", help="Keep to arcs that the obstacle holds.")] = True,
    solutions: Annotated[int, typer.Option("--solutions", help="As many as this at most.")] = 10,
    contacts: Annotated[int, typer.Option("--contacts", help="At most this many contacts in one way.")] = 6,
    max_time: Annotated[float, typer.Option("--max-time", help="Seconds of search.")] = 5.0,
    figure: FigurePath = None,
    as_json: AsJson = False,
) -> None:
    """Ways of a planar robot to a target, bending around what it touches; the shortest first.

    Each comes with the second opinion of an elastic rod. Exit code 0 when there is a way, 1 when none was found.
    """
    check_figure(figure)
    loaded = load_planar_scene(scene)
    target = loaded.target if to is None else _place(to)
    if target is None:
        raise SceneError(f"scene '{loaded.name}' has no target; give one by --to, or use arcreach grasp")
    with announce_compiling():
        found = plan_contact(
            loaded.robot,
            target,
            loaded.obstacles,
            None if automatic else loaded.contacts,
            rule=rule,
            max_solutions=solutions,
            max_contacts=contacts,
            max_time=max_time,
            bend_radius=loaded.bend_radius,
        )
        if as_json:
            print_json(_as_data(loaded, found))
        else:
            typer.echo(printable_lines(str(found)))
    if figure is not None:
        from arcreach import figures

        figures.save(figures.contact({loaded.name or "scene": found}, width=120.0), figure)
    raise typer.Exit(0 if len(found) else EXIT_NOT_REACHED)


def check_figure(path: Path | None) -> None:
    """Refuse a figure that could not be written, before anything is planned for it."""
    if path is None:
        return
    from arcreach.figures import _style

    check_output(path, _style.ENDINGS)
    _style.import_matplotlib()


def printable_lines(text: str) -> str:
    """A text with nothing in it that a terminal would obey, line by line."""
    return "\n".join(printable(line) for line in text.splitlines())


def _place(text: str) -> Point:
    cells = text.split(",")
    if len(cells) != 2:
        raise FileError(f"--to has {len(cells)} values; give two, x and z, separated by a comma")
    return units.parse(cells[0].strip(), "length"), units.parse(cells[1].strip(), "length")


def _as_data(scene: PlanarScene, found: ContactPlans) -> dict[str, Any]:
    return {
        "scene": scene.name,
        "target": found.target,
        "solutions": [_plan_data(plan) for plan in found],
        "complete": found.complete,
        "poses": found.poses,
        "seconds": found.seconds,
    }


def _plan_data(plan: ContactPlan) -> dict[str, Any]:
    fields = ("curvature", "length", "side", "contact", "kind", "obstacle")
    return {
        "length": plan.length,
        "tip": plan.tip,
        "clearance": plan.clearance,
        "arcs": [{name: getattr(arc, name) for name in fields} for arc in plan.arcs],
        "rod": _rod_data(plan.rod, plan.target),
        "repair": _rod_data(plan.repair, plan.target),
    }


def _rod_data(shape: RodShape, target: Point) -> dict[str, Any]:
    fields = ("actuation", "length", "tip", "touched", "pushes", "share", "clearance", "within_limits")
    return {"tip_deviation": shape.deviation(target), **{name: getattr(shape, name) for name in fields}}
