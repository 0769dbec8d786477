import re
from pathlib import Path

import numpy as np
import pytest

import arcreach as ar

REFERENCES = Path(__file__).parents[2] / "docs" / "references.md"


def test_what_must_be_there():
    expected = {
        "two-section",
        "three-section",
        "five-section",
        "ten-section",
        "fixed-sections",
        "extensible-sections",
        "telescopic-sections",
        "mixed-sections",
        "librergm3",
        "librergm3-matrix",
        "puma-560",
        "ur5",
        "iiwa-14",
        "panda",
        "inserted-three-section",
        "tendon-driven",
        "era-like",
        "arm-8r",
        "rail-iiwa-14",
        "ur5-bending-tool",
        *(f"variable-curvature-{k}" for k in range(1, 7)),
    }
    assert set(ar.catalogue()) == expected


@pytest.mark.parametrize("name", ar.catalogue())
def test_every_robot_says_where_its_numbers_come_from(name):
    robot = ar.load_robot(name)
    assert robot.name == name
    keys = re.findall(r"\[([^\]]+)\]", robot.source)
    assert keys or robot.source.startswith("ours")
    for key in keys:
        assert f"[{key}]" in REFERENCES.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ar.catalogue())
def test_sources_say_which_numbers_are_ours(name):
    robot = ar.load_robot(name)
    if any(getattr(element, "radius", 0.0) for element in robot.elements) or name.startswith("librergm3"):
        assert "ours" in robot.source


@pytest.mark.parametrize("name", ar.catalogue())
def test_every_robot_moves_within_its_limits(name):
    robot = ar.load_robot(name)
    Q = robot.sample(20, seed=0)
    assert robot.within_limits(Q).all()
    assert np.isfinite(robot.tip_pose(Q)).all()


def test_table_3_2():
    for name, count, length, bend in (
        ("two-section", 2, 0.05, 90), ("three-section", 3, 0.0333, 60), ("five-section", 5, 0.02, 36),
        ("ten-section", 10, 0.01, 18),
    ):  # fmt: skip
        robot = ar.load_robot(name)
        assert len(robot.elements) == count
        for section in robot.elements:
            assert section.length == length
            assert section.bend_max == pytest.approx(np.radians(bend), abs=1e-15)


def test_table_3_10_robot_6():
    robot = ar.load_robot("variable-curvature-6")
    assert [section.length_weights for section in robot.elements][:2] == [(20, 40, 10), (10, 20, 40)]
    assert robot.elements[6].bend_weights == (3, 0.001, 1)
    assert robot.reach == pytest.approx(0.49, abs=1e-15)
