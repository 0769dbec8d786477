"""Run an experiment block by block and store its rows."""
