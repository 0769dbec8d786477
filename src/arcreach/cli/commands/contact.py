"""`arcreach contact`: plan paths of a planar robot that bends around the obstacles it touches."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from arcreach.cli.arguments import AsJson, FigurePath, PlanarName
from arcreach.cli.output import check_figure, exit_by, picked, print_json, printable_lines
from arcreach.cli.progress import announce_compiling
from arcreach.cli.targets import parse_numbers
from arcreach.errors import SceneError
from arcreach.files import PlanarScene, load_planar_scene
from arcreach.planning.contact.contact_plan import ContactPlan, ContactPlans
from arcreach.planning.contact.plan import plan_contact
from arcreach.planning.contact.rod import RodShape
from arcreach.scenes.planar import Point

# Width of the figure in millimetres: its legend needs more than a column.
WIDTH = 120.0


def contact(
    scene: PlanarName,
    to: Annotated[str | None, typer.Option("--to", help="Target in place of the scene's: 50mm,190mm (x,z).")] = None,
    automatic: Annotated[
        bool,
        typer.Option("--auto", help="Allow contact with every convex corner and disc, not only at given points."),
    ] = False,
    edges: Annotated[
        bool, typer.Option("--edges", help="Allow contact with the inside of every edge of polygons and walls.")
    ] = False,
    rule: Annotated[
        bool, typer.Option("--rule/--no-rule", help="Accept a contact only if it holds the arc before it.")
    ] = True,
    solutions: Annotated[int, typer.Option("--solutions", help="Largest number of paths.")] = 10,
    contacts: Annotated[int, typer.Option("--contacts", help="Largest number of contacts of a path.")] = 6,
    max_time: Annotated[float, typer.Option("--max-time", help="Seconds of search.")] = 5.0,
    figure: FigurePath = None,
    as_json: AsJson = False,
) -> None:
    """Plan paths of a planar robot that bend around the obstacles they touch on the way to a target; shortest first.

    Each path is compared with an elastic rod. Exit code 0 when a path is found, 1 when none is.
    """
    check_figure(figure)
    loaded = load_planar_scene(scene)
    target = loaded.target if to is None else parse_numbers("--to", to, (2,), "length", "x and z")
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
            edges=edges,
        )
        # Printing computes the elastic rods, whose kernels may have to be compiled.
        if as_json:
            print_json(_as_data(loaded, found))
        else:
            typer.echo(printable_lines(str(found)))
    if figure is not None:
        from arcreach import figures

        figures.save(figures.contact({loaded.name or "scene": found}, width=WIDTH), figure)
    exit_by(len(found) > 0)


def _as_data(scene: PlanarScene, found: ContactPlans) -> dict[str, Any]:
    return {
        "scene": scene.name,
        "target": found.target,
        "solutions": [_plan_data(plan) for plan in found],
        **picked(found, "complete", "poses", "seconds"),
    }


def _plan_data(plan: ContactPlan) -> dict[str, Any]:
    fields = ("curvature", "length", "side", "contact", "kind", "obstacle")
    return {
        **picked(plan, "length", "tip", "clearance"),
        "arcs": [picked(arc, *fields) for arc in plan.arcs],
        "rod": _rod_data(plan.rod, plan.target),
        "repair": _rod_data(plan.repair, plan.target),
    }


def _rod_data(shape: RodShape, target: Point) -> dict[str, Any]:
    fields = ("actuation", "length", "tip", "touched", "pushes", "share", "clearance", "within_limits")
    return {"tip_deviation": shape.deviation(target), **picked(shape, *fields)}
