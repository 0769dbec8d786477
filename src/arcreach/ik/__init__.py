"""Inverse kinematics: a target, one `solve`, and a module per method."""
