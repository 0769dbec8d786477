"""The methods, one module for each or for a family; importing a module registers its methods."""

# The module of each method: a method is imported at its first use, because importing all takes longer than a solve.
MODULES = {
    "auto": "auto",
    "ccd": "ccd",
    "chords": "chords",
    "dls": "jacobian_family",
    "fabrikc": "fabrikc",
    "fabrikx": "fabrikx",
    "finite-rotation": "finite_rotation",
    "hierarchical": "hierarchical",
    "jacobian": "jacobian",
    "jacobian-transpose": "jacobian_family",
    "lm": "jacobian_family",
    "portfolio": "portfolio",
    "sdls": "jacobian_family",
    "single-section": "single_section",
    "svd-dls": "jacobian_family",
}
