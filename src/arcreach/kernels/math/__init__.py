"""Rigid motions, trigonometry and small matrices."""
