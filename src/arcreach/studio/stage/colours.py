"""The colours of the page, distinguishable with any colour vision (Okabe and Ito)."""

from __future__ import annotations

Colour = tuple[int, int, int]


def rgb(text: str) -> Colour:
    """Parse `#RRGGBB` into (red, green, blue)."""
    red, green, blue = (int(text[i : i + 2], 16) for i in (1, 3, 5))
    return red, green, blue


# Sections, base first; the colours repeat. Branches use them too.
SECTIONS = tuple(map(rgb, ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#F0E442")))
# Target, path, contact points, slack tendons, obstacles in collision.
VERMILION = rgb("#D55E00")
# Backbone and planar body of a contact plan.
BLUE = rgb("#0072B2")
# Links are pale and joints dark, so that the sections of a mixed chain stand out.
LINK, JOINT = rgb("#DDE1E6"), rgb("#4A4F57")
BASE = rgb("#2E3238")
OBSTACLE = rgb("#9A9AA6")
PORT = rgb("#7A3E9D")
# Positions that the tip reaches in few directions, and in many.
FEW, MANY = rgb("#CFE3F2"), rgb("#0B3C6B")
TENDON, DISC = rgb("#222222"), rgb("#B9BFC7")
# The second robot when two methods are compared; branches are translucent too, in the colours of sections.
GHOST = rgb("#8C8C96")
GHOST_OPACITY, BRANCH_OPACITY = 0.45, 0.25
# Texts that warn or report success, dark enough on white.
WARNING, SUCCESS = "#B34E00", "#00704F"
# Lines of the chart of solves.
ERROR, TIME = "#D55E00", "#0072B2"
# Secondary buttons of a panel.
QUIET = rgb("#E9ECEF")


def of_section(index: int) -> Colour:
    """Return the colour of a section by its index."""
    return SECTIONS[index % len(SECTIONS)]
