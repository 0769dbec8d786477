"""Run experiments block by block, store their rows and read them back."""
