"""The 3D scene: the robot, its target, obstacles and cameras."""
