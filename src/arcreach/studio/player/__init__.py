"""Animations: what is computed in the background, and how it is played."""
