"""Numbers and statuses as the page shows them."""

from __future__ import annotations

import math

from arcreach.ik.solution import Status

# Errors up to these (m, rad) are not shown: they are invisible on the page. The default angle tolerance is 1e-3.
SEEN_POSITION, SEEN_ANGLE = 5e-6, 1.7e-3

NOTHING = "–"


def millimetres(metres: float) -> str:
    """Return a length in millimetres with up to two decimals, the fewer the longer it is."""
    value = metres * 1e3
    digits = 0 if abs(value) >= 10.0 else 1 if abs(value) >= 1.0 else 2
    text = f"{value:.{digits}f}"
    return f"{'0.00' if float(text) == 0.0 else text} mm".replace("-", "−")


def degrees(radians: float) -> str:
    """Return an angle in degrees."""
    value = math.degrees(radians)
    return f"{value:.0f}°" if value >= 10.0 else f"{value:.1f}°"


def milliseconds(seconds: float) -> str:
    """Return a duration in milliseconds, the unit of the chart, or in seconds from one second on."""
    if seconds >= 1.0:
        return f"{seconds:.1f} s"
    value = seconds * 1e3
    return f"{value:.{0 if value >= 10.0 else 1 if value >= 1.0 else 2 if value >= 0.1 else 3}f} ms"


def off(position_error: float, angle_error: float) -> str:
    """Return the position and angle errors that are large enough to be seen."""
    parts = []
    if position_error > SEEN_POSITION:
        parts.append(millimetres(position_error))
    if angle_error > SEEN_ANGLE:
        parts.append(degrees(angle_error))
    return " and ".join(parts)


def status(code: Status, position_error: float, angle_error: float) -> str:
    """Return the text of a status, such as "out of reach, 38 mm short"."""
    if code == Status.REACHED:
        return "reached"
    distance = off(position_error, angle_error)
    if code == Status.OUT_OF_REACH:
        return f"out of reach, {millimetres(position_error)} short"
    if code == Status.COLLISION:
        return "an obstacle is in the way" + (f", {distance} off" if distance else "")
    if code == Status.PORT_MISSED:
        return "reached, but misses the entry point"
    if code == Status.TIME_LIMIT:
        # The time limit is not named: more time seldom helps.
        return f"not found, the closest is {distance} off" if distance else "not quite reached"
    reason = "gave up at its iteration limit" if code == Status.ITERATION_LIMIT else "not reached"
    return f"{reason}, {distance} off" if distance else reason
