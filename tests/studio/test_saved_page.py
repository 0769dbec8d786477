"""The scene as an HTML file."""

from arcreach.studio.stage.target import SAVED
from tests.studio.waiting import settle, until
from tests.studio.wire import client_of


def test_the_file_has_the_name_the_target_and_the_results(studio):
    studio.change(compared="dls")
    settle(studio)
    page = studio.as_html()
    x, y, z = 1e3 * studio.state.request.pose[:3, 3]
    assert "<title>three-section – arcreach studio</title>" in page
    caption = page[page.index('data-arcreach="caption"') :]
    for text in (
        "<b>three-section</b>",
        f"target {x:.1f}, {y:.1f}, {z:.1f} mm",
        "1 obstacle",
        "auto: reached",
        "dls",
        "clearance",
    ):
        assert text in caption
    # The page itself keeps the target with its handles.
    with client_of(studio) as client:
        until(lambda: client.of_type("TransformControlsMessage"))
        assert not any(message.get("name", "").startswith(SAVED) for message in client.messages)
    assert studio.stage.target.handle.visible
