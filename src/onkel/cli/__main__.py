"""``python -m onkel.cli``: the command line without its script."""

from onkel.cli import main

if __name__ == "__main__":
    main()
