"""Take the pictures docs/images/studio-*.png, one for each function of PICTURES.

Needs the extras studio and plan, playwright and chromium. Names of pictures as arguments make only those.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import arcreach as ar
from arcreach.robots.initial import initial_pose
from arcreach.studio import Studio
from arcreach.studio.state.request import POSE, POSITION, Tuning

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.studio.browser import CHROMIUM, FLAGS, MISSING, Visit

IMAGES = Path(__file__).parents[1] / "images"
VIEWPORT = {"width": 1440, "height": 820}


def wander(visit: Visit, moving: int = 90) -> None:
    """Drag the target around and back, so that the chart has points."""
    studio = visit.studio
    home, reach = studio.state.request.pose, studio.state.request.robot.reach
    for i in range(1, moving + 1):
        pose = home.copy()
        # Now and then a little out of reach, so that the chart shows errors.
        out = 0.05 * max(0.0, np.sin(0.21 * i)) ** 2
        pose[:3, 3] += reach * (np.array([-0.05, 0.04, -0.05]) * np.sin(0.07 * i) + out * home[:3, 2])
        studio.aim_at(home if i == moving else pose)
        visit.wait(lambda: studio.state.settled)


def aim(visit: Visit, q: list[float], **fields: Any) -> None:
    """Move the target to the tip of a configuration, and wait for the answer."""
    studio = visit.studio
    robot = studio.state.request.robot
    pose = robot.tip_pose(robot.clip(np.array(q)))
    studio.stage.target.pose = pose
    studio.change(pose=pose, **fields)
    visit.wait(lambda: studio.state.settled)
    visit.page.wait_for_timeout(500)


def first(visit: Visit) -> None:
    wander(visit)


def compare(visit: Visit) -> None:
    studio = visit.studio
    robot = studio.state.request.robot
    # From a pose that is bent the other way, so that both methods move far.
    q = robot.clip(np.array([0.9, 0.4, 0.1, 0.4, 0.9, 0.9]))
    tip = robot.tip_pose(q)
    first = ar.solve(robot, ar.Target(tip[:3, 3]), "dls", start=robot.clip(np.array([0.2, 0.4, 1.0, 0.4, 0.2, 0.9])))
    place = robot.backbone(first.q, 21)[9] + robot.reach * np.array([-0.03, 0.0, 0.1])
    studio.set_scene(ar.Scene([ar.Sphere(tuple(place), 0.1 * robot.reach, name="ball 1")]))
    studio.pose(robot.clip(np.array([0.2, 0.4, 1.0, 0.4, 0.2, 0.9])))
    visit.wait(lambda: studio.state.settled)
    studio.panels.target.aim.value = POSITION
    studio.set_aim(POSITION)
    studio.panels.method.method.value, studio.panels.method.compared.value = "auto", "dls"
    aim(visit, q.tolist(), method="auto", compared="dls")


def plan(visit: Visit) -> None:
    studio = visit.studio
    robot = studio.state.request.robot
    reach = robot.reach
    # Beside, above and behind the straight path over the top.
    shapes = [
        ar.Sphere((0.03 * reach, 0.02 * reach, 0.93 * reach), 0.09 * reach, name="ball 1"),
        ar.Sphere((0.3 * reach, 0.38 * reach, 0.83 * reach), 0.08 * reach, name="ball 2"),
        ar.Box((0.13 * reach,) * 3, (0.5 * reach, 0.1 * reach, 0.14 * reach), name="block 1"),
        ar.Capsule((-0.2 * reach, 0.36 * reach, 0.0), (-0.2 * reach, 0.36 * reach, 0.6 * reach), 0.035 * reach),
    ]
    studio.set_scene(ar.Scene(shapes))
    camera = visit.client.camera
    camera.position, camera.look_at = (2.2, -1.75, 1.15), (0.08, 0.08, 0.44)
    studio.pose(robot.clip(np.array([0.7, -2.5, 0.6, -2.3, 0.4, -2.1])))
    visit.wait(lambda: studio.state.settled)
    studio.jobs.mark_start()
    aim(visit, [0.8, 0.5, 0.8, 0.8, 0.5, 1.1])
    visit.open_tab("Trajectory")
    visit.button("Plan to the target").click()
    visit.wait(lambda: studio.player.playing)
    studio.player.seek(int(0.5 * len(studio.player.animation)))
    visit.wait(lambda: studio.state.settled)


def arm_tool(visit: Visit) -> None:
    studio = visit.studio
    studio.set_robot(ar.load_robot("ur5-bending-tool"))
    visit.wait(lambda: studio.state.settled)
    robot = studio.state.request.robot
    # The tool bends upwards: the direction with the highest tip.
    arm = initial_pose(ar.load_robot("ur5"))
    bent = [np.array([*arm, *(0.55, turn) * 3]) for turn in np.linspace(-np.pi, np.pi, 24)]
    q = max(bent, key=lambda q: robot.tip_pose(q)[2, 3])
    middle = robot.backbone(q, 101)[97]
    studio.set_scene(ar.Scene([ar.Sphere(tuple(np.add(middle, (0.04, 0.07, -0.09))), 0.05, name="ball 1")]))
    studio.pose(q)
    visit.wait(lambda: studio.state.settled)
    studio.change(method="auto")
    visit.wait(lambda: studio.state.settled)
    wander(visit, 60)
    camera = visit.client.camera
    camera.position, camera.look_at = (1.1, -0.75, 0.7), (0.27, 0.17, 0.36)


def tendons(visit: Visit) -> None:
    studio = visit.studio
    studio.set_robot(ar.load_robot("tendon-driven"))
    visit.wait(lambda: studio.state.settled)
    studio.set_scene(ar.Scene([]))
    visit.open_tab("Tendons")
    studio.pull(1e-3 * np.array([-8, 2, 3, 3, 0, 0, 10, 0, -3]))
    visit.wait(lambda: studio.state.settled)
    studio.panels.tendons.uncertainty.value = True
    studio.set_pull_error(1e-3)
    camera = visit.client.camera
    camera.position, camera.look_at = (1.5, -0.95, 1.0), (0.05, 0.2, 0.42)


def analysis(visit: Visit) -> None:
    studio = visit.studio
    studio.set_robot(ar.load_robot("ur5"))
    studio.panels.target.aim.value = POSE
    studio.set_aim(POSE)
    visit.wait(lambda: studio.state.settled)
    studio.panels.method.method.value = "finite-rotation"
    studio.change(method="finite-rotation", tuning=Tuning(1e-4, 1e-3))
    visit.wait(lambda: studio.state.settled)
    visit.page.get_by_text("Tolerances and options").click()
    visit.open_tab("Analysis")
    visit.button("Solve with a trace").click()
    visit.page.locator('[data-arcreach="trace"]').wait_for()
    studio.player.seek(9)
    visit.wait(lambda: studio.state.settled)


def jog(visit: Visit) -> None:
    studio = visit.studio
    studio.set_robot(ar.load_robot("ur5-bending-tool"))
    visit.wait(lambda: studio.state.settled)
    visit.open_tab("Jog")
    visit.page.get_by_text("Hold", exact=True).click()
    # Where the tool begins, the arm turns about the entry point.
    point = studio.state.request.robot.backbone(studio.q, 101)[95]
    studio.change(aim=POSITION, held=frozenset({0}), port=ar.Port(tuple(point), radius=0.01))
    studio.panels.show_request(studio.state.request)
    visit.wait(lambda: studio.state.settled)
    # Slowly, so that it still moves when the picture is taken.
    studio.jogging.settings.speed = (0.01, 0.5)
    studio.panels.jog.speed.value = (10.0, 28.6)
    visit.button("Record").click()
    visit.page.get_by_role("button", name="Move Z−").hover()
    visit.page.mouse.down()
    visit.page.wait_for_timeout(1500)


PICTURES: dict[str, Callable[[Visit], None]] = {
    "first": first,
    "compare": compare,
    "plan": plan,
    "arm-tool": arm_tool,
    "tendons": tendons,
    "analysis": analysis,
    "jog": jog,
}


def photograph(browser: Any, name: str) -> None:
    """Take one picture, of a new studio."""
    from PIL import Image

    with Studio(port=0) as studio:
        visit = Visit(browser, studio, viewport=VIEWPORT)
        visit.wait(lambda: studio.state.settled)
        PICTURES[name](visit)
        if name != "jog":
            # There the mouse holds a button.
            visit.page.mouse.move(720, 780)
            visit.page.wait_for_timeout(2500)
        picture = Image.open(io.BytesIO(visit.page.screenshot())).convert("RGB")
        visit.close()
    picture.save(IMAGES / f"studio-{name}.png", optimize=True)


def main() -> None:
    from playwright.sync_api import sync_playwright

    if CHROMIUM is None:
        sys.exit(MISSING)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        for name in sys.argv[1:] or PICTURES:
            photograph(browser, name)
        browser.close()


if __name__ == "__main__":
    main()
