"""Motion: paths that a robot follows."""
