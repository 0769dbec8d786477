"""Tendons of sections in robot files."""

import tomllib

import jsonschema
import pytest

import arcreach as ar
from arcreach.files.toml.robot_file import json_schema


def load(tmp_path, text):
    (tmp_path / "robot.toml").write_text(text)
    return ar.load_robot(tmp_path / "robot.toml")


TENDONS = """
[[elements]]
kind = "section"
length = "60 mm"
bend_max = "150 deg"
[[elements.tendons]]
radius = "4.5 mm"
angle = "30 deg"
[[elements.tendons]]
radius = "4.5 mm"
angle = "210 deg"
rate = 12
discs = 8
transmits = "both"
pull_max = "15 mm"
name = "rod"
"""


def test_tendons_make_the_round_trip(tmp_path):
    robot = load(tmp_path, TENDONS)
    assert robot.tendons == ("section-1.tendon-1", "section-1.rod")
    assert robot.elements[0].tendons[1].pull_max == pytest.approx(0.015)
    ar.save_robot(robot, tmp_path / "again.toml")
    assert ar.load_robot(tmp_path / "again.toml") == robot
    jsonschema.validate(tomllib.loads(TENDONS), json_schema())


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"210 deg"', "210", ["elements[0]: tendons[1]", "angle = 210.0", "radians"]),
        ("discs = 8", "discs = 2.5", ["elements[0].tendons[1].discs = 2.5"]),
        ("rate = 12", "rat = 12", ["elements[0].tendons[1].rat", "'rate'"]),
        ('radius = "4.5 mm"', 'radius = "-1 mm"', ["elements[0]: tendons[0]", "radius = -0.001"]),
    ],
)
def test_bad_tendons_are_named(old, new, words, tmp_path):
    with pytest.raises(ar.FileError) as error:
        load(tmp_path, TENDONS.replace(old, new))
    assert all(word in str(error.value) for word in words)


def test_every_problem_of_every_tendon_is_listed(tmp_path):
    text = TENDONS.replace('"30 deg"', "30").replace('"210 deg"', '"210 mm"').replace('"15 mm"', '"-1 mm"')
    text += 'trans = "twist"\nslack = 1\npretension = 1\n'
    with pytest.raises(ar.FileError) as error:
        load(tmp_path, text.replace("length", "lenght"))
    found = "\n".join(error.value.problems)
    for words in (
        "elements[0].length is missing",
        "elements[0].lenght",
        "elements[0]: tendons[0]: tendon: angle = 30.0",
        "elements[0].tendons[1].angle = '210 mm'",
        "elements[0].tendons[1].trans = 'twist'",
        "elements[0]: tendons[1]: tendon 'rod': pull_max = -0.001",
        "slack = 1.0",
    ):
        assert words in found
    assert len(error.value.problems) == 7
