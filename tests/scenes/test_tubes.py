import numpy as np

from arcreach.scenes.tubes import covering_balls, tube


def test_balls_cover_the_walls_and_little_more():
    walls = tube([[0, 0, 0], [0, 0, 0.02], [0.004, 0, 0.04]], 0.007, 0.002, sides=2)
    balls = covering_balls(walls)
    rng = np.random.default_rng(0)
    points = rng.uniform((-0.02, -0.01, -0.01), (0.03, 0.01, 0.05), (4000, 3))
    to_walls = np.min([wall_distance(points, wall) for wall in walls], axis=0)
    to_balls = np.min([np.linalg.norm(points - ball.centre, axis=1) - ball.radius for ball in balls], axis=0)
    # Nothing of the walls sticks out, and the balls reach beyond them by at most 3.1 % of the radius.
    assert (to_balls[to_walls <= 0.0] <= 1e-12).all()
    assert (to_walls[to_balls <= 0.0] <= 0.0311 * 0.002).all()


def wall_distance(points, wall):
    a, b = np.array(wall.a), np.array(wall.b)
    share = np.clip((points - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
    return np.linalg.norm(points - a - share[:, None] * (b - a), axis=1) - wall.radius
