"""Kinematics and limits of a chain of elements, and its distance from a target."""
