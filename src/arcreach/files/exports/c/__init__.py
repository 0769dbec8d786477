"""Write a robot as a standalone C99 solver, and load such a solver back into Python."""
