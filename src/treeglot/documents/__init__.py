"""Translates documents in place: the text changes, and all else stays. Models have these functions as methods."""

from __future__ import annotations

__all__: list[str] = []
