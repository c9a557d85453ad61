"""Run `treeglot` as `python -m treeglot`."""

import sys

from treeglot.cli import main

if __name__ == "__main__":
    sys.exit(main())
