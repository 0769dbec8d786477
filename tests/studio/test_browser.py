"""The page in a browser, by mouse and keyboard; the server's state is checked."""

import time

import numpy as np
import pytest

import arcreach as ar
from arcreach.studio.panels.events import notify
from arcreach.studio.stage import colours
from arcreach.studio.stage.cameras import placed
from arcreach.studio.stage.target import GIZMO
from arcreach.studio.state.request import POSITION
from tests.studio.browser import CHROMIUM, FLAGS, MISSING, PATIENCE, Visit
from tests.studio.waiting import settle

# In one worker, so that the browser is started once.
pytestmark = [
    pytest.mark.compiled,
    pytest.mark.skipif(CHROMIUM is None, reason=MISSING),
    pytest.mark.xdist_group("browser"),
]


@pytest.fixture(scope="module")
def browser():
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def visit(browser, page):
    visit = Visit(browser, page)
    yield visit
    visit.close()


def test_drag_the_gizmo(studio, visit):
    visit.draw()
    origin = np.asarray(studio.stage.target.handle.position).copy()
    rotation = studio.stage.target.pose[:3, :3]
    start, end = (visit.pixel(origin + share * GIZMO * rotation[:, 0]) for share in (0.75, 1.1))
    visit.drag(start, end)
    # Positions of the drag arrive after its end on a slow machine: wait for most of it, not for the first.
    visit.wait(lambda: np.linalg.norm(np.asarray(studio.stage.target.handle.position) - origin) > 0.25 * GIZMO)
    visit.draw()
    settle(studio)
    moved = rotation.T @ (np.asarray(studio.stage.target.handle.position) - origin)
    # Along the arrow that was dragged, about as far as the mouse moved.
    assert moved[0] == pytest.approx(0.35 * GIZMO, rel=0.3)
    assert np.allclose(moved[1:], 0.0, atol=1e-6)
    assert np.allclose(studio.state.request.pose, studio.stage.target.pose)
    assert studio.answer.results[0].method == "auto"
    tip = studio.state.request.robot.tip_pose(studio.q)
    assert np.linalg.norm(tip[:3, 3] - studio.state.request.pose[:3, 3]) == pytest.approx(
        studio.answer.results[0].position_error, abs=1e-9
    )


def test_drag_the_target_out_of_reach(studio, visit):
    studio.change(aim=POSITION)
    pose = studio.state.request.pose.copy()
    pose[:3, 3] = (0.0, 0.0, 0.99 * studio.state.request.robot.reach)
    studio.aim_at(pose)
    settle(studio)
    place = np.asarray(studio.stage.target.handle.position).copy()
    # By its ball: upwards on the screen.
    visit.draw()
    ball = visit.pixel(place)
    visit.drag(ball, (ball[0], ball[1] - 40.0))
    visit.wait(lambda: studio.answer.results[0].status.startswith("out of reach, "))
    assert studio.answer.results[0].status.endswith(" mm short")
    visit.page.get_by_text("out of reach, ").wait_for()


def test_a_slider_by_mouse_and_by_keyboard(studio, visit):
    handle = studio.panels.sliders.handles[0]
    track = visit.element(handle)
    box = track.bounding_box()
    middle = box["y"] + 0.5 * box["height"]
    visit.page.mouse.click(
        box["x"] + 0.5 * box["width"], track.locator(".mantine-Slider-track").bounding_box()["y"] + 2
    )
    visit.wait(lambda: abs(np.degrees(studio.q[0]) - 30.0) < 4.0)
    assert middle > 0.0
    settle(studio)
    before = handle.value
    track.locator('[role="slider"]').focus()
    for _ in range(5):
        visit.page.keyboard.press("ArrowRight")
    visit.wait(lambda: handle.value == pytest.approx(before + 0.5))
    settle(studio)
    assert np.degrees(studio.q[0]) == pytest.approx(before + 0.5)
    assert np.allclose(studio.stage.target.pose, studio.state.request.robot.tip_pose(studio.q))


def test_a_pull_by_mouse(studio, visit):
    studio.set_robot(ar.load_robot("tendon-driven"))
    settle(studio)
    visit.open_tab("Tendons")
    track = visit.element(studio.panels.tendons.handles[0]).locator(".mantine-Slider-track")
    box = track.bounding_box()
    visit.page.mouse.click(box["x"] + 0.9 * box["width"], box["y"] + 2)
    visit.wait(lambda: studio.state.request.pulled is not None)
    settle(studio)
    assert studio.panels.tendons.handles[0].value > 5.0
    visit.page.get_by_text("Tensions ").wait_for()
    # The tab of a robot without tendons goes, and another is open in its place.
    studio.set_robot(ar.load_robot("two-section"))
    settle(studio)
    visit.page.get_by_text("Tendons", exact=True).first.wait_for(state="detached")
    visit.open_tab("Pose")
    visit.wait_for_sliders()


def test_an_obstacle_that_is_dragged_into_the_robot_turns_red(studio, visit):
    robot = studio.state.request.robot
    # A pose that was set stays, where a solved one would avoid the obstacle.
    studio.pose(studio.q)
    visit.draw()
    # As far from the camera as the body: a drag in the plane of the screen hits it.
    body = studio.stage.scale * robot.backbone(studio.q, 11)[5]
    camera = np.asarray(visit.client.camera.position)
    aside = np.cross(body - camera, (0.0, 0.0, 1.0))
    aside /= np.linalg.norm(aside)
    beside = body - 0.28 * aside
    studio.set_scene(ar.Scene([ar.Sphere(tuple(beside / studio.stage.scale), 0.08 * robot.reach)]))
    settle(studio)
    assert studio.stage.obstacles.red == frozenset()
    visit.draw()
    visit.drag(visit.pixel(beside), visit.pixel(body))
    visit.wait(lambda: studio.stage.obstacles.red == {0})
    assert tuple(studio.stage.obstacles.handles[0].color) == colours.VERMILION
    visit.page.get_by_text("runs into an obstacle").wait_for()


def test_the_tab_of_obstacles(studio, visit):
    visit.open_tab("Obstacles")
    visit.button("block").click()
    visit.wait(lambda: studio.scene.shape_names[-1] == "block 1")
    settle(studio)
    visit.button("Remove").click()
    visit.wait(lambda: len(studio.scene) == 1)
    assert "block 1" not in studio.scene.shape_names
    visit.open_tab("Pose")


def test_another_method_and_one_to_compare_with(studio, visit):
    visit.choose(studio.panels.method.method, "dls")
    visit.wait(lambda: studio.answer.results[0].method == "dls")
    visit.choose(studio.panels.method.compared, "fabrikc")
    visit.wait(lambda: [result.method for result in studio.answer.results] == ["dls", "fabrikc"])
    table = visit.page.locator('[data-arcreach="results"]')
    table.get_by_text("fabrikc", exact=True).wait_for()
    assert table.get_by_text("dls", exact=True).is_visible()


def test_play_and_pause(studio, visit, instantly):
    robot = studio.state.request.robot
    Q = np.linspace(robot.neutral, studio.q, 400)
    instantly((Q, "2 corners"))
    visit.open_tab("Trajectory")
    visit.button("Plan to the target").click()
    visit.wait(lambda: studio.player.playing and studio.player.frame > 2)
    visit.button("Pause").click()
    visit.wait(lambda: not studio.player.playing)
    frame = studio.player.frame
    assert 0 < frame < 399
    visit.page.wait_for_timeout(300)
    assert studio.player.frame == frame
    visit.wait(lambda: np.array_equal(studio.q, Q[frame]))
    visit.button("Play").click()
    visit.wait(lambda: studio.player.frame > frame)
    visit.button("Pause").click()
    visit.wait(lambda: not studio.player.playing)
    # Scrub by the keyboard.
    visit.element(studio.panels.trajectory.frame).locator('[role="slider"]').focus()
    visit.page.keyboard.press("End")
    visit.wait(lambda: np.array_equal(studio.q, Q[-1]))
    visit.open_tab("Chart")


def test_step_through_a_solve(studio, visit):
    visit.choose(studio.panels.method.method, "dls")
    visit.wait(lambda: studio.answer.results[0].method == "dls")
    visit.page.get_by_text("Tolerances and options").click()
    # viser gives a field for text no id: it is the one beside its label.
    label = visit.page.get_by_text("damping", exact=True)
    label.locator("xpath=ancestor::*[.//input][1]//input").fill("0.5")
    visit.wait(lambda: studio.state.request.tuning.options.get("damping") == "0.5")
    settle(studio)
    visit.page.get_by_text("Tolerances and options").click()
    visit.open_tab("Analysis")
    visit.button("Solve with a trace").click()
    visit.wait(lambda: studio.player.animation is not None)
    (result,) = studio.player.animation.traced
    for button, row in (("Next", 1), ("Next", 2), ("Back", 1)):
        visit.button(button).click()
        visit.wait(lambda row=row: np.array_equal(studio.q, result.trace.q[row]))
    table = visit.page.locator('[data-arcreach="trace"]')
    table.get_by_text(f"1 of {len(result.trace) - 1}").wait_for()
    with visit.page.expect_download() as download:
        visit.button("Save the trace").click()
    assert download.value.suggested_filename == "arcreach-trace-dls.csv"
    visit.open_tab("Chart")


def test_jog_hold_record_and_play(studio, visit):
    robot, tab = studio.state.request.robot, studio.panels.jog

    def height():
        return robot.tip_pose(studio.q)[2, 3]

    # The position alone: with a section held not every axis can be kept.
    studio.change(aim=POSITION)
    settle(studio)
    visit.open_tab("Jog")
    visit.page.get_by_text("Hold", exact=True).click()
    visit.page.get_by_label("section_1.bend").or_(visit.element(tab.boxes[0])).first.click()
    visit.wait(lambda: studio.state.request.held == {0})
    visit.element(tab.entry).or_(visit.page.get_by_label("Entry point")).first.click()
    visit.wait(lambda: studio.state.request.port is not None)
    settle(studio)
    visit.page.get_by_text("Radius mm").wait_for()
    start = studio.q.copy()
    visit.button("Record").click()
    visit.wait(lambda: studio.jogging.recording)
    button = visit.page.get_by_role("button", name="Move Z−")
    before = height()
    button.click()
    # One step; more where a slow machine takes the click for a held button.
    visit.wait(lambda: height() < before - 0.999e-3 * tab.step.value[0])
    visit.wait(lambda: not studio.devices.axes().any())
    settle(studio)
    before = height()
    # Held, it moves on until it is released: slowly, because a loaded machine sees the release late.
    studio.jogging.settings.speed = (0.02, 0.1)
    button.hover()
    visit.page.mouse.down()
    visit.page.locator('[data-arcreach="loop"]').get_by_text(" Hz").wait_for()
    visit.wait(lambda: height() < before - 4e-3 * tab.step.value[0])
    visit.page.mouse.up()
    visit.wait(lambda: not studio.devices.axes().any())
    settle(studio)
    assert not studio.jogging.blocked
    # A key is a step too, a gamepad moves on.
    aside = robot.tip_pose(studio.q)[0, 3]
    visit.page.keyboard.press("KeyJ")
    visit.wait(lambda: robot.tip_pose(studio.q)[0, 3] < aside - 0.9e-3 * tab.step.value[0])
    # A page that was busy between press and release takes them for a step too.
    settle(studio)
    aside = robot.tip_pose(studio.q)[0, 3]
    visit.page.evaluate(BUSY_PRESS)
    visit.wait(lambda: robot.tip_pose(studio.q)[0, 3] > aside + 0.9e-3 * tab.step.value[0])
    settle(studio)
    before = height()
    visit.page.evaluate(GAMEPAD)
    visit.wait(lambda: height() < before - 1e-3 * tab.step.value[0])
    assert studio.devices.pads == ["A gamepad"]
    visit.page.evaluate("navigator.getGamepads = () => []")
    visit.wait(lambda: not studio.devices.axes().any())
    settle(studio)
    # An iteration that began before the release may still move the robot: compare with where it is now.
    visit.wait(lambda: np.array_equal(studio.jogging.recorded[-1], studio.q))
    visit.button("Stop").click()
    visit.wait(lambda: not studio.jogging.recording)
    end = studio.jogging.recorded[-1]
    assert end[0] == start[0]
    assert studio.state.request.port.passage(robot, studio.jogging.recorded).kept.all()
    studio.pose(start)
    settle(studio)
    visit.button("Play").first.click()
    # Not playing is no sign of the end: it holds before the first frame too.
    visit.wait(lambda: studio.player.animation is not None and not studio.player.playing and studio.player.frame > 0)
    assert np.array_equal(studio.q, end)
    with visit.page.expect_download() as download:
        visit.button("Save").click()
    assert download.value.suggested_filename == "arcreach-motion.csv"
    visit.page.get_by_text("Hold", exact=True).click()
    visit.open_tab("Pose")


BUSY_PRESS = """() => {
    const send = type => document.dispatchEvent(new KeyboardEvent(type, {code: "KeyL"}));
    send("keydown");
    for (const end = performance.now() + 300; performance.now() < end;);
    send("keyup");
}"""
# The left trigger of a gamepad of the standard layout, half pressed.
GAMEPAD = """() => {
    const pad = {id: "A gamepad", mapping: "standard", connected: true, axes: [0, 0, 0, 0],
                 buttons: Array.from({length: 17}, (_, i) => ({value: i === 6 ? 0.5 : 0}))};
    navigator.getGamepads = () => [null, pad];
}"""


def test_a_robot_file_is_sent(studio, visit):
    def send(name, content):
        with visit.page.expect_file_chooser() as chooser:
            visit.button("Load a robot file").click()
        chooser.value.set_files({"name": name, "mimeType": "text/plain", "buffer": content})

    good = b'name = "mine"\n[[elements]]\nkind = "section"\nlength = "50 mm"\nbend_max = "90 deg"\n'
    send("mine.toml", good.replace(b"90 deg", b"90 dag"))
    visit.page.get_by_text("elements[0].bend_max = '90 dag' is not accepted").wait_for()
    send("mine.toml", good)
    visit.wait(lambda: studio.state.request.robot.name == "mine")
    settle(studio)
    visit.page.get_by_text("Robot loaded").wait_for()


def test_the_saved_page_opens_without_a_network(studio, visit, browser, tmp_path):
    with visit.page.expect_download() as download:
        visit.button("Save as HTML").click()
    file = tmp_path / "saved.html"
    download.value.save_as(file)
    context = browser.new_context(viewport={"width": 400, "height": 300}, offline=True)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    asked, errors = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(file.as_uri())
    page.locator("canvas").first.wait_for()
    page.get_by_text("three-section").wait_for()
    # The scene fades in; the robot's first section is blue.
    end = time.monotonic() + 30.0
    while blue_pixels(page.screenshot()) < 50 and time.monotonic() < end:
        page.wait_for_timeout(1000)
    drawn = blue_pixels(page.screenshot())
    context.close()
    assert errors == []
    assert all(url.startswith(("file:", "data:", "blob:")) for url in asked)
    assert drawn > 50


def blue_pixels(picture):
    from io import BytesIO

    from PIL import Image

    pixels = np.asarray(Image.open(BytesIO(picture)).convert("RGB")).astype(int)
    return int(((pixels[..., 2] > pixels[..., 0] + 60) & (pixels[..., 2] > 90)).sum())


def test_a_second_client_and_a_reload(studio, visit, browser):
    other = Visit(browser, studio)
    try:
        value = other.element(studio.panels.sliders.handles[4])
        value.locator('[role="slider"]').focus()
        other.page.keyboard.press("Home")
        other.wait(lambda: studio.q[4] == 0.0)
        settle(studio)
        first = visit.element(studio.panels.sliders.handles[4]).locator('[role="slider"]')
        visit.wait(lambda: float(first.get_attribute("aria-valuenow")) == 0.0)
        other.page.reload()
        other.wait_for_sliders()
        again = other.element(studio.panels.sliders.handles[4]).locator('[role="slider"]')
        other.wait(lambda: float(again.get_attribute("aria-valuenow")) == 0.0)
        # After a lost connection the page connects again.
        count = len(studio.server.get_clients())
        studio.server._websock_server.disconnect_all_clients()
        other.wait(lambda: len(studio.server.get_clients()) >= count)
        other.wait_for_sliders()
        again.focus()
        other.page.keyboard.press("End")
        other.wait(lambda: studio.q[4] > 1.0)
        assert other.errors == []
    finally:
        other.close()


def handles_of(studio, visit):
    """Where the ball of the target and the ends of its arrows are on the page."""
    origin, rotation = np.asarray(studio.stage.target.handle.position), studio.stage.target.pose[:3, :3]
    return [visit.pixel(origin), *(visit.pixel(origin + 1.2 * GIZMO * rotation[:, axis]) for axis in range(3))]


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)], ids=["laptop", "phone"])
def test_no_panel_covers_the_handles_of_the_target(studio, browser, width, height):
    phone = width < 576
    other = Visit(browser, studio, viewport={"width": width, "height": height}, sliders=not phone)
    try:
        assert other.page.title() == "arcreach studio"
        other.wait(lambda: np.allclose(other.client.camera.position, fitted(other)[0], atol=1e-3))
        canvas = other.page.locator("canvas").first.bounding_box()
        bottom = height
        if phone:
            sheet = other.page.locator('[style*="max-height: 60%"]').first.bounding_box()
            bottom = sheet["y"]
            assert sheet["width"] == width
            assert 0.5 * height < bottom < 0.6 * height
            assert canvas["height"] == pytest.approx(bottom, abs=2.0)
        for x, y in handles_of(studio, other):
            assert canvas["x"] < x < canvas["x"] + canvas["width"]
            assert 0.0 < y < bottom
        text = "a-name-without-a-space/" * 8
        notify(other.client, "Not accepted", f"{text} is not accepted. " * 3)
        body = other.page.locator(".mantine-Notification-description", has_text="without-a-space")
        body.wait_for()
        # The whole text can be read, by scrolling if it is long.
        assert body.evaluate("element => element.scrollWidth <= element.clientWidth + 1")
        box = other.page.locator(".mantine-Notification-body", has_text="without-a-space")
        assert box.evaluate("element => getComputedStyle(element).overflowY") == "auto"
        assert box.bounding_box()["height"] >= min(body.bounding_box()["height"], 0.6 * height)
        assert other.errors == []
    finally:
        other.close()


def fitted(visit):
    camera = visit.client.camera
    return placed("3D", camera.image_width, camera.image_height)


def test_no_request_left_the_machine_and_no_error_occurred(studio, visit):
    own = (f"http://127.0.0.1:{studio.port}/", f"ws://127.0.0.1:{studio.port}/", "blob:", "data:")
    assert visit.requests
    assert [url for url in visit.requests if not url.startswith(own)] == []
    assert visit.errors == []
