"""Shared foundations of all other folders: errors, files and options."""
