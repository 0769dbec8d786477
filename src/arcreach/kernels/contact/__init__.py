"""Bodies that touch: arcs tangent to obstacles, and elastic rods."""
