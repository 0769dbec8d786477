import numpy as np
import pytest
from tests.planning.contact.test_plan import plan_scene

import arcreach as ar
from arcreach.errors import MethodError

pytest.importorskip("matplotlib")

from arcreach.figures import contact, contact_motion, contact_search, grasp, save


def test_a_panel_per_scene_with_every_path(tmp_path):
    plans = {name: plan_scene(name)[1] for name in ("pocket", "wedge")}
    figure = contact(plans, rod=False)
    panels = figure.get_axes()
    assert [panel.get_title(loc="left") for panel in panels] == ["pocket: 2 solutions", "wedge: 1 solution"]
    for panel, found in zip(panels, plans.values(), strict=True):
        drawn = [line.get_xydata() for line in panel.get_lines() if len(line.get_xdata()) == 200]
        assert len(drawn) == len(found)
        ends = {tuple(np.round(line[-1], 6)) for line in drawn}
        assert ends == {tuple(np.round(np.array(found.target) * 1e3, 6))}
    save(figure, tmp_path / "ways.png")
    assert (tmp_path / "ways.png").stat().st_size > 10_000


@pytest.mark.compiled
def test_the_rod_has_a_row_of_its_own():
    _, found = plan_scene("wedge")
    figure = contact({"wedge": found})
    panels = figure.get_axes()
    assert len(panels) == 2
    assert panels[1].get_title(loc="left") == f"rod {found[0].rod.deviation(found.target) * 1e3:.0f} mm off"


def test_a_panel_per_round_of_the_search():
    _, found = plan_scene("walls", trace=True)
    figure = contact_search(found)
    for k, panel in enumerate(figure.get_axes(), start=1):
        tried = [arc.outcome for arc in found.search if arc.round == k]
        assert panel.get_title(loc="left") == f"round {k}: {tried.count('kept')} of {len(tried)} arcs kept"
        drawn = sum(len(line.get_xdata()) == 120 for line in panel.get_lines())
        before = sum(arc.round < k and arc.outcome == "kept" for arc in found.search)
        assert drawn == before + sum(outcome in ("kept", "obstacle", "rule") for outcome in tried)
    with pytest.raises(MethodError, match="rounds = 99"):
        contact_search(found, rounds=99)
    with pytest.raises(MethodError, match="trace=True"):
        contact_search(plan_scene("wedge")[1])


def test_moments_grow():
    _, found = plan_scene("slalom")
    figure = contact_motion(found[0], moments=4)
    lengths = [float(panel.get_title(loc="left").removesuffix(" mm")) for panel in figure.get_axes()]
    assert lengths == sorted(lengths)
    assert lengths[-1] == pytest.approx(found[0].length * 1e3, abs=1)


def test_a_grasp_shows_motion_and_hold(tmp_path):
    robot = ar.Robot([ar.Section(length=0.0, stretch=0.5, bend_max=2 * np.pi, radius=0.003)])
    plan = ar.plan_grasp(robot, ar.Disc((0.04, 0.14), 0.03), bend_radius=0.02)[0]
    figure = grasp(plan, title="disc")
    moving, held = figure.get_axes()
    assert moving.get_title(loc="left") == "disc: approach and wrap"
    assert held.get_title(loc="left").startswith("wrap 200°")
    save(figure, tmp_path / "grasp.pdf")


def test_nothing_to_draw_is_refused():
    with pytest.raises(MethodError, match="plans is empty"):
        contact({})
    _, found = plan_scene("wedge")
    for moments in (1, 2.5):
        with pytest.raises(MethodError, match=f"moments = {moments} is not accepted; give a whole number from 2"):
            contact_motion(found[0], moments=moments)
