"""Draw docs/images/contact.png, contact-motion.png and grasp.png: planar scenes of the catalogue."""

from __future__ import annotations

from pathlib import Path

import arcreach as ar
from arcreach.figures import contact, contact_motion, grasp, save
from arcreach.files import load_planar_scene

IMAGES = Path(__file__).parents[1] / "images"


def main() -> None:
    plans = {}
    for name in ("slalom", "pocket", "wedge"):
        scene = load_planar_scene(name)
        plans[name] = ar.plan_contact(
            scene.robot, scene.target, scene.obstacles, scene.contacts, bend_radius=scene.bend_radius
        )
    save(contact(plans), IMAGES / "contact.png")
    save(contact_motion(plans["slalom"][0]), IMAGES / "contact-motion.png")
    scene = load_planar_scene("grasp-one")
    found = ar.plan_grasp(scene.robot, scene.object, scene.obstacles, bend_radius=scene.bend_radius)
    save(grasp(found[0], title="one section"), IMAGES / "grasp.png")


if __name__ == "__main__":
    main()
