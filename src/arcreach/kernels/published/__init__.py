"""Algorithms exactly as printed, errors included, for comparison with the corrected ones."""
