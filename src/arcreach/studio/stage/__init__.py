"""The 3D scene: the robot, its target, obstacles, cameras, and the scene as a file."""
