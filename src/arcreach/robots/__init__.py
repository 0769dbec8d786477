"""Robots: the chain of elements, and the robot given as a symbolic matrix."""
