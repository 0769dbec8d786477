"""Comparisons of methods that no source has published: on the arms of the catalogue and on a robot of the user."""
