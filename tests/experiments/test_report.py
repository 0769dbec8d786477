"""Reports: numbers from rows alone, one page that needs nothing else; and what experiments declare."""

import math
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import arcreach as ar
from arcreach.errors import FileError, MethodError
from arcreach.experiments import NAMES, find_experiment, run_experiment
from arcreach.experiments.comparison import Comparison, serves
from arcreach.experiments.experiment import Block, Settings
from arcreach.experiments.judge import AXIS, POSITION, ROTATION, errors, verdict
from arcreach.experiments.published import table
from arcreach.experiments.records import Run
from arcreach.experiments.report import write_report
from arcreach.experiments.statistics import Summary, time_text, wilson
from arcreach.experiments.verdicts import agrees, difference
from arcreach.ik.solution import Status

pytest.importorskip("matplotlib")


class Page(HTMLParser):
    """What a page refers to, and whether its tags close."""

    VOID = ("meta", "img", "br")

    def __init__(self):
        super().__init__()
        self.links, self.ids, self.open = [], [], []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.links += [given[name] for name in ("src", "href", "xlink:href") if name in given]
        self.ids += [given["id"]] if "id" in given else []
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def check_page(folder, figures):
    page = Page()
    text = (folder / "report.html").read_text("utf-8")
    page.feed(text)
    assert page.open == []
    assert all(link.startswith(("#", "data:")) for link in page.links)
    assert len(page.ids) == len(set(page.ids))
    assert text.count("<figure>") == figures
    markdown = (folder / "report.md").read_text("utf-8")
    shown = re.findall(r"\(figures/([^)]+)\)", markdown)
    assert len(shown) == figures
    assert all((folder / "figures" / name).stat().st_size > 1000 for name in shown)
    return markdown


@pytest.mark.compiled
def test_hierarchical_prints_table_5_to_every_digit(tmp_path):
    run_experiment("hierarchical", find_experiment("hierarchical").settings(), tmp_path, threads=1)
    write_report(tmp_path, tmp_path)
    markdown = check_page(tmp_path, 3)
    assert "60 of 60 numbers agree" in markdown
    for row in table("rgm3-table-5"):
        assert f"| {row['q1_mm']} |" in markdown


def test_one_section_is_reported_beside_the_print(tmp_path):
    settings = find_experiment("single-section").settings(3, 0, ("newton", "iterative"))
    run_experiment("single-section", settings, tmp_path / "one", threads=1)
    run = Run(tmp_path / "one")
    assert [one.count for one in run.summaries] == [3] * 18
    write_report(tmp_path, tmp_path / "out")
    markdown = check_page(tmp_path / "out", 3)
    theirs = {
        (row["section"], row["subsections"]): row
        for row in table("table-3.1-single-section")
        if row["method"] == "iterative"
    }
    for one in run.summaries:
        if one.method == "iterative":
            kind, arcs = re.match(r"(\w+), (\d) arcs", one.case).groups()
            line = next(line for line in markdown.splitlines() if line.startswith(f"| {one.case} | iterative"))
            assert f"| {float(theirs[kind, arcs]['success_percent']):g} |" in line
            assert f"| {one.share_text} |" in line


def test_a_section_is_drawn_anew_every_500_targets():
    experiment = find_experiment("single-section")
    settings = experiment.settings()
    case = experiment.cases(settings)[3]
    pieces = list(experiment.targets(case, settings, 400, 700))
    assert [len(poses) for _, poses, _ in pieces] == [100, 500, 100]
    assert len({robot for robot, _, _ in pieces}) == 3
    again = np.concatenate([poses for _, poses, _ in experiment.targets(case, settings, 0, 1100)])[400:]
    assert np.array_equal(np.concatenate([poses for _, poses, _ in pieces]), again)


def test_figures_of_made_up_rows(tmp_path, monkeypatch):
    """Every kind of figure and table, without a solver: drawing is what is tested."""
    from arcreach.experiments import comparison, convergence

    rng = np.random.default_rng(0)

    def made_up(robot, case, call, poses, starts, device):
        n = len(poses)
        reached = rng.random(n) < 0.7
        return {
            "status": np.where(reached, "REACHED", "STALLED"), "reached": reached, "position_error": rng.random(n),
            "angle_error": rng.random(n), "iterations": rng.integers(1, 99, n), "seconds": rng.random(n) * 1e-4,
        }  # fmt: skip

    monkeypatch.setattr(comparison, "CHUNK", 5)
    monkeypatch.setattr(comparison, "_solve", made_up)
    monkeypatch.setattr(convergence, "_errors", lambda *_: np.geomspace(1e-2, 1e-6, rng.integers(1, 50)))
    robot = ar.Robot([ar.Section(0.1, 1.0)] * 2, name="mine")
    for name, given in (("tangents-chords", None), ("compare", robot)):
        settings = find_experiment(name).settings(2, 0, (), given)
        run_experiment(name, settings, tmp_path / name, threads=2)
    write_report(tmp_path, tmp_path / "out")
    text = check_page(tmp_path / "out", 3 + 2 + 2)
    assert "nan" not in text
    runs = [Run(tmp_path / name) for name in ("tangents-chords", "compare")]
    for run in runs:
        for one in run.overall:
            assert f"| {one.method} | {one.count} | {one.share_text} |" in text


@pytest.mark.compiled
def test_several_runs_make_one_page(tmp_path):
    chosen = {
        "scaling": (12, ("auto", "fabrikx")),
        "tangents-chords": (6, ("auto", "fabrikc")),
        "contact": (1, ("given contacts",)),
        "finite-rotation": (3, ("auto", "corrected")),
        "compare": (5, ("auto", "lm", "dls", "sdls", "svd-dls", "jacobian", "fabrikc")),
    }
    for name, (targets, methods) in chosen.items():
        settings = find_experiment(name).settings(targets, 0, methods)
        run_experiment(name, settings, tmp_path / name, threads=2)
    files = write_report(tmp_path, tmp_path / "out")
    assert [path.name for path in files] == ["report.md", "report.html"]
    text = files[0].read_text("utf-8")
    check_page(tmp_path / "out", len(re.findall(r"\(figures/", text)))
    assert "nan" not in text
    places = [text.index(f"## {find_experiment(name).title}") for name in chosen]
    assert places == sorted(places)
    # A row of the summary for every printed table, and one for a source that prints figures alone.
    summary_lines = text[: text.index("## The runs")].splitlines()
    for name in ("[K22] table 3.3", "[K22] table 3.4", "[K22] table 3.12"):
        assert sum(line.startswith(f"| {name} |") for line in summary_lines) == 1
    figures = next(line for line in summary_lines if line.startswith("| [K22a] figs. 5 to 7"))
    assert "| 0 | – |" in figures


def test_the_workspace_is_counted_cell_by_cell(tmp_path, monkeypatch):
    from arcreach.experiments import workspace

    def all_but_one(arm, block, hits, settings):
        n = block.count
        hit = np.isfinite(hits[block.first : block.first + n, 0])
        if hit.any():
            hit[np.flatnonzero(hit)[0]] = False
        return {
            "status": np.where(hit, "REACHED", "STALLED"), "reached": hit, "position_error": np.zeros(n),
            "angle_error": np.zeros(n), "iterations": np.ones(n, np.int64), "seconds": np.full(n, 1e-6),
            "asked": np.ones(n, np.int64), "found_by": np.where(hit, "five points", ""), "nearest": np.full(n, 2e-4),
        }  # fmt: skip

    monkeypatch.setattr(workspace, "_by_solver", all_but_one)
    settings = workspace.EXPERIMENT.settings(3000, 0, ("monte-carlo", "auto"))
    run_experiment("workspace", settings, tmp_path, threads=1)
    write_report(tmp_path, tmp_path)
    markdown = check_page(tmp_path, 2)
    rows = Run(tmp_path).frame
    for sections in (2, 3, 5, 10):
        own = rows.filter(rows["case"] == f"{sections} sections")
        hit = {name: set(own.filter((own["method"] == name) & own["reached"])["target"]) for name in settings.methods}
        both, only = len(hit["auto"] & hit["monte-carlo"]), len(hit["monte-carlo"] - hit["auto"])
        assert only > 0
        assert f"| {sections} sections | auto | {both} | 0 | {only} | {only} | {only} |" in markdown
        assert markdown.count(f"| {sections} sections | ") == 2 + only
    assert markdown.count("| 200.0 µm | nothing |") == sum(
        markdown.count(f"| {sections} sections | ") - 2 for sections in (2, 3, 5, 10)
    )


@pytest.mark.compiled
def test_mixed_sections_are_540_cases():
    experiment = find_experiment("mixed-sections")
    settings = experiment.settings(2, 0, ("auto",))
    blocks = experiment.blocks(settings)
    assert len(blocks) == 540
    assert sum(block.count for block in experiment.blocks(experiment.settings("full", 0, ("auto",)))) == 5_400_000
    rows = experiment.rows(blocks[-1], settings)
    assert rows["reached"].all()


def test_every_printed_number_has_a_place():
    for name in NAMES:
        experiment = find_experiment(name)
        if isinstance(experiment, Comparison):
            settings = experiment.settings()
            cases = {case.name for case in experiment.cases(settings)} | {""}
            for one in experiment.printed():
                assert one.case in cases
                assert one.method in experiment.method_labels(settings)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "workspace"])
def test_blocks_name_every_target_once(name):
    experiment = find_experiment(name)
    blocks = experiment.blocks(experiment.settings())
    rows = {}
    for block in blocks:
        rows.setdefault((block.case, block.method), []).extend(range(block.first, block.first + block.count))
    assert all(found == list(range(len(found))) for found in rows.values())
    assert len({block.stem for block in blocks}) == len(blocks)


# Values of the formula as printed in its tables, for example by R's binom package.
@pytest.mark.parametrize(
    ("reached", "count", "low", "high"),
    [
        (0, 10, 0.0, 0.27753),
        (8, 10, 0.49016, 0.94332),
        (10, 10, 0.72247, 1.0),
        (50, 100, 0.40383, 0.59617),
        (0, 0, 0, 1),
    ],
)
def test_wilson(reached, count, low, high):
    assert wilson(reached, count) == pytest.approx((low, high), abs=1e-5)


def test_agreement_is_within_the_interval_and_the_printed_digits():
    from arcreach.experiments.experiment import Printed

    ours = Summary("a", "m", 1000, 900, 0, 1.0, 1.0, 1.0, 1.0, 1.0)
    low, high = (100.0 * end for end in ours.interval)
    assert agrees(ours, Printed("a", "m", high + 0.04))
    assert agrees(ours, Printed("a", "m", low))
    assert not agrees(ours, Printed("a", "m", high + 0.1))
    assert not agrees(ours, Printed("a", "m"))
    assert difference(ours, Printed("a", "m", 88.0)) == pytest.approx(2.0)
    assert difference(ours, Printed("a", "m")) is None


def summary(case, method, reached, count=1000, iterations=10.0):
    return Summary(case, method, count, reached, 0, 2e-6, 1e-6, 3e-6, iterations, iterations)


def test_a_verdict_on_every_printed_number():
    from arcreach.experiments.experiment import Printed
    from arcreach.experiments.verdicts import AGREES, DIFFERS, NEAR, counts, farthest, on_summary

    theirs = Printed("a", "m", 90.0, mean_iterations=10.4, median_iterations=11.0, label="theirs", worst=40.0)
    found = list(on_summary("t", summary("a", "m", 900), theirs, summary("b", "m", 600)))
    assert [(one.quantity, one.word) for one in found] == [
        ("share reached", AGREES), ("share of the worst case", DIFFERS), ("iterations", NEAR), ("iterations", AGREES),
    ]  # fmt: skip
    assert {(one.table, one.method) for one in found} == {("t", "theirs")}
    assert counts(found) == ("4", "2", "1", "1", "+20.0 points (b, theirs)")
    assert farthest(found[:1]) == "–"
    many = summary("a", "m", 900_000, 1_000_000)
    assert [one.word for one in on_summary("t", many, Printed("a", "m", 90.9))] == [NEAR]
    assert [one.word for one in on_summary("t", many, Printed("a", "m", 91.1))] == [DIFFERS]
    # Nothing reached, no iterations to speak of.
    assert list(on_summary("t", summary("a", "m", 0), Printed("a", "m", mean_iterations=3.0))) == []


def test_reasons_are_told_once_for_all_that_share_them():
    from arcreach.experiments.verdicts import AGREES, DIFFERS, UNKNOWN, Verdict, group_table, reasons_told

    found = [
        Verdict("t", "a", method, "share reached", word, 5.0, "points")
        for method, word in (("p", DIFFERS), ("q", DIFFERS), ("r", AGREES), ("s", DIFFERS))
    ]
    reasons = {"p": "Because.", "q": "Because.", "r": "Never told."}
    assert reasons_told(found, reasons) == f"p, q: Because. s: {UNKNOWN}"
    rows = {row[1]: row for row in group_table(found, reasons).rows}
    assert rows["p"][-1] == "Because."
    assert rows["r"][-1] == ""
    assert rows["s"][3:7] == ("1", "0", "0", "1")


def test_the_nearest_of_our_methods_and_how_much_faster_it_is():
    from arcreach.experiments.experiment import Printed
    from arcreach.experiments.verdicts import nearest_table, times_as_fast

    printed = [
        Printed("a", "x", 50.0, median_time=4e-6),
        Printed("b", "x", 60.0, mean_time=2e-5),
        Printed("c", "z", None, mean_time=1.0),
    ]
    ours = [summary("a", "x", 400), summary("b", "x", 600), summary("a", "y", 520), summary("b", "y", 620)]
    assert nearest_table(printed, ours).rows == (("x", "5", "2 ←"),)
    assert nearest_table(printed, ours[:2]) is None
    assert nearest_table([], ours) is None
    assert times_as_fast(printed, ours) == pytest.approx((4.0 + 10.0) / 2.0)
    assert times_as_fast(printed[2:], ours) is None


def test_every_printed_method_has_a_reason_for_differing():
    for name in NAMES:
        experiment = find_experiment(name)
        if isinstance(experiment, Comparison):
            assert {one.label or one.method for one in experiment.printed()} <= set(experiment.reasons)


def test_a_budget_of_time_becomes_iterations():
    from arcreach.experiments.published import iterations_within
    from arcreach.experiments.variable_curvature import iterations_in_budget

    assert iterations_within(0.030, {"mean_time_ms": "4.5", "mean_iterations": "16"}) == 107
    limits = iterations_in_budget(6)
    # Nothing was reached in 30 ms there: an iteration takes what it takes in 500 ms.
    assert limits["jacobian"] == round(30 * 60 / 401.3)
    assert limits["jacobian 500 ms"] == round(500 * 60 / 401.3)
    experiment = find_experiment("variable-curvature")
    known = {call.label for call in experiment.calls}
    assert all(set(case.limits) <= known for case in experiment.cases(Settings()))


@pytest.mark.compiled
def test_the_passage_is_followed_and_reported_apart(tmp_path):
    experiment = find_experiment("finite-rotation")
    settings = experiment.settings(3, 0, ("auto", "follow"))
    run_experiment("finite-rotation", settings, tmp_path, threads=1)
    run = Run(tmp_path)
    assert run.methods == ("auto",)
    assert {one.method for one in run.overall} == {"auto"}
    assert "singular passage" not in run.cases
    rows = run.store.rows().collect()
    own = rows.filter(rows["case"] == "singular passage")
    assert own["reached"].all()
    steps = {method: max(own.filter(own["method"] == method)["step"]) for method in settings.methods[1:]}
    assert len(steps) == 4
    assert steps["follow finite-rotation"] > math.radians(20.0)
    assert steps["follow finite-rotation (small steps)"] <= math.radians(2.5) + 1e-9
    assert steps["follow finite-rotation (joint held)"] < math.radians(3.0)
    write_report(tmp_path, tmp_path)
    markdown = (tmp_path / "report.md").read_text("utf-8")
    for method, step in steps.items():
        assert f"| {method} | 101 of 101 |" in markdown
        assert f"| {math.degrees(step):.2f}° |" in markdown
    assert "(figures/singular-passage.png)" in markdown


@pytest.mark.parametrize(
    ("seconds", "text"), [(2.5, "2.5 s"), (3e-3, "3 ms"), (4.2e-5, "42 µs"), (5e-7, "0.50 µs"), (math.nan, "–")]
)
def test_times_are_written_in_their_unit(seconds, text):
    assert time_text(seconds) == text


def test_the_judge_believes_nobody():
    robot = ar.load_robot("puma-560")
    q = robot.sample(4, seed=0)
    poses = robot.tip_pose(q)
    moved = q.copy()
    moved[1, 0] += 1e-2
    outside = moved.copy()
    outside[2, 1] = robot.upper[1] + 0.5
    for goal in (POSITION, AXIS, ROTATION):
        judged = verdict(robot, outside, poses, goal, 1e-6, 1e-6, np.full(4, Status.REACHED))
        assert judged["reached"].tolist() == [True, False, False, True]
        assert judged["status"].tolist() == ["REACHED", "STALLED", "STALLED", "REACHED"]
    timid = verdict(robot, q, poses, ROTATION, 1e-6, 1e-6, np.full(4, Status.TIME_LIMIT))
    assert timid["reached"].all()
    found = ar.solve_batch(robot, poses[:, :3, 3], rotations=poses[:, :3, :3], method="ccd", max_iterations=3)
    distance, angle = errors(robot, found.q, poses, ROTATION)
    assert distance == pytest.approx(found.position_error, abs=1e-12)
    assert angle == pytest.approx(found.angle_error, abs=1e-7)


def own_method(robot, target):
    """A method of a user's: always the rest pose."""
    return robot.neutral


def test_a_method_of_the_users_own_joins(tmp_path):
    experiment = find_experiment("compare")
    robot = ar.Robot([ar.Section(0.1, 1.0)], name="mine")
    label = f"{__name__}:own_method"
    settings = experiment.settings(3, 0, ["single-section", label], robot)
    assert settings.methods == (
        *[f"single-section {one}" for one in ("newton", "iterative", "polynomial", "jacobian")],
        label,
    )
    run_experiment("compare", settings, tmp_path, threads=1)
    write_report(tmp_path, tmp_path)
    markdown = (tmp_path / "report.md").read_text("utf-8")
    assert "Robot: mine." in markdown
    best = next(line for line in markdown.splitlines() if line.startswith("| position, fine |"))
    assert "single-section" in best
    assert f"| position, fine | {label} | 3 | 0.00" in markdown


def test_a_method_joins_by_an_entry_point(tmp_path, monkeypatch):
    info = tmp_path / "mine-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[arcreach.methods]\nmine-all = mine_all:rest\n")
    (tmp_path / "mine_all.py").write_text("def rest(robot, target):\n    return robot.neutral\n")
    monkeypatch.syspath_prepend(tmp_path)
    experiment = find_experiment("compare")
    robot = ar.Robot([ar.Section(0.1, 1.0)], name="mine")
    with pytest.raises(MethodError, match="mine-none"):
        experiment.settings(3, 0, ["mine-none"], robot)
    settings = experiment.settings(3, 0, ["single-section", "mine-all"], robot)
    assert settings.methods[-1] == "mine-all"
    assert experiment.settings(3, 0, ["mine-all"], robot).methods[-1] == "mine-all"
    run_experiment("compare", settings, tmp_path / "run", threads=1)
    write_report(tmp_path / "run", tmp_path / "run")
    markdown = (tmp_path / "run" / "report.md").read_text("utf-8")
    assert "| position, fine | mine-all | 3 | 0.00" in markdown


@pytest.mark.parametrize("name", ["nothing:here", "arcreach:nothing", "arcreach:__version__"])
def test_a_method_that_cannot_be_loaded_is_refused(name):
    with pytest.raises(MethodError, match=r"module:function|a function or"):
        find_experiment("compare").settings(methods=[name])


def test_only_compare_takes_a_robot():
    with pytest.raises(MethodError, match="compare"):
        find_experiment("scaling").settings(robot=ar.load_robot("three-section"))


def test_a_folder_without_runs_is_refused(tmp_path):
    with pytest.raises(FileError, match="holds no run"):
        write_report(tmp_path, tmp_path)
    with pytest.raises(FileError, match="no folder"):
        write_report(tmp_path / "none", tmp_path)


def test_methods_are_only_given_what_they_serve():
    experiment = find_experiment("scaling")
    settings = experiment.settings()
    served = {
        (case.name, call.label)
        for case in experiment.cases(settings)
        for call in experiment.calls
        if serves(call, case)
    }
    assert {(block.case, block.method) for block in experiment.blocks(settings)} == served


def test_cells_and_their_corners():
    from arcreach.experiments.workspace import CELL, CELLS, cell_of, corner

    cells = np.arange(CELLS)
    middle = corner(cells) + 0.5 * CELL
    turned = np.stack([middle[:, 0] * np.cos(1.0), middle[:, 0] * np.sin(1.0), middle[:, 1]], axis=1)
    assert np.array_equal(cell_of(turned), cells)
    assert cell_of(np.array([[0.2, 0.0, 0.0], [0.0, 0.0, -0.2]])).tolist() == [-1, -1]


@pytest.mark.compiled
def test_auto_finds_every_cell_that_chance_finds():
    from arcreach.experiments.workspace import EXPERIMENT, MONTE_CARLO, name_of

    settings = EXPERIMENT.settings(20_000, 0)
    chance = EXPERIMENT.rows(Block(name_of(3), MONTE_CARLO, 0, 10_500), settings)["reached"]
    auto = EXPERIMENT.rows(Block(name_of(3), "auto", 4200, 2100), settings)["reached"]
    assert chance.sum() > 500
    assert not (chance[4200:6300] & ~auto).any()


@pytest.mark.compiled
def test_a_cell_that_five_points_miss_is_out_of_their_reach():
    """Chance hits a corner of the cell; the tip, searched for by chance alone, comes to none of the five points."""
    from arcreach.experiments.workspace import CELLS, FINE, POSITION_TOL, SHIFTS, WIDE, _by_solver, corner, robot

    cell = (55 + 5) * WIDE + 75
    arm, hits = robot(2), np.full((CELLS, 2), np.nan)
    found = _by_solver(arm, Block("2 sections", "auto", cell, 1), hits, Settings())
    assert found["found_by"].tolist() == [FINE]
    assert found["asked"][0] > len(SHIFTS)
    rng, low = np.random.default_rng(0), corner(np.array([cell]))[0]

    def away(q, point):
        tips = arm.tip_pose(q)[:, :3, 3]
        return np.hypot(np.hypot(tips[:, 0], tips[:, 1]) - point[0], tips[:, 2] - point[1])

    for shift in SHIFTS:
        point, spread = low + shift, 0.2
        q = arm.sample(20_000, seed=0)
        for _ in range(40):
            q = q[np.argsort(away(q, point))[:200]]
            q = np.concatenate([q, *(arm.clip(q + rng.normal(0.0, spread, q.shape)) for _ in range(5))])
            spread *= 0.8
        nearest = away(q, point).min()
        assert nearest > POSITION_TOL
        assert nearest > found["nearest"][0] - 1e-8
