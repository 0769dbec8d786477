"""Parts that figures share: canvas, tubes and tendons of bodies, planar scenes, and the theme."""
