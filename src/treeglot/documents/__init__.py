"""Translates documents. The text changes, and everything else stays. Models have these functions as methods."""

from __future__ import annotations

__all__: list[str] = []
