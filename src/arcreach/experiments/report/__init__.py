"""Reports of finished runs: tables, figures and verdicts beside the published numbers."""
