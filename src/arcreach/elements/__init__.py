"""Elements of robots, one module each.

Each module declares the fields, coordinates, limits, solver variables and body of an element; a joint's module also has
its motion kernels. All other code looks elements up in the tuple ELEMENTS.
"""

from arcreach._jit import by_kind
from arcreach.elements.element import ANGLE, LENGTH, NO_ROTATION, PLAIN, Z_AXIS, Coordinate, Element, Joint
from arcreach.elements.link import Link
from arcreach.elements.parallelogram import Parallelogram
from arcreach.elements.prismatic import Prismatic
from arcreach.elements.revolute import Revolute
from arcreach.elements.section import HeldSection, Section
from arcreach.elements.tendon import Tendon
from arcreach.kernels.chain import layout

__all__ = [
    "ANGLE", "ELEMENTS", "LENGTH", "NO_ROTATION", "OTHER_JOINTS", "PLAIN", "Z_AXIS", "Coordinate", "Element",
    "HeldSection", "Joint", "Link", "Parallelogram", "Prismatic", "Revolute", "Section", "Tendon",
    "motion_of", "rates_of",
]  # fmt: skip

# The index in this tuple is an element's kind in the packed chain; the first five are `LINK` to `SECTION` of `layout`.
ELEMENTS: tuple[type[Element], ...] = (Link, Revolute, Prismatic, Parallelogram, Section)

_JOINTS = [(kind, element) for kind, element in enumerate(ELEMENTS) if issubclass(element, Joint)]
# The kernels of a joint: motion_of(kind, row, value) and rates_of(kind, row, value, moved).
motion_of = by_kind([(kind, joint.motion) for kind, joint in _JOINTS])
rates_of = by_kind([(kind, joint.rates) for kind, joint in _JOINTS])
# True if some joint has no specialised solver step.
OTHER_JOINTS = any(joint.step == layout.JOINT for _, joint in _JOINTS)


def __dir__() -> list[str]:
    return sorted(__all__)
