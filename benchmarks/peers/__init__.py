"""Compare arcreach with other packages on the same arms, targets and starts, checked by independent kinematics."""
