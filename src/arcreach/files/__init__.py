"""Robot files, the catalogue of known robots, and URDF."""
