"""One module per method; importing this package registers them all."""

from arcreach.ik.methods import auto as auto
from arcreach.ik.methods import ccd as ccd
from arcreach.ik.methods import chords as chords
from arcreach.ik.methods import fabrikc as fabrikc
from arcreach.ik.methods import fabrikx as fabrikx
from arcreach.ik.methods import finite_rotation as finite_rotation
from arcreach.ik.methods import hierarchical as hierarchical
from arcreach.ik.methods import jacobian as jacobian
from arcreach.ik.methods import jacobian_family as jacobian_family
from arcreach.ik.methods import portfolio as portfolio
from arcreach.ik.methods import single_section as single_section
