"""Errors, files, options: what every other folder uses."""
