import pytest

import arcreach as ar

pytest.importorskip("matplotlib")

Q = "30deg,0,20deg,90deg"
PULLS = "4mm,0,-4mm,3mm,0,0,12mm,0,-3mm"


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "path.csv"
    file.write_text(",".join(ar.load_robot("two-section").coordinates) + "\n0,0,0,0\n0.3,0,0.2,0\n")
    return file


@pytest.fixture
def scene(tmp_path):
    file = tmp_path / "scene.toml"
    file.write_text('[[obstacles]]\nkind = "sphere"\ncentre = [0.06, 0, 0.06]\nradius = "10 mm"\n')
    return file


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--elastic",), "without --pulls"),
        (("--pulls", PULLS, "--q", "0,0,0,0,0,0", "--q", "0,0,0,0,0,0"), "not 2 times"),
        (("--pulls", "1mm"), "--pulls"),
        (("--pull-error", "0mm"), "a length above 0"),
    ],
)
def test_bad_pulls_are_refused(run, tmp_path, options, words):
    code, _, err = run("figure", "pose", "tendon-driven", "--out", tmp_path / "pose.png", *options)
    assert code != 0
    assert words in " ".join(err.split())
    assert not list(tmp_path.iterdir())


def test_the_list_names_every_figure(run):
    code, out, _ = run("figure", "list")
    assert code == 0
    names = [line.split()[0] for line in out.splitlines()[1:]]
    assert names == [
        "pose", "workspace", "reach", "times", "convergence", "success", "iterations", "links", "contact", "search",
        "clearance",
    ]  # fmt: skip
    for name in names:
        assert run("figure", name, "--help")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "width"),
    [
        (("pose", "two-section", "--q", "0,0,0,0", "--q", Q, "--view=-60deg,20deg"), "88.9"),
        (("pose", "ur5", "--no-frames", "--no-names", "--width", "page"), "181.9"),
        (("pose", "tendon-driven", "--pulls", PULLS, "--elastic", "--pull-error", "0.3mm"), "88.9"),
        (("workspace", "two-section", "--samples", 300), "88.9"),
        (("workspace", "two-section", "three-section", "--samples", 300, "--cell", "5mm"), "181.9"),
        (("reach", "two-section", "--cells", 2, "--directions", 0, "--layer", "z=60mm"), "88.9"),
        (("times", "two-section", "--methods", "auto,fabrikx", "--targets", 3), "88.9"),
        (("convergence", "two-section", "--methods", "fabrikx", "--targets", 2), "88.9"),
        (("success", "two-section", "--methods", "fabrikx", "--targets", 2, "--limits", "30deg,60deg"), "88.9"),
        (
            ("iterations", "librergm3", "--to", "200mm,50mm,1060mm", "--start", "0,0,45deg", "--position-tol", "5mm"),
            "181.9",
        ),
        (
            ("iterations", "ur5", "--to", "0.4,0.1,0.3", "--method", "finite-rotation", "--option", "joint_steps=true"),
            "181.9",
        ),
        (("contact", "wedge", "--no-rod"), "88.9"),
        (("links", "two-section", "--to", "20mm,5mm,80mm"), "181.9"),
        (("search", "pocket", "--rounds", 2), "181.9"),
    ],
)
def test_figures_are_written_in_their_width(run, tmp_path, arguments, width):
    out = tmp_path / "figure.svg"
    code, told, _ = run("figure", *arguments, "--out", out)
    assert code == 0
    assert told.startswith(f"{out}: {width} x ")
    assert out.read_text().startswith("<?xml")


def test_clearance_along_a_path(run, tmp_path, path, scene):
    out = tmp_path / "figure.pdf"
    code, told, _ = run(
        "figure", "clearance", "two-section", "--path", path, "--scene", scene, "--margin", "1mm", "--out", out
    )
    assert code == 0
    assert "88.9 x" in told
    assert out.read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize("figure", ["convergence", "times", "iterations"])
def test_a_method_of_ones_own_is_drawn(run, tmp_path, monkeypatch, figure):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "own_for_figures.py").write_text("def rest(robot, target):\n    return robot.neutral\n")
    own = "own_for_figures:rest"
    options = (
        ("--to", "20mm,10mm,60mm", "--method", own) if figure == "iterations" else ("--methods", f"jacobian,{own}")
    )
    small = () if figure == "iterations" else ("--targets", "3")
    assert run("figure", figure, "two-section", *options, *small, "--out", "a.svg")[0] == 0
    if figure != "iterations":
        assert own in (tmp_path / "a.svg").read_text()


def test_a_pose_outside_the_limits_is_noted(run, tmp_path):
    for q, noted in (("91deg,0,0,0", True), (Q, False)):
        code, _, err = run("figure", "pose", "two-section", "--q", q, "--view=-1,450deg", "--out", tmp_path / "a.svg")
        assert code == 0
        assert ("note: this configuration is outside the robot's limits\n" in err) == noted


def test_a_pose_among_obstacles(run, tmp_path, scene):
    assert run("figure", "pose", "two-section", "--scene", scene, "--out", tmp_path / "pose.png")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("pose", "two-section", "--out", "figure.doc"), "ending is not known; give .pdf, .png, .svg"),
        (("pose", "two-section", "--out", "no/such/folder/figure.svg"), "folder does not exist"),
        (("pose", "two-sektion", "--out", "figure.svg"), "did you mean 'two-section'"),
        (("pose", "two-section", "--view", "10deg", "--out", "figure.svg"), "--view has 1 values"),
        (
            ("pose", "two-section", "--view=-58, 20", "--out", "figure.svg"),
            "--view = -58, 20 is not accepted; give angles with units: -58deg,20deg",
        ),
        (("pose", "two-section", "--q", "1,2", "--out", "figure.svg"), "has 2 values"),
        (("workspace", "two-section", "--cell", "0mm", "--out", "figure.svg"), "above 0"),
        (("workspace", "two-section", "--cell", "inf", "--out", "figure.svg"), "--cell inf is not accepted"),
        (("pose", "two-section", "--pulls", "1mm", "--out", "figure.svg"), "--pulls needs tendons"),
        (("pose", "two-section", "--pull-error", "1mm", "--out", "figure.svg"), "--pull-error needs tendons"),
        (("reach", "two-section", "--layer", "60mm", "--out", "figure.svg"), "give x, y or z and its coordinate"),
        (("reach", "two-section", "--layer", "z=far", "--out", "figure.svg"), "far"),
        (("times", "two-section", "--methods", "newton", "--out", "figure.svg"), "'newton' is not known"),
        (("times", "ur5", "--methods", "fabrikx", "--out", "figure.svg"), "does not accept"),
        (("times", "ur5", "--methods", ",", "--out", "figure.svg"), "methods is empty"),
        (("success", "ur5", "--out", "figure.svg"), "has no section"),
        (("iterations", "ur5", "--to", "1,2", "--out", "figure.svg"), "--to has 2 values"),
        (("contact", "grasp-one", "--out", "figure.svg"), "has no target"),
        (
            ("clearance", "two-section", "--path", "none.csv", "--scene", "clutter-20", "--out", "figure.svg"),
            "none.csv",
        ),
    ],
)
def test_bad_input_is_exit_code_2(run, arguments, words):
    code, out, err = run("figure", *arguments)
    assert code == 2
    assert out == ""
    assert words in err
    assert len(err.strip().splitlines()) == 1


def test_a_robot_without_a_body_is_refused(run):
    pytest.importorskip("sympy")
    code, _, err = run("figure", "pose", "librergm3-matrix", "--out", "figure.svg")
    assert code == 2
    assert "is given as a matrix; this figure needs a chain of elements" in err


def test_a_bad_seed_is_one_line(run, tmp_path):
    code, _, said = run("figure", "workspace", "three-section", "--seed=-1", "--out", tmp_path / "figure.svg")
    assert code == 2
    assert "seed = -1 is not accepted" in said
    assert len(said.splitlines()) == 1


def test_robots_of_one_name_are_all_drawn(run, tmp_path):
    for k, length in enumerate((0.05, 0.1)):
        robot = ar.Robot([ar.Section(length, 1.5)], name="arm")
        ar.save_robot(robot, tmp_path / f"{k}.toml")
    files = tmp_path / "0.toml", tmp_path / "1.toml"
    out = tmp_path / "figure.svg"
    assert run("figure", "workspace", *files, files[0], "--samples", 300, "--cell", "5mm", "--out", out)[0] == 0
    drawn = out.read_text()
    for title in ("0.toml (1)", "1.toml (2)", "0.toml (3)"):
        assert title in drawn
