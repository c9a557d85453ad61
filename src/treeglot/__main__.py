"""`python -m treeglot` is `treeglot`."""

import sys

from treeglot.cli import main

if __name__ == "__main__":
    sys.exit(main())
