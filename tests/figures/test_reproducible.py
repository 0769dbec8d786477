"""The same figure is the same file, byte for byte: in one process, and in another one."""

import functools
import os
import subprocess
import sys

import numpy as np
import pytest

import arcreach as ar

pytest.importorskip("matplotlib")

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from arcreach import figures

COLUMN = figures.ONE_COLUMN
TWO = ar.load_robot("two-section")
RNG = np.random.default_rng(0)
SECONDS = RNG.lognormal(-11.0, 1.0, 500)
ERRORS = [np.geomspace(1e-2, 1e-7, n) for n in (5, 9, 20)]
REACH = ar.ReachMap(
    TWO,
    np.array([[x, 0.0, z] for x in (0.0, 0.01, 0.02) for z in (0.03, 0.04)]),
    np.eye(3),
    np.eye(6, 3) > 0,
    np.eye(6, 3),
)


class Motion:
    robot = TWO
    q = np.array([[0.0, 0.0, 0.0, 0.0], [0.5, 0.0, 0.5, 0.0]])


def planar(name, **options):
    from arcreach.files import load_planar_scene
    from arcreach.planning.contact.plan import plan_contact

    scene = load_planar_scene(name)
    return plan_contact(scene.robot, scene.target, scene.obstacles, scene.contacts, **options)


def contact():
    return figures.contact({"wedge": planar("wedge")}, rod=False)


def iterations():
    arm = ar.load_robot("librergm3")
    solution = ar.solve(arm, ar.Target((0.2, 0.05, 1.06)), "hierarchical", trace=True, max_iterations=60)
    return figures.iterations(arm, solution)


DRAWN = {
    "pose": lambda: figures.pose(TWO, [0.5, 0.1, 0.7, 2.0]),
    "workspace": lambda: figures.workspace({"": ([[0, 0], [0.001, 0]], [1, 2])}, cell=0.001, label="value"),
    "reach": lambda: figures.reach_map(REACH),
    "times": lambda: figures.solve_times({"auto": (SECONDS, 500), "lm": (2 * SECONDS, 600)}),
    "convergence": lambda: figures.convergence({"": {"auto": figures.error_bands(ERRORS)}}),
    "success": lambda: figures.success({"auto": ([30, 60], [9, 10], [10, 10])}),
    "iterations": iterations,
    "contact": contact,
    "clearance": lambda: figures.clearance(Motion, [ar.Sphere((0.06, 0, 0.06), 0.01)], points=20),
}


@functools.cache
def drawn(name):
    return DRAWN[name]()


@pytest.mark.parametrize("name", DRAWN)
def test_drawn_twice_is_the_same_file(name, tmp_path):
    for k, figure in enumerate((drawn(name), DRAWN[name]())):
        for ending in ("svg", "pdf"):
            figures.save(figure, tmp_path / f"{k}.{ending}")
    for ending in ("svg", "pdf"):
        first, second = ((tmp_path / f"{k}.{ending}").read_bytes() for k in range(2))
        assert len(first) > 2000
        assert first == second


def test_another_process_writes_the_same_bytes(tmp_path):
    code = (
        "import sys, arcreach as ar\n"
        "from arcreach import figures\n"
        "figures.save(figures.pose(ar.load_robot('two-section'), [0.5, 0.1, 0.7, 2.0]), sys.argv[1])\n"
    )
    for ending in ("svg", "pdf"):
        here, there = tmp_path / f"here.{ending}", tmp_path / f"there.{ending}"
        figures.save(drawn("pose"), here)
        # Another seed of hashes: sets and dictionaries come in another order there.
        other = {**os.environ, "PYTHONHASHSEED": "7"}
        subprocess.run([sys.executable, "-c", code, str(there)], check=True, env=other)
        assert here.read_bytes() == there.read_bytes()


def test_vectors_keep_their_letters(tmp_path):
    figures.save(drawn("success"), tmp_path / "figure.svg")
    assert ">reached (%)</text>" in (tmp_path / "figure.svg").read_text()


@pytest.mark.parametrize("name", DRAWN)
def test_letters_are_of_the_size_of_journals_and_none_is_cut_off(name):
    figure = drawn(name)
    sizes = [text.get_fontsize() for text in figure.findobj(Text) if text.get_text().strip() and text.get_visible()]
    assert 6.5 <= min(sizes) <= max(sizes) <= 8.0
    assert np.median(sizes) >= 7.0
    assert nothing_is_cut_off(figure)


def nothing_is_cut_off(figure):
    box = figure.get_tightbbox(FigureCanvasAgg(figure).get_renderer())
    wide, high = figure.get_size_inches()
    return min(box.x0, box.y0, wide - box.x1, high - box.y1) > -0.02


def many_joints():
    arm = ar.Robot([ar.Revolute(), ar.Link((0.1, 0.0, 0.0))] * 30)
    Q = np.linspace(arm.neutral, np.full(30, 0.1), 3)
    return figures.joint_paths({"": ar.follow(arm, arm.tip_pose(Q)[:, :3, 3], start=arm.neutral)}, width=COLUMN)


def links():
    tip = TWO.tip_pose([0.5, 0.1, 0.7, 2.0])
    target = ar.Target(tip[:3, 3], axis=tip[:3, 2])
    return figures.virtual_links(ar.solve(TWO, target, "fabrikc", trace=True), width=COLUMN)


def search():
    return figures.contact_search(planar("pocket", trace=True), width=COLUMN)


def three_scenes():
    return figures.contact({name: planar(name) for name in ("wedge", "slalom", "pocket")}, width=COLUMN)


@pytest.mark.parametrize("draw", [many_joints, links, search, three_scenes], ids=lambda draw: draw.__name__)
def test_nothing_is_cut_off_in_one_column(draw):
    figure = draw()
    assert nothing_is_cut_off(figure)
    assert all(panel.get_position().height * figure.get_figheight() > 0.3 for panel in figure.axes)
