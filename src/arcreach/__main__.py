"""`python -m arcreach`: the command line."""

from arcreach.cli import main

if __name__ == "__main__":
    main()
