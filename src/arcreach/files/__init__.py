"""Files: robots, scenes, the catalogues that come with arcreach, URDF, and exports for other programs."""

from typing import TYPE_CHECKING

from arcreach._exports import lazy

if TYPE_CHECKING:
    from arcreach.files.exports.csv_log import write_csv_log as write_csv_log
    from arcreach.files.exports.csv_log import write_csv_path as write_csv_path
    from arcreach.files.exports.openscad import openscad_text as openscad_text
    from arcreach.files.exports.openscad import write_openscad as write_openscad
    from arcreach.files.exports.solid_files import write_solid as write_solid
    from arcreach.files.exports.urdf import urdf_text as urdf_text
    from arcreach.files.exports.urdf import write_urdf as write_urdf
    from arcreach.files.robots import load_robot as load_robot
    from arcreach.files.robots import save_robot as save_robot
    from arcreach.files.scene_catalogue import catalogue_waypoints as catalogue_waypoints
    from arcreach.files.scenes import load_scene as load_scene
    from arcreach.files.scenes import save_scene as save_scene
    from arcreach.files.toml.planar_file import PlanarScene as PlanarScene
    from arcreach.files.toml.planar_file import load_planar_scene as load_planar_scene
    from arcreach.files.toml.planar_file import planar_catalogue as planar_catalogue
    from arcreach.files.toml.robot_file import json_schema as json_schema

__getattr__, __dir__ = lazy(
    __name__,
    {
        "exports.csv_log": "write_csv_log write_csv_path",
        "exports.openscad": "openscad_text write_openscad",
        "exports.solid_files": "write_solid",
        "exports.urdf": "urdf_text write_urdf",
        "robots": "load_robot save_robot",
        "scene_catalogue": "catalogue_waypoints",
        "scenes": "load_scene save_scene",
        "toml.planar_file": "PlanarScene load_planar_scene planar_catalogue",
        "toml.robot_file": "json_schema",
    },
)
