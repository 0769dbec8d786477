"""Robots and paths written for other programs."""
