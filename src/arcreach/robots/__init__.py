"""What a robot is: elements, the chain of them, and the robot given as a symbolic matrix."""
