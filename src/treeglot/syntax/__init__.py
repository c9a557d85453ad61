"""Trees, forests, dependencies and alignments, and the formats they are kept in."""
