"""Planar bodies that lean on obstacles or grasp an object."""
