"""One module per method, or per family of them; importing one registers what it declares."""

MODULES = (
    "auto",
    "ccd",
    "chords",
    "fabrikc",
    "fabrikx",
    "finite_rotation",
    "hierarchical",
    "jacobian",
    "jacobian_family",
    "portfolio",
    "single_section",
)
