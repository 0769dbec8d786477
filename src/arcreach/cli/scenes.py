"""The options that name obstacles, for every command that takes them."""

from __future__ import annotations

from typing import Annotated

import typer

from arcreach.errors import MethodError
from arcreach.files.scenes import load_scene
from arcreach.scenes.scene import Scene

SCENE_HELP = "Obstacles: a name of the catalogue, a .toml file, or a mesh such as .stl."
SceneScale = Annotated[
    float | None, typer.Option("--scale", help="Metres per unit of a mesh given as --scene: 0.001 for millimetres.")
]


def read_scene(scene: str | None, scale: float | None) -> Scene | None:
    """The obstacles of the options, if there are any."""
    if scene is None:
        if scale is not None:
            raise MethodError("--scale has no meaning without --scene; leave it out")
        return None
    return load_scene(scene, scale)
