"""Figures for papers and reports: one function per figure, each returning a matplotlib `Figure`.

These functions need the extra `figures`. They open no window and keep no global state: write a figure with `save`, or
show it in a notebook. `width` is in millimetres, or "column" or "page": 3.5 or 7.16 inches.
"""

from arcreach.figures.calibration import calibration
from arcreach.figures.clearance import clearance
from arcreach.figures.contact import contact, contact_motion, contact_search, grasp
from arcreach.figures.convergence import convergence, error_bands
from arcreach.figures.drawing.theme import ONE_COLUMN, TWO_COLUMNS, save
from arcreach.figures.iterations import iterations, joint_steps
from arcreach.figures.joint_paths import joint_paths
from arcreach.figures.measure import measure_convergence, measure_success, measure_times
from arcreach.figures.pose import pose
from arcreach.figures.reach_map import reach_map
from arcreach.figures.scene import scene
from arcreach.figures.sections import chord_angle, section_bodies
from arcreach.figures.success import success
from arcreach.figures.times import solve_times, time_distributions
from arcreach.figures.virtual_links import virtual_links
from arcreach.figures.workspace import tip_directions, workspace, workspace_cells

__all__ = [
    "ONE_COLUMN",
    "TWO_COLUMNS",
    "calibration",
    "chord_angle",
    "clearance",
    "contact",
    "contact_motion",
    "contact_search",
    "convergence",
    "error_bands",
    "grasp",
    "iterations",
    "joint_paths",
    "joint_steps",
    "measure_convergence",
    "measure_success",
    "measure_times",
    "pose",
    "reach_map",
    "save",
    "scene",
    "section_bodies",
    "solve_times",
    "success",
    "time_distributions",
    "tip_directions",
    "virtual_links",
    "workspace",
    "workspace_cells",
]


def __dir__() -> list[str]:
    return sorted(__all__)
