"""The page that solves by itself, in a real browser without a network."""

import importlib.util
import re

import numpy as np
import pytest
from tests.studio.browser import CHROMIUM, FLAGS, MISSING

import arcreach as ar

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="needs the extra web"),
    pytest.mark.skipif(CHROMIUM is None, reason=MISSING),
]
# Milliseconds.
PATIENCE = 60_000
ROBOTS = ("three-section", "mixed-sections", "ur5-bending-tool")
# Sub-arcs without length at the end, at the base and in the middle of a section.
KINKED = ar.Robot(
    [
        ar.Section(0.1, 1.5, length_weights=lengths, bend_weights=[1.0] * len(lengths))
        for lengths in ((1.0, 0.0), (0.0, 1.0), (1.0, 0.0, 1.0))
    ],
    "kinked",
)


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    for name in ROBOTS:
        ar.export_html(ar.load_robot(name), folder / f"{name}.html")
    ar.export_html(KINKED, folder / "kinked.html")
    return folder


@pytest.fixture
def visit(browser, pages):
    """Open a page with the network off; it must not ask for anything, and must not fail."""
    contexts, errors, requests = [], [], []

    def opened(name, **options):
        context = browser.new_context(offline=True, **options)
        contexts.append(context)
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto((pages / f"{name}.html").as_uri())
        page.wait_for_function("window.arcreach && document.getElementById('status').textContent")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert errors == []
    assert all(url.startswith("file:") for url in requests)


def position_of(page):
    return page.evaluate("arcreach.state.position")


@pytest.mark.parametrize("name", [*ROBOTS, "kinked"])
def test_the_page_computes_the_tip_that_python_computes(visit, name):
    robot = KINKED if name == "kinked" else ar.load_robot(name)
    page = visit(name)
    for q in robot.sample(20, seed=3):
        tip = page.evaluate("q => arcreach.tip(q)", q.tolist())
        pose = robot.tip_pose(q)
        assert np.allclose(tip["p"], pose[:3, 3], atol=1e-12)
        assert np.allclose(np.reshape(tip["R"], (3, 3)), pose[:3, :3], atol=1e-12)


@pytest.mark.parametrize("name", ROBOTS)
def test_answers_reach_their_targets_by_python_s_forward_kinematics(visit, name):
    robot = ar.load_robot(name)
    page = visit(name)
    poses = robot.tip_pose(robot.sample(200, seed=1))
    for mode in ("position", "axis", "rotation"):
        found = page.evaluate(
            "([T, mode]) => T.map(([p, R]) => arcreach.solve(p, R, mode))",
            [[(T[:3, 3].tolist(), T[:3, :3].ravel().tolist()) for T in poses], mode],
        )
        assert {one["status"] for one in found} == {"reached"}
        q = np.array([one["q"] for one in found])
        assert robot.within_limits(q).all()
        tips = robot.tip_pose(q)
        assert np.linalg.norm(tips[:, :3, 3] - poses[:, :3, 3], axis=1).max() < 2e-5 * robot.reach
        if mode == "rotation":
            assert np.abs(tips[:, :3, :3] - poses[:, :3, :3]).max() < 2e-4


def test_a_dragged_target_is_followed_and_out_of_reach_is_said(visit):
    page = visit("three-section", viewport={"width": 1000, "height": 700})
    before = position_of(page)
    x, y = page.evaluate("arcreach.pixel(arcreach.state.position)")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 40, y + 10, steps=5)
    assert page.inner_text("#status") == "Reached"
    after = position_of(page)
    assert np.linalg.norm(np.subtract(after, before)) > 0.005
    tip = page.evaluate("arcreach.tip(arcreach.state.q).p")
    assert np.allclose(tip, after, atol=2e-6)
    page.mouse.move(x, 5, steps=5)
    page.mouse.move(980, 5, steps=5)
    page.mouse.up()
    assert page.inner_text("#status") == "Out of reach"
    assert re.search(r"Error \d+\.\d mm", page.inner_text("#detail"))


def test_touch_drags_the_target(visit):
    page = visit("three-section", viewport={"width": 390, "height": 720}, has_touch=True, is_mobile=True)
    session = page.context.new_cdp_session(page)
    before = position_of(page)
    x, y = page.evaluate("arcreach.pixel(arcreach.state.position)")
    for kind, points in (("touchStart", [(x, y)]), ("touchMove", [(x - 25, y + 5)]), ("touchEnd", [])):
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": a, "y": b} for a, b in points]})
    assert np.linalg.norm(np.subtract(position_of(page), before)) > 0.003
    assert page.inner_text("#status") == "Reached"


def test_a_slider_moves_the_robot_within_its_limits_and_takes_the_target_along(visit):
    page = visit("mixed-sections")
    robot = ar.load_robot("mixed-sections")
    k = robot.coordinates.index("extensible.bend")
    slider = page.locator("#sliders input").nth(k)
    slider.evaluate("(input) => { input.value = input.max; input.dispatchEvent(new Event('input')); }")
    q = np.array(page.evaluate("arcreach.state.q"))
    assert robot.within_limits(q, tolerance=1e-9)
    assert np.allclose(robot.tip_pose(q)[:3, 3], position_of(page), atol=2e-6)
    # The limit of the bend shrinks with the length.
    length = q[robot.coordinates.index("extensible.length")]
    section = robot.elements[1]
    assert q[k] == pytest.approx(section.bend_max * (length - section.length) / section.stretch, abs=1e-6)


def test_the_solver_is_small(visit):
    assert visit("three-section").evaluate("arcreach.bytes") <= 15_000


def test_a_malformed_number_changes_nothing(visit):
    page = visit("three-section")
    before = position_of(page)
    field = page.locator("#position input").first
    field.fill("")
    field.press("Tab")
    assert position_of(page) == before
    field.fill("30")
    field.press("Tab")
    assert position_of(page)[0] == pytest.approx(0.03)


def test_names_cannot_break_out_of_the_page(browser, tmp_path):
    robot = ar.Robot([ar.Section(0.05, 1.0, name="a")], name="ab")
    object.__setattr__(robot, "name", "</script><script>window.broken = 1</script>")
    ar.export_html(robot, tmp_path / "page.html")
    page = browser.new_context(offline=True).new_page()
    page.goto((tmp_path / "page.html").as_uri())
    assert page.evaluate("window.broken") is None
    assert page.inner_text("h1") == "</script><script>window.broken = 1</script>"


def test_bad_input_is_refused_before_anything_is_compiled(tmp_path):
    robot = ar.load_robot("three-section")
    with pytest.raises(ar.FileError, match="html"):
        ar.export_html(robot, tmp_path / "page.txt")
    with pytest.raises(ar.ConfigurationError):
        ar.export_html(robot, tmp_path / "page.html", q=[0.0, np.nan])
    with pytest.raises(ar.MethodError, match="precision = 'float16' is not accepted; give 'float32' or 'float64'"):
        ar.export_html(robot, tmp_path / "page.html", precision="float16")
    assert list(tmp_path.iterdir()) == []
