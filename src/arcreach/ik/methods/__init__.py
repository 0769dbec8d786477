"""The methods, one module for each or for a family; importing a module registers its methods."""

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
