"""Write a robot as MJCF, the format of MuJoCo: sections as chains of short links, tendons through sites.

A section has at least `links` rigid links with two hinges between neighbours, or one with `twist=True`. Each link has
the length of its arc. The first and the last hinges take half a link's bend, so that links are parallel to the chords:
tendons then have the pulls of `Robot.pulls` up to terms of third order in the bend of one link.
"""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

from arcreach._checks import refuse
from arcreach._extras import require
from arcreach._io import check_output, write_text
from arcreach._typing import Array
from arcreach.elements import Link, Prismatic, Revolute, Section, Tendon
from arcreach.elements.tendon import PULLS, PUSHES
from arcreach.errors import RobotError
from arcreach.files.exports.urdf import check_elements
from arcreach.robots.body_mesh import check_chain, radii_of
from arcreach.robots.robot import Robot
from arcreach.robots.tendon_curves import DISC

# Density of the body in kilograms per cubic metre, that of water: `Robot` defines no masses.
DENSITY = 1000.0
# Young's modulus in pascals of a section without a stiffness: a soft rubber.
MODULUS = 1e7
# Stiffness that replaces an infinite one of a tendon, as a multiple of its section's at the tendon's lever arm: about
# 1 % of a bend is lost. At 200, antagonistic push rods make the simulation unstable.
RIGID = 100.0
# Damping of sections and of tendons, as time constants of their springs in seconds. MuJoCo integrates damping
# implicitly and springs explicitly, which is stable for time constants above half a time step of 2 ms.
CREEP, TAUT = 0.02, 0.002
# A section joint's armature is its stiffness times the square of this time in seconds: without it, a stiff joint of a
# light link would accelerate beyond what MuJoCo accepts.
HEAVY = 0.001
# Time constant in seconds of a tendon's motor, which filters steps of its control.
MOTOR = 0.1
# Angular frequency of a joint's position controller in radians per second.
CONTROL = 20.0
# Thickness of a disc as a share of its radius.
DISC_THICKNESS = 0.1
# Replaces an infinite limit of a force in newtons or of a pull in metres.
NO_LIMIT = 1e9
COLOURS = ((0.0, 0.45, 0.7, 0.35), (0.9, 0.62, 0.0, 0.35), (0.0, 0.62, 0.45, 0.35), (0.8, 0.47, 0.65, 0.35))
STEEL, DRUM, CABLE = (0.66, 0.68, 0.71, 1.0), (0.35, 0.37, 0.4, 1.0), (0.1, 0.1, 0.1, 1.0)
# Largest number of links asked for per section; discs and kinks may add some.
MOST_LINKS = 200


def export_mjcf(robot: Robot, path: str | os.PathLike[str], *, links: int = 12) -> None:
    """Write a robot as MJCF (.xml), every section as a chain of at least `links` links. Needs the extra `mujoco`.

    The controls of the model are the pulls of the tendons in the order of `robot.tendons`, then the coordinates of the
    joints. The site `tip` is the tip, the keyframe `rest` the rest pose. Gravity is off: the masses are estimates.
    """
    check_output(path, (".xml",))
    write_text(path, mjcf_text(robot, links))


def mjcf_text(robot: Robot, links: int = 12) -> str:
    """Return the text of the file that `export_mjcf` writes."""
    check_chain(robot, "an MJCF file")
    if isinstance(links, bool) or not isinstance(links, (int, np.integer)) or not 1 <= links <= MOST_LINKS:
        raise refuse("mjcf", "links", links, f"a whole number from 1 to {MOST_LINKS}")
    accepted = "links, sections, revolute and prismatic joints"
    check_elements(robot, "MJCF", (Link, Revolute, Prismatic, Section), accepted)
    try:
        return str(_Model(robot, links).spec.to_xml())
    except ValueError as error:
        # A robot of tenths of a millimetre, for instance, has less inertia than MuJoCo accepts.
        raise RobotError(f"robot {robot.name!r} is refused by MuJoCo: {' '.join(str(error).split())}") from None


class _Model:
    """The specification of a model while it is built along the chain."""

    def __init__(self, robot: Robot, links: int) -> None:
        self.mujoco = require("mujoco")
        self.robot, self.links = robot, links
        self.spec = self.mujoco.MjSpec()
        self.spec.modelname = robot.name or "robot"
        self.spec.compiler.degree = False
        self.spec.option.gravity = [0.0, 0.0, 0.0]
        self.spec.option.integrator = self.mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        self.spec.worldbody.add_light(pos=[0.0, 0.0, 3.0 * robot.reach], castshadow=False)
        self.body, self.pose = self.spec.worldbody, np.eye(4)
        self.radii = radii_of(robot)
        self.sites: list[list[str]] = [[] for _ in robot.tendons]
        for e, (element, k) in enumerate(robot.indexed_elements()):
            name = robot.element_names[e]
            if isinstance(element, Section):
                self._add_section(e, element, k, name)
            elif isinstance(element, Link):
                self._add_link(element, self.radii[e])
            else:
                assert isinstance(element, (Revolute, Prismatic))
                self._add_joint(element, name, self.radii[e])
        self.body.add_site(name="tip", pos=self.pose[:3, 3], quat=self._quaternion(), size=[0.005 * robot.reach] * 3)
        self._add_tendons()
        self._add_actuators()

    def _quaternion(self) -> Array:
        quaternion = np.empty(4)
        self.mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(self.pose[:3, :3]).ravel())
        return quaternion

    def _enter(self, name: str) -> None:
        """Add a body at the current frame and continue in it."""
        self.body = self.body.add_body(name=name, pos=self.pose[:3, 3], quat=self._quaternion())
        self.pose = np.eye(4)

    def _add_link(self, link: Link, radius: float) -> None:
        after = np.eye(4)
        after[:3, :3], after[:3, 3] = link.rotation, link.translation
        start, self.pose = self.pose[:3, 3], self.pose @ after
        if radius > 0.0:
            self._add_capsule(start, self.pose[:3, 3], radius, STEEL)

    def _add_capsule(self, start: Array, end: Array, radius: float, colour: Any) -> None:
        """Add a capsule that collides with other objects, but not with the robot itself."""
        self.body.add_geom(
            type=self.mujoco.mjtGeom.mjGEOM_CAPSULE,
            fromto=[*start, *end],
            size=[radius, 0.0, 0.0],
            rgba=colour,
            mass=_mass(float(np.linalg.norm(end - start)), radius),
            contype=1,
            conaffinity=0,
        )

    def _add_cylinder(self, axis: Array, radius: float, half: float, colour: Any) -> None:
        """Add a drum or a disc at the current frame; nothing collides with it."""
        along = half * (self.pose[:3, :3] @ axis)
        self.body.add_geom(
            type=self.mujoco.mjtGeom.mjGEOM_CYLINDER,
            fromto=[*(self.pose[:3, 3] - along), *(self.pose[:3, 3] + along)],
            size=[radius, 0.0, 0.0],
            rgba=colour,
            mass=_mass(2.0 * half, radius),
            contype=0,
            conaffinity=0,
        )

    def _add_joint(self, joint: Revolute | Prismatic, name: str, radius: float) -> None:
        self._enter(name)
        self._add_cylinder(np.array(joint.axis), radius, radius, DRUM)
        turns = isinstance(joint, Revolute)
        kind = self.mujoco.mjtJoint.mjJNT_HINGE if turns else self.mujoco.mjtJoint.mjJNT_SLIDE
        continuous = math.isinf(joint.upper)
        limits = {} if continuous else {"range": [joint.lower, joint.upper]}
        self.body.add_joint(name=name, type=kind, axis=joint.axis, limited=not continuous, **limits)

    def _add_section(self, e: int, section: Section, k: int, name: str) -> None:
        """Add links, hinges at the planes where links begin and end, and the sites of tendons in those planes."""
        routes = list(self.robot.routes[self.robot.routes["coordinate"] == k])
        planes = _planes(self.links, routes, section)
        length, radius = section.length + 0.5 * section.stretch, self.radii[e]
        steps = np.diff(planes)
        weights = _bend_at(section, planes)
        colour = COLOURS[sum(isinstance(one, Section) for one in self.robot.elements[:e]) % len(COLOURS)]
        axes = [(0.0, 1.0, 0.0)] if section.twist else [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0)]
        for i, plane in enumerate(planes):
            if i == 0:
                self._add_sites(routes, e, i, plane)
            else:
                self.pose[:3, 3] += self.pose[:3, 2] * length * steps[i - 1]
            self._enter(f"{name}:{i}")
            if i == 0 and section.twist:
                # In the first link's body: MuJoCo refuses a moving body without mass.
                self.body.add_joint(name=name, type=self.mujoco.mjtJoint.mjJNT_HINGE, axis=[0.0, 0.0, 1.0])
            if i > 0 and section.stretch > 0.0:
                self._add_slide(section, f"{name}:{i}:z", steps[i - 1], length, radius)
            if weights[i] > 0.0:
                stiffness = _bending_stiffness(section, radius) / length / weights[i]
                # A bend towards x turns about y, one towards y about -x.
                rest = {(1.0, 0.0, 0.0): -section.rest_bend[1], (0.0, 1.0, 0.0): section.rest_bend[0]}
                # Two hinges in series also rotate about z, to second order; alternating their order cancels this.
                for axis in axes if i % 2 else axes[::-1]:
                    self.body.add_joint(
                        name=f"{name}:{i}:{'x' if axis[0] else 'y'}",
                        type=self.mujoco.mjtJoint.mjJNT_HINGE,
                        axis=axis,
                        springref=weights[i] * rest[axis],
                        **_spring(stiffness),
                    )
            if i > 0:
                self._add_sites(routes, e, i, plane)
            if i < len(steps):
                self._add_capsule(np.zeros(3), np.array([0.0, 0.0, length * steps[i]]), radius, colour)

    def _add_slide(self, section: Section, name: str, step: float, length: float, radius: float) -> None:
        stiffness = (section.axial_stiffness or MODULUS * math.pi * radius**2) / (length * step)
        half = 0.5 * section.stretch * step
        self.body.add_joint(
            name=name,
            type=self.mujoco.mjtJoint.mjJNT_SLIDE,
            axis=[0.0, 0.0, 1.0],
            limited=True,
            range=[-half, half],
            **_spring(stiffness),
        )

    def _add_sites(self, routes: list[Any], e: int, i: int, plane: float) -> None:
        """Add the sites of the tendons in a plane of section e, at the current frame, and the disc of the plane."""
        holes = [route for route in routes if _touches(int(route["discs"]), plane)]
        for route in holes:
            angle = route["angle"] + route["turn"] * plane
            hole = route["radius"] * np.array([math.cos(angle), math.sin(angle), 0.0])
            tendon = int(route["tendon"])
            name = f"{self.robot.tendons[tendon]}@{self.robot.element_names[e]}:{i}"
            self.body.add_site(name=name, pos=self.pose[:3, :3] @ hole + self.pose[:3, 3], size=[1e-4] * 3)
            self.sites[tendon].append(name)
        # The body at the far end of a section has no link: the disc gives it a mass.
        if plane == 1.0 or any(route["discs"] for route in holes):
            radius = max([DISC * float(route["radius"]) for route in routes], default=self.radii[e])
            self._add_cylinder(np.array([0.0, 0.0, 1.0]), radius, 0.5 * DISC_THICKNESS * radius, DRUM)

    def _add_tendons(self) -> None:
        for name, sites in zip(self.robot.tendons, self.sites, strict=True):
            tendon = self.spec.add_tendon(name=name, rgba=CABLE, width=0.0015 * self.robot.reach)
            for site in sites:
                tendon.wrap_site(site)

    def _add_actuators(self) -> None:
        """Add a pull actuator per tendon and a position actuator per joint, scaled by lengths and inertia at rest."""
        model = self.spec.compile()
        data = self.mujoco.MjData(model)
        joints = [
            (name, int(model.joint(name).qposadr[0]), k)
            for name, (element, k) in zip(self.robot.element_names, self.robot.indexed_elements(), strict=True)
            if not isinstance(element, (Link, Section))
        ]
        for _, address, k in joints:
            data.qpos[address] = self.robot.neutral[k]
        self.mujoco.mj_fwdPosition(model, data)
        number = 0
        for section, radius in zip(self.robot.elements, self.radii, strict=True):
            if not isinstance(section, Section):
                continue
            for tendon in section.tendons:
                name, length = self.robot.tendons[number], float(data.ten_length[number])
                self._add_pull(name, tendon, section, radius, length)
                number += 1
        for name, _, k in joints:
            controller = self.spec.add_actuator(name=name, target=name, trntype=self.mujoco.mjtTrn.mjTRN_JOINT)
            stiffness = CONTROL**2 * self._inertia(name)
            controller.set_to_position(kp=stiffness, kv=2.0 * stiffness / CONTROL)
            if not math.isinf(self.robot.upper[k]):
                controller.ctrllimited, controller.ctrlrange = True, [self.robot.lower[k], self.robot.upper[k]]
        start = [0.0] * number + [float(self.robot.neutral[k]) for *_, k in joints]
        self.spec.add_key(name="rest", qpos=data.qpos, ctrl=start)
        # Raises ValueError for anything that MuJoCo refuses.
        self.spec.compile()

    def _inertia(self, joint: str) -> float:
        """Return the mass that a slide moves, without discs, or a high estimate of the inertia about a hinge."""
        first = self.robot.element_names.index(joint)
        rest = list(zip(self.robot.elements, self.radii, strict=True))[first:]
        mass = sum(_mass(max(element.reach, 2.0 * radius), radius) for element, radius in rest)
        reach = sum(element.reach for element, _ in rest) + max(radius for _, radius in rest)
        return mass * (reach**2 if isinstance(self.robot.elements[first], Revolute) else 1.0)

    def _add_pull(self, name: str, tendon: Tendon, section: Section, radius: float, length: float) -> None:
        """Add an actuator whose control is a pull; its force is negative where it shortens the tendon."""
        stiffness = tendon.stiffness
        if math.isinf(stiffness):
            stiffness = RIGID * _bending_stiffness(section, radius) / section.reach / tendon.radius**2
        strongest = NO_LIMIT if math.isinf(tendon.force_max) else tendon.force_max
        lowest = 0.0 if tendon.transmits == PUSHES else -strongest
        highest = 0.0 if tendon.transmits == PULLS else strongest
        actuator = self.spec.add_actuator(
            name=name,
            target=name,
            trntype=self.mujoco.mjtTrn.mjTRN_TENDON,
            forcelimited=True,
            forcerange=[lowest, highest],
            gaintype=self.mujoco.mjtGain.mjGAIN_FIXED,
            biastype=self.mujoco.mjtBias.mjBIAS_AFFINE,
            dyntype=self.mujoco.mjtDyn.mjDYN_FILTEREXACT,
        )
        actuator.dynprm[0] = MOTOR
        actuator.gainprm[0] = -stiffness
        free = stiffness * (length + tendon.slack) - tendon.pretension
        actuator.biasprm[:2] = [free, -stiffness]
        # Damp the tendon, not the actuator, so that a slack tendon is damped too and does not bounce.
        self.spec.tendon(name).damping = [TAUT * stiffness, 0.0, 0.0]
        if not (math.isinf(tendon.pull_min) and math.isinf(tendon.pull_max)):
            actuator.ctrllimited = True
            actuator.ctrlrange = [max(tendon.pull_min, -NO_LIMIT), min(tendon.pull_max, NO_LIMIT)]


def _mass(length: float, radius: float) -> float:
    return DENSITY * math.pi * radius**2 * length


def _spring(stiffness: float) -> dict[str, float]:
    return {"stiffness": stiffness, "damping": CREEP * stiffness, "armature": HEAVY**2 * stiffness}


def _bending_stiffness(section: Section, radius: float) -> float:
    """Return EI in newton square metres."""
    return section.bending_stiffness or MODULUS * 0.25 * math.pi * radius**4


def _planes(links: int, routes: list[Any], section: Section) -> Array:
    """Return the planes at which links end, as shares of the length: equal steps, discs of all tendons, and kinks."""
    counts = {links} | {int(route["discs"]) for route in routes if route["discs"]}
    lengths, _ = _sub_arcs(section)
    kinks = np.cumsum(lengths)[lengths == 0.0]
    return np.array(sorted({round(share, 12) for share in [*kinks, *(k / n for n in counts for k in range(n + 1))]}))


def _touches(discs: int, plane: float) -> bool:
    """Return whether a tendon has a site in a plane: in a channel at every plane, with discs only at the discs."""
    return discs == 0 or abs(plane * discs - round(plane * discs)) < 1e-9


def _sub_arcs(section: Section) -> tuple[Array, Array]:
    """Return the shares of the length and of the bend of the sub-arcs; one without length is a kink."""
    lengths, bends = np.array(section.length_weights), np.array(section.bend_weights)
    return lengths / lengths.sum(), bends / bends.sum()


def _bend_at(section: Section, planes: Array) -> Array:
    """Return the share of the bend at each plane: half that of the links beside it, and all of a kink in it."""
    lengths, bends = _sub_arcs(section)
    ends = np.cumsum(lengths)
    smooth = np.cumsum(np.where(lengths > 0.0, bends, 0.0))
    of_links = np.diff(np.interp(planes, np.append(0.0, ends), np.append(0.0, smooth)))
    shares: Array = 0.5 * (np.append(of_links, 0.0) + np.append(0.0, of_links))
    for kink in np.flatnonzero(lengths == 0.0):
        shares[np.argmin(np.abs(planes - ends[kink]))] += bends[kink]
    return shares
