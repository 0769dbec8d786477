"""What moves the robot: animations, computed in a background process, and an operator's keys."""
