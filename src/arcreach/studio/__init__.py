"""The page in the browser: drag a target and watch the robot follow. Needs the extra `studio`."""

from typing import TYPE_CHECKING

from arcreach._exports import lazy

if TYPE_CHECKING:
    from arcreach.studio.app import Studio as Studio

__getattr__, __dir__ = lazy(__name__, {"app": "Studio"})
