"""Paths through free space: `plan`, `follow`, `follow_the_leader`."""
