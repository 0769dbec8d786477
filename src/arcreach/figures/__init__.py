"""Figures for papers and reports: one function per figure, each returning a matplotlib `Figure`.

They need the extra `figures`. Nothing is drawn on a screen and no state is shared: save a figure with `save`, or show
it in a notebook.
"""

from arcreach.figures._style import save as save
from arcreach.figures.contact import contact as contact
from arcreach.figures.contact import contact_motion as contact_motion
from arcreach.figures.grasp import grasp as grasp
from arcreach.figures.iterations import iterations as iterations
from arcreach.figures.joint_paths import joint_paths as joint_paths
from arcreach.figures.scene import scene as scene
