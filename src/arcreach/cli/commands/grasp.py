"""`arcreach grasp`: plan how a planar robot wraps around an object."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from arcreach.cli.arguments import AsJson, FigurePath, PlanarName
from arcreach.cli.output import check_figure, exit_by, note_unwritten, picked, print_json, printable_lines
from arcreach.cli.progress import announce_compiling
from arcreach.cli.targets import parse_number
from arcreach.errors import SceneError
from arcreach.files import load_planar_scene
from arcreach.planning.contact.grasp import plan_grasp
from arcreach.planning.contact.grasp_plan import GraspPlan


def grasp(
    scene: PlanarName,
    wrap: Annotated[
        str, typer.Option("--wrap", help="Angle of the wrap around the object, at least 180deg.")
    ] = "200deg",
    figure: FigurePath = None,
    as_json: AsJson = False,
) -> None:
    """Plan grasps of a scene's object by one or several sections; the shortest body first.

    Exit code 0 when there is a grasp, 1 when none is possible.
    """
    check_figure(figure)
    loaded = load_planar_scene(scene)
    if loaded.object is None:
        raise SceneError(f"scene '{loaded.name}' has no object; name one of its obstacles by object = \"...\"")
    angle = parse_number("--wrap", wrap, "angle")
    with announce_compiling():
        found = plan_grasp(loaded.robot, loaded.object, loaded.obstacles, wrap=angle, bend_radius=loaded.bend_radius)
        if as_json:
            grasps = [_as_data(plan) for plan in found]
            print_json({"scene": loaded.name, "grasps": grasps, "refusals": found.refusals})
        else:
            typer.echo(printable_lines(str(found)))
    if not len(found):
        note_unwritten("no grasp is possible", figure)
    elif figure is not None:
        from arcreach import figures

        figures.save(figures.grasp(found[0], title=loaded.name), figure)
    exit_by(len(found) > 0)


def _as_data(plan: GraspPlan) -> dict[str, Any]:
    fields = ("centre", "object_radius", "side", "wrap_angle", "length", "clearance", "motion", "touched", "tip")
    data = picked(plan, *fields)
    for name in ("approach", "wrap"):
        data[name] = [{"curvature": curvature, "length": length} for curvature, length in getattr(plan, name)]
    return {**data, "q": plan.q}
