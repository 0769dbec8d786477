"""Reports of runs: tables, figures, and verdicts on the published numbers."""
