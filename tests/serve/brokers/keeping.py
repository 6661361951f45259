"""``onkel`` with a journal that keeps all cuts, so that a test can take them again."""

from onkel.cli import main
from onkel.serve.journal import Journal

Journal.forget = lambda self, number: None  # type: ignore[method-assign]

if __name__ == "__main__":
    main()
