"""Distances between bodies and obstacles."""
