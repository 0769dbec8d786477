"""`arcreach info`: show a robot, or the devices of this machine."""

from __future__ import annotations

import dataclasses
import math
from typing import Annotated, Any

import typer

from arcreach._text import coordinate, number
from arcreach._threads import available_threads
from arcreach.cli.arguments import AsJson, BaseLink, OptionalRobot, TipLink
from arcreach.cli.output import console, note, plain, print_json, print_table
from arcreach.elements import LENGTH, Element, Link, Section
from arcreach.files import load_robot
from arcreach.robots.hints import reach_hint
from arcreach.robots.robot import Robot
from arcreach.robots.routes import pull_ranges, tendons_of
from arcreach.robots.symbolic import SymbolicRobot

# Fields of a joint that the table of elements leaves out; the table of coordinates has the limits.
NOT_GEOMETRY = ("lower", "upper", "radius", "name")


def info(
    robot: OptionalRobot = None,
    base: BaseLink = None,
    tip: TipLink = None,
    devices: Annotated[bool, typer.Option("--devices", help="Show threads and GPUs instead of a robot.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show a robot's elements, coordinates, limits and reach, or with --devices the devices for batches."""
    if devices:
        if (robot, base, tip) != (None, None, None):
            raise typer.BadParameter("give a robot or --devices, not both", param_hint="'ROBOT'")
        _show_devices(as_json)
        return
    if robot is None:
        raise typer.BadParameter("give a robot, or --devices", param_hint="'ROBOT'")
    loaded = load_robot(robot, base, tip)
    note(reach_hint(loaded))
    if as_json:
        print_json(_as_data(loaded))
        return
    out = console()
    reach = "unknown" if math.isinf(loaded.reach) else f"at most {loaded.reach:.4g} m"
    out.print(f"[bold]{plain(loaded.name or robot)}[/bold]  {loaded.dof} dof, reach {reach}", soft_wrap=True)
    if loaded.source:
        out.print(f"source: {plain(loaded.source)}", soft_wrap=True)
    if isinstance(loaded, Robot):
        pairs = zip(loaded.element_names, loaded.elements, strict=True)
        rows = [(name, element.kind, _geometry(element)) for name, element in pairs]
        print_table(("element", "kind", "geometry"), rows)
    limits = ("lower", "upper", "neutral")
    print_table(("coordinate", *limits), _coordinate_rows(loaded), right=limits, whole=limits)
    if isinstance(loaded, Robot) and loaded.tendons:
        headings = ("tendon", "radius", "angle", "routing, force", "limits", "pull range")
        print_table(headings, _tendon_rows(loaded), right=("radius", "angle"), whole=("tendon", "radius", "angle"))


def _show_devices(as_json: bool) -> None:
    """Print the threads of the CPU and the GPUs, or the reason why there is none."""
    from arcreach.gpu import driver

    reason = driver.unusable()
    gpus = [] if reason else driver.devices()
    if as_json:
        print_json(
            {"threads": available_threads(), "gpus": [dataclasses.asdict(gpu) for gpu in gpus], "no_gpu": reason}
        )
        return
    out = console()
    out.print(f"cpu   {available_threads()} threads")
    for gpu in gpus:
        major, minor = gpu.compute_capability
        out.print(
            f"cuda  {plain(gpu.name)}, compute capability {major}.{minor}, {gpu.multiprocessors} multiprocessors, "
            f"{gpu.memory / 2**30:.0f} GiB",
            soft_wrap=True,
        )
    if reason:
        out.print(f"cuda  none: {plain(reason)}", soft_wrap=True)


def _geometry(element: Element) -> str:
    if isinstance(element, Link):
        turn = _rotation_angle(element.rotation)
        return f"shift {_millimetres(element.translation)}" + (f", turn {math.degrees(turn):.4g}°" if turn else "")
    if isinstance(element, Section):
        length = f"length {coordinate(element.length, 'length')}"
        if element.stretch:
            length += f" + up to {coordinate(element.stretch, 'length')}"
        arcs = len(element.length_weights)
        return length + (f", {arcs} sub-arcs" if arcs > 1 else "") + (", twisting" if element.twist else "")
    return ", ".join(
        f"{field.name} {_value(getattr(element, field.name), field.metadata['quantity'])}"
        for field in dataclasses.fields(element)
        if field.name not in NOT_GEOMETRY
    )


def _value(value: Any, quantity: str) -> str:
    """Return the text of a number or a vector of a quantity."""
    if isinstance(value, float):
        return coordinate(value, quantity)
    return _millimetres(value) if quantity == LENGTH else f"({', '.join(f'{x:.4g}' for x in value)})"


def _millimetres(vector: tuple[float, ...]) -> str:
    return f"({', '.join(number(x * 1e3, 6) for x in vector)}) mm"


def _rotation_angle(rotation: tuple[tuple[float, ...], ...]) -> float:
    cosine = 0.5 * (rotation[0][0] + rotation[1][1] + rotation[2][2] - 1.0)
    return math.acos(min(max(cosine, -1.0), 1.0))


def _coordinate_rows(robot: Robot | SymbolicRobot) -> list[tuple[str, ...]]:
    columns = zip(robot.coordinates, robot.quantities, robot.lower, robot.upper, robot.neutral, strict=True)
    return [(name, *(coordinate(float(value), quantity) for value in values)) for name, quantity, *values in columns]


def _tendon_rows(robot: Robot) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for name, tendon, needed in zip(robot.tendons, tendons_of(robot), pull_ranges(robot).tolist(), strict=True):
        routing = [f"{tendon.discs} discs" if tendon.discs else "straight"]
        if tendon.rate:
            routing = [f"helical, {number(math.degrees(tendon.rate) * 1e-3)}°/mm", *routing[: bool(tendon.discs)]]
        low, high = tendon.pull_min, tendon.pull_max
        limits = [_range(low, high)] if math.isfinite(high - low) else []
        if not limits and (math.isfinite(low) or math.isfinite(high)):
            limits = [
                f"at most {coordinate(high, 'length')}"
                if math.isfinite(high)
                else f"at least {coordinate(low, 'length')}"
            ]
        limits += [f"{number(tendon.speed_max * 1e3)} mm/s"] if math.isfinite(tendon.speed_max) else []
        limits += [f"{number(tendon.force_max)} N"] if math.isfinite(tendon.force_max) else []
        rows.append(
            (
                name,
                coordinate(tendon.radius, "length"),
                coordinate(tendon.angle, "angle"),
                ", ".join([*routing, tendon.transmits]),
                ", ".join(limits) or "none",
                _range(*needed),
            )
        )
    return rows


def _range(low: float, high: float) -> str:
    return f"{number(low * 1e3)} to {number(high * 1e3)} mm"


def _as_data(robot: Robot | SymbolicRobot) -> dict[str, Any]:
    elements = []
    tendons = []
    if isinstance(robot, Robot):
        for name, tendon, needed in zip(robot.tendons, tendons_of(robot), pull_ranges(robot), strict=True):
            tendons.append({**dataclasses.asdict(tendon), "name": name, "pull_range": needed})
        for name, element in zip(robot.element_names, robot.elements, strict=True):
            elements.append({"kind": element.kind, **dataclasses.asdict(element), "name": name})
    columns = (robot.coordinates, robot.quantities, robot.lower, robot.upper, robot.neutral)
    keys = ("name", "quantity", "lower", "upper", "neutral")
    return {
        "name": robot.name,
        "source": robot.source,
        "dof": robot.dof,
        "reach": robot.reach,
        "elements": elements,
        "tendons": tendons,
        "coordinates": [dict(zip(keys, row, strict=True)) for row in zip(*columns, strict=True)],
    }
