"""Inverse kinematics by arcreach and by its peers: the same arms, targets and starts, judged by one outsider."""
