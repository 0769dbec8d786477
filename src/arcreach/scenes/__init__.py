"""Obstacles, scenes, and how far a robot is from them."""
