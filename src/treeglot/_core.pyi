"""The C++ core of Treeglot."""
