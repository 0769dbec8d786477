"""The panels of the page: each shows a part of the state and handles the events of its inputs."""
