"""Obstacles, scenes, and the clearance of a robot from them."""
