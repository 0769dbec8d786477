"""The page in the browser, which needs the extra `studio`: state, stage, panels and player, joined by `Studio`."""

from typing import TYPE_CHECKING

from arcreach._exports import lazy

if TYPE_CHECKING:
    from arcreach.studio.app import Studio as Studio

__getattr__, __dir__ = lazy(__name__, {"app": "Studio"})
