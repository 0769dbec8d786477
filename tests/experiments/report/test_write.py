"""Reports: numbers from rows alone, and one page that needs nothing else."""

import math
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import arcreach as ar
from arcreach._text import length
from arcreach.errors import FileError, MethodError
from arcreach.experiments import Run, find_experiment, run_experiment, write_report
from arcreach.experiments.published import table
from arcreach.experiments.report.pages import as_html, as_markdown
from arcreach.experiments.report.parts import Heading, Items, Table, Text
from arcreach.experiments.tables.tangents_chords import statements

pytest.importorskip("matplotlib")


class Page(HTMLParser):
    """Parse a page: the files it refers to, and whether its tags close."""

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
    assert len(shown) == len(set(shown)) == figures
    assert all((folder / "figures" / name).stat().st_size > 1000 for name in shown)
    return markdown


@pytest.mark.compiled
def test_hierarchical_prints_table_5_to_every_digit(tmp_path):
    run_experiment("hierarchical", find_experiment("hierarchical").settings(), tmp_path, threads=1)
    write_report(tmp_path, tmp_path)
    markdown = check_page(tmp_path, 2)
    assert "(figures/hierarchical-point-2.png)" in markdown
    assert "60 of 60 numbers agree" in markdown
    for row in table("rgm3-table-5"):
        assert f"| {row['q1_mm']} |" in markdown


def test_one_section_is_reported_beside_the_print(tmp_path):
    settings = find_experiment("single-section").settings(3, 0, ("newton", "iterative"))
    run_experiment("single-section", settings, tmp_path / "one", threads=1)
    run = Run(tmp_path / "one")
    # Three methods: the reading of iterative belongs to it.
    assert [one.count for one in run.summaries] == [3] * 27
    write_report(tmp_path, tmp_path / "out")
    markdown = check_page(tmp_path / "out", 3 + 1 + 3)
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


def test_figures_of_made_up_rows(tmp_path, monkeypatch):
    """Every kind of figure and table, without a solver: drawing is what is tested."""
    from arcreach.experiments.engine import comparison, convergence

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
    monkeypatch.setattr(convergence, "_errors", lambda *_: [np.geomspace(1e-2, 1e-6, rng.integers(1, 50))])
    mine, other = (ar.Robot([ar.Section(0.1, 1.0)] * n, name=f"{n} sections") for n in (2, 1))
    every = {"tangents-chords": ("tangents-chords", None), "compare": ("compare", mine), "other": ("compare", other)}
    for folder, (name, given) in every.items():
        settings = find_experiment(name).settings(2, 0, (), given)
        run_experiment(name, settings, tmp_path / folder, threads=2)
    write_report(tmp_path, tmp_path / "out")
    text = check_page(tmp_path / "out", 3 + 3 + 2 + 2 + 2)
    assert "nan" not in text
    # The figures of `compare` have no intervals, and name the cells of what a method does not accept.
    captions = re.findall(r"!\[([^]]*)\]\(figures/compare-shares[^)]*\)", text)
    assert len(captions) == 2
    assert not any("with 95 % Wilson" in caption for caption in captions)
    # All methods accept the only case of one section.
    told = ["Grey cells with a dash: the method does not accept the case." in caption for caption in captions]
    assert told == [True, False]
    assert "- section-1: length 100 mm, bend_max 57.2958°" in text
    assert "Section(" not in text
    assert "A share agrees when" in text
    titles = [line for line in text.splitlines() if line.startswith("## Which method is best")]
    assert [title.rpartition(" ")[2] for title in titles] == ["(compare)", "(other)"]
    runs = [Run(tmp_path / name) for name in every]
    told = statements(runs[0])
    assert len(told) == 13
    for row in told:
        assert f"| {' | '.join(row)} |" in text
    assert len(runs[0].failures) == len(runs[0].methods)
    for method, count, position, _ in runs[0].failures:
        own = runs[0].frame.filter((runs[0].frame["method"] == method) & ~runs[0].frame["reached"])
        assert (len(own), own["position_error"].median()) == (count, position)
        assert f"| {method} | {count} | {length(position)} |" in text
    for run in runs:
        for one in run.overall:
            assert f"| {one.method} | {one.count} | {one.share_text} |" in text


def test_cells_without_rows_have_a_dash():
    from types import SimpleNamespace

    from arcreach.experiments.report.charts import share_matrix

    summaries = [
        SimpleNamespace(case="a", method="one", share=0.0),
        SimpleNamespace(case="b", method="one", share=100.0),
    ]
    run = SimpleNamespace(cases=["a", "b"], methods=("one", "two"), summaries=summaries)
    panel = share_matrix(run).axes[0]
    assert [text.get_text() for text in panel.texts] == ["0.0", "100", "–", "–"]
    assert panel.get_facecolor()[:3] != (1.0, 1.0, 1.0)


@pytest.mark.compiled
def test_several_runs_make_one_page(tmp_path):
    chosen = {
        "scaling": (12, ("auto", "fabrikx")),
        "tangents-chords": (6, ("auto", "fabrikc")),
        "contact": (1, ("given contacts",)),
        "finite-rotation": (3, ("auto", "corrected")),
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
    for name in ("[K22] table 3.3", "[K22] table 3.4", "[K22] table 3.12, figs. 2.12 and 3.16"):
        assert sum(line.startswith(f"| {name} |") for line in summary_lines) == 1
    figures = next(line for line in summary_lines if line.startswith("| [K22a] figs. 2, 3 and 5 to 7"))
    assert "| 0 | – |" in figures


def test_the_workspace_is_counted_cell_by_cell(tmp_path, monkeypatch):
    from arcreach.experiments.tables import workspace

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
    for case in ("motion along X", "motion in pitch"):
        for method in ("follow auto", "follow finite-rotation"):
            reached = rows.filter((rows["case"] == case) & (rows["method"] == method)).sort("target")["reached"]
            paths = reached.to_numpy().reshape(12, 21).all(axis=1)
            assert f"| {case} | {method} | {paths.sum()} of 12 | {reached.sum()} of 252 |" in markdown
    assert "(figures/finite-rotation-joint-steps.png)" in markdown
    assert "| given | 100.0 | -400.0 | 0.0 | 5.000 | -50.000 | 0.000 |" in markdown


@pytest.mark.compiled
def test_followers_are_reported_without_a_method_to_compare(tmp_path):
    settings = find_experiment("finite-rotation").settings(1, 0, ("follow auto",))
    run_experiment("finite-rotation", settings, tmp_path, threads=1)
    assert Run(tmp_path).methods == ()
    write_report(tmp_path, tmp_path)
    assert "| follow auto | 101 of 101 |" in check_page(tmp_path, 1)


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
    assert "Robot: mine.\n\n- section-1: length 100 mm, bend_max 57.2958°\n" in markdown
    # Nothing is printed: there are no verdicts to explain.
    assert "share agrees" not in markdown
    assert "tables of the sources" not in markdown
    best = next(line for line in markdown.splitlines() if line.startswith("| position, fine |"))
    assert "single-section" in best
    assert f"| position, fine | {label} | 3 | 0.00" in markdown


def test_comparisons_alone_are_no_published_tables(tmp_path):
    for n in (1, 2):
        robot = ar.Robot([ar.Section(0.1, 1.0)] * n)
        settings = find_experiment("compare").settings(1, 0, ["lm"], robot)
        run_experiment("compare", settings, tmp_path / str(n), threads=1)
    write_report(tmp_path, tmp_path)
    text = (tmp_path / "report.md").read_text("utf-8")
    assert text.startswith("# Comparison of methods\n")
    assert "What agrees" not in text
    assert "Printed numbers" not in text
    assert "## The runs" in text


def test_rows_of_a_method_are_of_its_present_file(tmp_path, monkeypatch):
    file = tmp_path / "mine_edited.py"
    file.write_text("def rest(robot, target):\n    return robot.neutral\n")
    monkeypatch.syspath_prepend(tmp_path)
    experiment, name = find_experiment("compare"), "mine_edited:rest"
    settings = experiment.settings(2, 0, ["single-section", name, name], ar.Robot([ar.Section(0.1, 1.0)]))
    assert settings.methods[-2:] == ("single-section jacobian", name)
    for _ in range(2):
        run_experiment("compare", settings, tmp_path / "run", threads=1)
    file.write_text("def rest(robot, target):\n    return robot.upper\n")
    with pytest.raises(FileError, match=f"rows of {name} from before its file was changed; give another --out"):
        run_experiment("compare", settings, tmp_path / "run", threads=1)


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


def test_entry_points_are_not_searched_for_known_methods(monkeypatch):
    from arcreach.ik import own_methods

    experiment = find_experiment("compare")
    settings = experiment.settings(1, 0, (), ar.Robot([ar.Section(0.1, 1.0)]))
    monkeypatch.setattr(own_methods, "entry_points", lambda **_: pytest.fail("every installed package is read"))
    assert {call.label for call in experiment.calls_of(settings)} == set(settings.methods)


def test_a_folder_without_runs_is_refused(tmp_path):
    with pytest.raises(FileError, match="holds no run"):
        write_report(tmp_path, tmp_path)
    with pytest.raises(FileError, match="not a folder"):
        write_report(tmp_path / "none", tmp_path)


def test_names_stand_in_the_pages_as_text():
    name = "<img src=x onerror=alert(1)>\n<script>|&"
    parts = [Heading(name), Text(f"{name} and `a < b`"), Items((name,)), Table((name,), ((name,),), name)]
    for text in (as_markdown(parts), as_html(parts, None)):
        assert "<img" not in text
        assert "<script" not in text
        assert "&lt;script&gt;" in text
    assert "`a < b`" in as_markdown(parts)
    assert "| &lt;img src=x onerror=alert(1)&gt; &lt;script&gt;\\|&amp; |" in as_markdown(parts)
