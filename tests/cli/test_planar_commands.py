import json

import pytest


def test_contact_prints_the_paths_and_the_rod(run):
    code, out, _ = run("contact", "wedge")
    assert code == 0
    assert out.startswith("1 solution; every possibility tried")
    assert "forward-blocking" in out
    assert "elastic rod: tip" in out
    assert "repaired: tip below 1 nm from the target" in out


@pytest.mark.compiled
def test_contact_as_json_and_its_options(run, tmp_path):
    code, out, _ = run("contact", "slalom", "--json")
    given = json.loads(out)
    assert code == 0
    assert len(given["solutions"]) == 2
    assert given["solutions"][0]["rod"]["tip_deviation"] > 0.01
    _, out, _ = run("contact", "slalom", "--auto", "--solutions", 5, "--json")
    assert len(json.loads(out)["solutions"]) >= 2
    _, out, _ = run("contact", "slalom", "--no-rule", "--json")
    assert len(json.loads(out)["solutions"]) > 2
    pytest.importorskip("matplotlib")
    figure = tmp_path / "slalom.png"
    run("contact", "slalom", "--figure", figure)
    assert figure.stat().st_size > 10_000


def test_no_path_is_exit_code_1(run):
    code, out, _ = run("contact", "wedge", "--contacts", 0)
    assert code == 1
    assert out.startswith("0 solutions; search ended by its limits")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("contact", "slalon"), "did you mean 'slalom'"),
        (("contact", "slalom", "--to", "1m,2m"), "at most 0.45 m long"),
        (("contact", "slalom", "--to", "1m"), "--to has 1 values"),
        (("contact", "grasp-one"), "has no target"),
        (("contact", "slalom", "--figure", "way.doc"), "ending is not known"),
        (("contact", "slalom", "--figure", "no/such/folder/way.png"), "folder does not exist"),
        (("grasp", "slalom"), "has no object"),
        (("grasp", "grasp-one", "--wrap", "90deg"), "wrap = 1.57"),
        (("grasp", "grasp-one", "--wrap", "2 mm"), "unknown unit"),
    ],
)
def test_bad_input_is_exit_code_2(run, arguments, words):
    pytest.importorskip("matplotlib")
    code, out, err = run(*arguments)
    assert code == 2
    assert out == ""
    assert words in err
    assert len(err.strip().splitlines()) == 1


def test_grasp(run, tmp_path):
    pytest.importorskip("shapely")
    code, out, _ = run("grasp", "grasp-two", "--wrap", "220deg", "--json")
    assert code == 0
    plans = json.loads(out)["grasps"]
    assert len(plans) == 2
    assert len(plans[0]["q"][-1]) == 6
    code, out, _ = run("grasp", "grasp-one")
    assert code == 0
    assert out.startswith("2 grasps")
    code, out, _ = run("grasp", "grasp-two", "--wrap", "349deg")
    assert code == 1
    assert "not possible" in out
    pytest.importorskip("matplotlib")
    figure = tmp_path / "grasp.png"
    _, _, err = run("grasp", "grasp-two", "--wrap", "349deg", "--figure", figure)
    assert err == f"note: {figure} is not written, because no grasp is possible\n"
    run("grasp", "grasp-one", "--figure", figure)
    assert figure.stat().st_size > 10_000
