"""``python -m onkel``: the command line."""

from onkel.cli import main

main()
