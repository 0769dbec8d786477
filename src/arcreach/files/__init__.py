"""Files: robots, scenes, the catalogues that come with arcreach, URDF, and exports for other programs."""

from typing import TYPE_CHECKING

from arcreach._exports import lazy

if TYPE_CHECKING:
    from arcreach.files.catalogues import catalogue as catalogue
    from arcreach.files.catalogues import catalogue_robot as catalogue_robot
    from arcreach.files.catalogues import catalogue_scene as catalogue_scene
    from arcreach.files.catalogues import catalogue_waypoints as catalogue_waypoints
    from arcreach.files.catalogues import planar_catalogue as planar_catalogue
    from arcreach.files.catalogues import scene_catalogue as scene_catalogue
    from arcreach.files.exports.csv_log import CsvLog as CsvLog
    from arcreach.files.exports.csv_log import write_csv_log as write_csv_log
    from arcreach.files.exports.csv_log import write_csv_path as write_csv_path
    from arcreach.files.exports.openscad import openscad_text as openscad_text
    from arcreach.files.exports.openscad import write_openscad as write_openscad
    from arcreach.files.exports.solid_files import write_solid as write_solid
    from arcreach.files.exports.urdf import urdf_text as urdf_text
    from arcreach.files.exports.urdf import write_urdf as write_urdf
    from arcreach.files.load import load_chain as load_chain
    from arcreach.files.load import load_planar_scene as load_planar_scene
    from arcreach.files.load import load_robot as load_robot
    from arcreach.files.load import load_scene as load_scene
    from arcreach.files.load import save_robot as save_robot
    from arcreach.files.load import save_scene as save_scene
    from arcreach.files.toml.planar_file import PlanarScene as PlanarScene
    from arcreach.files.toml.robot_file import json_schema as json_schema

__getattr__, __dir__ = lazy(
    __name__,
    {
        "catalogues": "catalogue catalogue_robot catalogue_scene catalogue_waypoints planar_catalogue scene_catalogue",
        "exports.csv_log": "CsvLog write_csv_log write_csv_path",
        "exports.openscad": "openscad_text write_openscad",
        "exports.solid_files": "write_solid",
        "exports.urdf": "urdf_text write_urdf",
        "load": "load_chain load_planar_scene load_robot load_scene save_robot save_scene",
        "toml.planar_file": "PlanarScene",
        "toml.robot_file": "json_schema",
    },
)
