"""Animations: computed in a background process, and played on the stage."""
