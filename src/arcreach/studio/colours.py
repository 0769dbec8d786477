"""The colours of the page, which readers with any colour vision can tell apart (Okabe and Ito)."""

from __future__ import annotations

Colour = tuple[int, int, int]


def rgb(text: str) -> Colour:
    """A colour from six hexadecimal digits after a hash."""
    red, green, blue = (int(text[i : i + 2], 16) for i in (1, 3, 5))
    return red, green, blue


# Bending pieces, base first; more than these begin again.
SECTIONS = tuple(map(rgb, ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#F0E442")))
# What is wanted and what is wrong: target, path, collision.
VERMILION = rgb("#D55E00")
BLUE = rgb("#0072B2")
# Rigid pieces are pale and joints dark, so that the bending pieces of a mixed chain stand out.
LINK, JOINT = rgb("#DDE1E6"), rgb("#4A4F57")
BASE = rgb("#2E3238")
OBSTACLE = rgb("#9A9AA6")
# The compared robot: seen through, and never mistaken for the robot itself.
GHOST = rgb("#8C8C96")
GHOST_OPACITY = 0.45
BRANCH_OPACITY = 0.25


# Buttons beside the main one of a panel.
QUIET = rgb("#E9ECEF")


def of_section(index: int) -> Colour:
    """The colour of the bending piece of that number."""
    return SECTIONS[index % len(SECTIONS)]
