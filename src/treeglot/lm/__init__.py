"""Language models over words and over dependencies."""
