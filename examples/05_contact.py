"""Plan motions of one section that leans on obstacles, check them with an elastic rod, and plan a grasp."""

import sys
from pathlib import Path

import arcreach as ar
from arcreach.files import load_planar_scene


def main(folder="build/examples"):
    plans = {}
    for name in ("slalom", "pocket", "wedge"):
        scene = load_planar_scene(name)
        plans[name] = ar.plan_contact(
            scene.robot, scene.target, scene.obstacles, scene.contacts, bend_radius=scene.bend_radius
        )
        print(f"{name}: {plans[name]}\n")

    scene = load_planar_scene("clutter")
    found = ar.plan_contact(scene.robot, scene.target, scene.obstacles, bend_radius=scene.bend_radius, max_solutions=1)
    contacts = len(found[0].contacts)
    print(f"clutter of {len(scene.obstacles)}: a path with {contacts} contacts in {found.seconds * 1e3:.1f} ms\n")

    scene = load_planar_scene("grasp-two")
    try:
        grasps = ar.plan_grasp(scene.robot, scene.object, scene.obstacles)
    except ar.MissingExtraError as error:
        print(error)
        return
    print(grasps)
    save_pictures(Path(folder), plans, grasps[0])


def save_pictures(folder, plans, plan):
    try:
        from arcreach.figures import contact, grasp, save

        folder.mkdir(parents=True, exist_ok=True)
        save(contact(plans), folder / "05_contact.png")
        save(grasp(plan, title="two sections"), folder / "05_contact_grasp.png")
    except ar.MissingExtraError as error:
        print(error)
        return
    print(f"\npictures: {folder / '05_contact.png'}, {folder / '05_contact_grasp.png'}")


if __name__ == "__main__":
    main(*sys.argv[1:])
