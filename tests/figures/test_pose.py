import numpy as np
import pytest

import arcreach as ar
from arcreach.errors import MethodError, RobotError, TargetError

pytest.importorskip("matplotlib")

from matplotlib.backends.backend_agg import FigureCanvasAgg

from arcreach.figures import ONE_COLUMN, TWO_COLUMNS, pose, save
from arcreach.figures.drawing.canvas import Canvas
from arcreach.figures.drawing.plot_box import PlotBox, round_step
from arcreach.figures.pose import SECTIONS, VIEW
from arcreach.robots.body_mesh import body_mesh

THREE = ar.load_robot("three-section")
BENT = np.array([0.9, 0.3, 0.8, 2.6, 0.9, -1.4])
MIXED = ar.Robot(
    [
        ar.Revolute(),
        ar.Link((0, 0, 0.2), radius=0.02),
        ar.Revolute((0, 1, 0)),
        ar.Link((0.2, 0, 0)),
        ar.Section(0.1, 2.0),
    ]
)


def texts_of(figure):
    return [text.get_text() for text in figure.axes[0].texts if text.get_text()]


def body_of(figure):
    """The polygons of the body and of obstacles, far ones first."""
    return next(one for one in figure.axes[0].collections if one.get_zorder() == 2)


def test_the_body_is_drawn_where_it_is():
    # Seen along x the paper shows y and z in millimetres; sides of a tube are chords of its circle.
    figure = pose(THREE, BENT, view=(0.0, 0.0))
    drawn = np.concatenate([path.vertices for path in body_of(figure).get_paths()])
    vertices = 1e3 * body_mesh(THREE, BENT, sides=36).vertices[:, 1:]
    np.testing.assert_allclose(drawn.min(axis=0), vertices.min(axis=0), atol=0.05)
    np.testing.assert_allclose(drawn.max(axis=0), vertices.max(axis=0), atol=0.05)


def test_sections_have_names_and_frames_have_letters():
    found = texts_of(pose(THREE, BENT))
    assert {"section-1", "section-2", "section-3", "x (mm)", "y (mm)", "z (mm)"} <= set(found)
    assert [found.count(letter) for letter in "xyz"] == [2, 2, 2]
    bare = texts_of(pose(THREE, BENT, frames=False, names=False))
    assert not {"section-1", "x"} & set(bare)


def test_an_axis_that_points_at_the_eye_has_no_letter():
    found = texts_of(pose(THREE, THREE.neutral, view=(0.0, 0.0)))
    assert [found.count(letter) for letter in "xyz"] == [0, 2, 2]


def test_obstacles_targets_and_other_poses_are_drawn(tmp_path):
    obstacles = [
        ar.Sphere((0.05, 0, 0.05), 0.01),
        ar.Capsule((-0.05, 0, 0), (-0.05, 0, 0.05), 0.005),
        ar.Box((0.01, 0.02, 0.03), (0, 0.06, 0.02)),
        ar.HalfSpace((0, 0, 1), (0, 0, -0.01)),
    ]
    tip = THREE.tip_pose(BENT)
    alone = body_of(pose(THREE, BENT))
    figure = pose(THREE, [THREE.neutral, BENT], scene=obstacles, target=ar.Target(tip[:3, 3], axis=tip[:3, 2]))
    assert len(body_of(figure).get_paths()) > len(alone.get_paths())
    assert "target" in texts_of(figure)
    assert "target" in texts_of(pose(THREE, BENT, target=ar.Target(tip[:3, 3])))
    assert "target" in texts_of(pose(ar.solve(THREE, tip)))
    save(figure, tmp_path / "pose.png")
    assert (tmp_path / "pose.png").stat().st_size > 10_000


def test_a_target_is_a_position_or_a_pose_too():
    tip = THREE.tip_pose(BENT)
    for target in (tip[:3, 3], tip[:3, 3].tolist(), tip):
        figure = pose(THREE, BENT, target=target)
        ring = [line for line in figure.axes[0].get_lines() if line.get_markersize() == 8.0]
        seen = Canvas(VIEW).project(tip[:3, 3])[:2]
        np.testing.assert_allclose(ring[0].get_xydata(), [seen])
    # A pose has the arrow of its z axis in addition.
    arrows = [
        sum(bool(getattr(text, "arrow_patch", None)) for text in pose(THREE, BENT, target=target).axes[0].texts)
        for target in (tip[:3, 3], tip)
    ]
    assert arrows[1] == arrows[0] + 1
    with pytest.raises(TargetError, match=r"target has the shape \(2,\); give an arcreach.Target, a position"):
        pose(THREE, BENT, target=[0.1, 0.2])


@pytest.mark.parametrize(("normal", "front"), [((0, -1, 0), False), ((0, 1, 0), True)])
def test_a_wall_covers_the_box_on_its_side_of_the_robot(normal, front):
    # The eye is on the side of -y.
    wall = ar.HalfSpace(normal, (0, -0.06 * normal[1], 0))
    figure = pose(THREE, BENT, scene=[wall])
    (plane,) = figure.axes[0].patches
    canvas = Canvas(VIEW)
    corners = plane.get_xy()[:-1]
    assert len(corners) == 4
    # It is in the picture, and as high and as wide as the box.
    (left, right), (low, high) = figure.axes[0].get_xlim(), figure.axes[0].get_ylim()
    assert ((corners >= (left, low)) & (corners <= (right, high))).all()
    middle = canvas.project([0.0, wall.point[1], 0.0])[:2]
    along, up = canvas.axes[:2, 0], canvas.axes[:2, 2]
    parts = np.linalg.solve(np.column_stack([along, up]), (corners - middle).T)
    body = 1e3 * body_mesh(THREE, BENT).vertices
    assert (parts.min(axis=1) <= body.min(axis=0)[[0, 2]] + 1e-9).all()
    assert (parts.max(axis=1) >= body.max(axis=0)[[0, 2]] - 1e-9).all()
    shadow = min(one.get_zorder() for one in figure.axes[0].collections)
    assert (plane.get_zorder() > body_of(figure).get_zorder()) if front else (plane.get_zorder() < shadow)
    assert (plane.get_facecolor()[3] < 0.5) is front
    assert not pose(THREE, BENT, scene=[ar.HalfSpace(normal, (0, -10.0 * normal[1], 0))]).axes[0].patches


@pytest.mark.parametrize(
    ("robot", "q"),
    [
        (THREE, [THREE.neutral, np.radians([55, 20, 45, 150, 50, -80])]),
        (THREE, np.radians([170, 0, 170, 0, 170, 0])),
        (ar.load_robot("ten-section"), np.tile(np.radians([80, 10]), 10)),
    ],
)
def test_names_of_sections_stand_on_no_other_text(robot, q):
    figure = pose(robot, q)
    figure.draw_without_rendering()
    texts = [text for text in figure.axes[0].texts if text.get_text()]
    names = [text for text in texts if text.get_text() in robot.element_names]
    assert len(names) >= 2
    assert len({name.get_text() for name in names}) == len(names)
    for name in names:
        others = [text.get_window_extent() for text in texts if text is not name]
        assert name.get_window_extent().count_overlaps(others) == 0


def test_an_arm_has_no_rod_inside_its_drums():
    # Without drums all of a rod's near side is seen, with them what is in one is left out.
    figure = pose(MIXED, [0.3, 0.6, 0.5, 0.0])
    assert figure.get_figwidth() * 25.4 == pytest.approx(ONE_COLUMN)
    rings = body_mesh(MIXED, MIXED.neutral, sides=36)
    assert len(body_of(figure).get_paths()) < sum(len(part.faces) for part in rings.parts)
    # The tool is long beside the arm: it has its name; a short one has none.
    assert "section-1" in texts_of(figure)
    assert "section-1" not in texts_of(pose(ar.load_robot("ur5-bending-tool"), [0.0] * 12))


def test_poses_behind_are_drawn_first():
    figure = pose(THREE, [BENT, BENT], view=(0.0, 0.0))
    colours = body_of(figure).get_facecolors()
    half = len(colours) // 2
    # Pale is nearer to white.
    assert colours[:half, :3].mean() > colours[half:, :3].mean()


def test_the_box_holds_what_is_in_it():
    points = np.array([[-0.01, 0.0, 0.0], [0.03, 0.0, 0.09]])
    box = PlotBox(points)
    assert (box.low <= points.min(axis=0)).all()
    assert (box.high >= points.max(axis=0)).all()
    assert box.low[2] == 0.0
    assert box.high[1] - box.low[1] >= box.step
    for axis in range(3):
        ticks = box.ticks(axis)
        assert len(ticks) >= 2
        assert ticks[0] >= box.low[axis] - 1e-9
        assert ticks[-1] <= box.high[axis] + 1e-9
    assert box.corners.shape == (8, 3)


@pytest.mark.parametrize("extent", [(0.0, 0.0, 0.1), (0.1, 0.1, 0.0), (0.03, 0.002, 0.19), (0.0, 0.0, 0.0), (9, 1, 0)])
@pytest.mark.parametrize("low", [0.0, -0.0123, 0.0177])
def test_every_axis_has_a_scale(extent, low):
    box = PlotBox(low + np.array([[0.0, 0.0, 0.0], extent]))
    for axis in range(3):
        ticks = box.ticks(axis)
        assert 2 <= len(ticks) <= 12
        np.testing.assert_allclose(np.diff(ticks), ticks[1] - ticks[0])
        # The spacing is 1, 2 or 5 times a power of ten.
        assert f"{ticks[1] - ticks[0]:.3e}"[:5] in ("1.000", "2.000", "5.000")


def test_a_figure_fits_on_a_page_with_its_caption():
    figure = pose(THREE, BENT, width=TWO_COLUMNS)
    assert figure.get_figwidth() * 25.4 == pytest.approx(TWO_COLUMNS)
    assert figure.get_figheight() * 25.4 <= 200.0 + 1e-9


def test_arrows_of_frames_have_colours_of_their_own():
    from matplotlib.colors import to_rgb

    sections = {to_rgb(colour) for colour in SECTIONS}
    arrows = [text.arrow_patch for text in pose(THREE, BENT).axes[0].texts if getattr(text, "arrow_patch", None)]
    heads = [arrow for arrow in arrows if arrow.get_arrowstyle().__class__.__name__ == "CurveFilledB"]
    assert len(heads) == 12
    for arrow in heads:
        assert to_rgb(arrow.get_edgecolor()) not in sections
        assert arrow.get_path_effects()


@pytest.mark.parametrize(
    ("size", "step"), [(0.018, 0.02), (0.02, 0.02), (0.3, 0.5), (0.6, 1.0), (7.0, 10.0), (0.0, 1e-3)]
)
def test_steps_are_round(size, step):
    assert round_step(size) == pytest.approx(step)


def test_the_canvas_looks_along_its_view():
    canvas = Canvas((90.0, 0.0))
    np.testing.assert_allclose(canvas.project([0.001, 0.002, 0.003]), [-1.0, 3.0, 2.0], atol=1e-12)


def test_bad_input_is_named():
    with pytest.raises(MethodError, match="q has no rows"):
        pose(THREE, np.empty((0, 6)))
    pytest.importorskip("sympy")
    with pytest.raises(RobotError, match="has no body to make a picture from"):
        pose(ar.load_robot("librergm3-matrix"), [0.0, 0.0, 0.0])


def walls_of(figure):
    """The translucent polygons before the robot."""
    return [one for one in figure.axes[0].collections if one.get_zorder() == 2.5]


def test_the_near_walls_of_a_mesh_around_the_robot_are_translucent():
    trimesh = pytest.importorskip("trimesh")
    pipe = trimesh.creation.annulus(0.02, 0.024, 0.12, sections=4)
    pipe.apply_translation([0, 0, 0.06])
    around = ar.Mesh(vertices=pipe.vertices, faces=pipe.faces)
    figure = pose(THREE, np.radians([12, 20, 18, 200, 8, 20]), scene=[around], view=(0.0, 0.0))
    (near,) = walls_of(figure)
    assert (near.get_facecolors()[:, 3] < 0.5).all()
    # Seen from the side the near half covers the pipe from edge to edge, and the robot is drawn before the far half.
    drawn = np.concatenate([path.vertices for path in near.get_paths()])
    np.testing.assert_allclose((drawn.min(axis=0), drawn.max(axis=0)), ((-24.0, 0.0), (24.0, 120.0)), atol=0.5)
    colours = body_of(figure).get_facecolors()[:, :3]
    grey = np.ptp(colours, axis=1) < 0.1
    assert np.flatnonzero(grey).max() < np.flatnonzero(~grey).min()
    # Beside the robot the same mesh is solid.
    beside = ar.Mesh(vertices=np.add(pipe.vertices, (0.0, 0.1, 0.0)), faces=pipe.faces)
    assert not walls_of(pose(THREE, THREE.neutral, scene=[beside], view=(0.0, 0.0)))
    before = ar.Mesh(vertices=np.add(pipe.vertices, (0.1, 0.0, 0.0)), faces=pipe.faces)
    assert not walls_of(pose(THREE, THREE.neutral, scene=[before], view=(0.0, 0.0)))


def test_a_retracted_slide_lies_below_the_section_in_it():
    robot = ar.Robot([ar.Prismatic(-0.06, 0.06, radius=0.004), ar.Section(0.05, 1.5, radius=0.004)])
    figure = pose(robot, [-0.05, 0.0, 0.0], view=(0.0, 0.0))
    colours = body_of(figure).get_facecolors()[:, :3]
    blue = colours[:, 2] - colours[:, 0] > 0.2
    assert np.flatnonzero(~blue).max() < np.flatnonzero(blue).min()


def test_the_link_from_the_base_to_the_first_joint_is_drawn():
    figure = pose(ar.load_robot("panda"), ar.load_robot("panda").neutral, view=(0.0, 0.0))
    drawn = np.concatenate([path.vertices for path in body_of(figure).get_paths()])
    assert drawn[:, 1].min() < 0.0
    low = drawn[(drawn[:, 1] > 50.0) & (drawn[:, 1] < 250.0)]
    assert len(low) > 50


def test_numbers_have_the_unit_that_suits_the_room():
    for size, unit in ((2e-4, "µm"), (0.1, "mm"), (1.0, "mm"), (50.0, "m"), (2e5, "km")):
        found = texts_of(pose(ar.Robot([ar.Section(size, 1.0)]), [0.5, 0.0]))
        assert f"z ({unit})" in found
        assert max(len(text) for text in found if text[0].isdigit()) <= 4


def test_an_arrow_that_ends_outside_the_box_is_drawn():
    # To the left of the picture, where the box ends at the target.
    left = np.array([-0.85, -0.53, 0.0])
    figure = pose(ar.Robot([ar.Section(0.1, 1.6)]), [0.0, 0.0], target=ar.Target(0.2 * left, axis=left), frames=False)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    red, green, blue = np.moveaxis(np.asarray(canvas.buffer_rgba())[:, : int(figure.axes[0].bbox.x0), :3], 2, 0)
    assert ((red > 190) & (green < 130) & (blue < 60)).any()
