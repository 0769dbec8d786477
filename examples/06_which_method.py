"""Compare all methods that accept a robot on the same targets, checked by forward kinematics."""

import sys
import tempfile
from pathlib import Path

import arcreach as ar

TARGETS = 100


def main(folder="build/examples"):
    robot = ar.load_robot("mixed-sections")
    try:
        from arcreach.experiments import Run, find_experiment, run_experiment

        compare = find_experiment("compare")
        with tempfile.TemporaryDirectory() as rows:
            run_experiment("compare", compare.settings(TARGETS, robot=robot), rows)
            summaries = Run(rows).summaries
    except ar.MissingExtraError as error:
        print(error)
        return
    print(f"{robot}, {TARGETS} targets of each kind")
    for case in dict.fromkeys(one.case for one in summaries):
        print(f"\n{case}:")
        of_case = [one for one in summaries if one.case == case]
        of_auto = next(one for one in of_case if one.method == "auto").median_time
        for one in sorted(of_case, key=lambda one: (-one.reached / one.count, one.median_time))[:5]:
            times = one.median_time / of_auto
            print(
                f"  {one.method:24} {100 * one.reached / one.count:6.1f} % reached, {times:8.1f} times the time of auto"
            )
    save_picture(Path(folder), [one for one in summaries if one.case == "axis, fine" and one.reached])


def save_picture(folder, summaries):
    """Draw the share of targets that each method reaches, and its median time per target."""
    picture = folder / "06_which_method.png"
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        print("pictures need matplotlib: pip install 'arcreach[figures]'")
        return
    matplotlib.rcParams.update({"font.size": 8, "axes.spines.top": False, "axes.spines.right": False})
    figure = Figure(figsize=(7.16, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    shown = sorted(summaries, key=lambda one: one.reached / one.count)
    shares = [100 * one.reached / one.count for one in shown]
    names = [one.method for one in shown]
    left.barh(names, shares, color="#0072B2")
    left.set_xlabel("reached (%)")
    right.plot([one.median_time * 1e6 for one in shown], names, "o", color="#D55E00")
    right.set_xscale("log")
    right.set_xlabel("median time of a target (µs)")
    figure.suptitle("mixed-sections: position and axis, within 1 µm and 1 mrad")
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(picture, dpi=300)
    print(f"\npicture: {picture}")


if __name__ == "__main__":
    main(*sys.argv[1:])
