"""The timing of paths: fastest motions within limits of speed, acceleration and jerk; tables for motors."""
