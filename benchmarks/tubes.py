"""Follow waypoints into six tubes without collision: points reached, clearance at and between points, milliseconds.

    python benchmarks/tubes.py

The robot is inserted-three-section, with 13 waypoints for each tube of the catalogue. `sampled` is the smallest
distance of 400 configurations along the path, by sampling the body; it must not be below the certified clearance. The
second table solves the same waypoints one by one with the walls as spheres: by `fabrikx` without avoidance, with
corrected avoidance, with avoidance as printed, and by `auto`. The thesis reports 0.27 s for its path.
"""

import time

import numpy as np

import arcreach as ar
from arcreach.files import catalogue_waypoints
from arcreach.planning.motion.motion_check import motion_between
from arcreach.scenes.tubes import covering_balls

TUBES = ("tube-offset", "tube-angled", "tube-curved", "tube-side", "tube-angled-3d", "tube-curved-3d")
TOLERANCES = {"position_tol": 1e-5, "angle_tol": 1e-2}


def sampled_clearance(robot, path, scene, points=400):
    """Return the smallest distance of the body from the walls, by sampling."""
    radius = robot.elements[-1].radius
    least = np.inf
    for q in motion_between(robot, path.q, points):
        body = robot.backbone(q, 150)
        for wall in scene:
            a, b = np.array(wall.a), np.array(wall.b)
            share = np.clip((body - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
            distance = np.linalg.norm(body - a - share[:, None] * (b - a), axis=1).min()
            least = min(least, distance - wall.radius - radius)
    return least


def follow_all(robot):
    print(f"{'tube':16} {'asked':9} {'reached':>8} {'certified mm':>13} {'sampled mm':>11} {'ms':>7}")
    for name in TUBES:
        scene, waypoints = ar.load_scene(name), catalogue_waypoints(name)
        for asked in ("axis", "position"):
            axes = waypoints[:, 3:] if asked == "axis" else None
            began = time.perf_counter()
            path = ar.follow(robot, waypoints[:, :3], axes=axes, scene=scene, **TOLERANCES)
            milliseconds = (time.perf_counter() - began) * 1e3
            reached = int(path.reached_points[path.waypoint >= 0].sum())
            free, sampled = path.clearance.min() * 1e3, sampled_clearance(robot, path, scene) * 1e3
            print(f"{name:16} {asked:9} {reached:4d}/13 {free:13.4f} {sampled:11.4f} {milliseconds:7.1f}", flush=True)


def printed_formulas(robot):
    print(f"\n{'tube':16} {'fabrikx alone':>14} {'around':>8} {'as printed':>11} {'auto':>6}   of 13 positions, free")
    for name in TUBES:
        scene, waypoints = ar.Scene(covering_balls(ar.load_scene(name))), catalogue_waypoints(name)
        shares = []
        for method, options in (("fabrikx", None), ("fabrikx", "corrected"), ("fabrikx", "published"), ("auto", None)):
            reached = 0
            q = None
            for point in waypoints[:, :3]:
                target = ar.Target(point)
                if options is None and method == "fabrikx":
                    found = ar.solve(robot, target, method, start=q, **TOLERANCES)
                    ok = found.reached and ar.clearance(robot, found.q, scene) >= 0.0
                else:
                    extra = {} if options is None else {"avoidance": options}
                    found = ar.solve(robot, target, method, start=q, scene=scene, **TOLERANCES, **extra)
                    ok = found.reached
                reached += bool(ok)
                q = found.q if ok else q
            shares.append(reached)
        print(f"{name:16} {shares[0]:14d} {shares[1]:8d} {shares[2]:11d} {shares[3]:6d}", flush=True)


if __name__ == "__main__":
    arm = ar.load_robot("inserted-three-section")
    ar.follow(arm, [[0.0, 0.0, 0.12]], scene=ar.load_scene("tube-offset"), **TOLERANCES)
    follow_all(arm)
    printed_formulas(arm)
