"""Memory that requests took and that is free again."""

from __future__ import annotations

import asyncio
import ctypes

SECONDS = 30.0


def give_back() -> None:
    """Give free pages back to the system. Without this, a process stays as large as its largest requests made it.

    This is a call of glibc; other C libraries do it by themselves.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


async def give_back_often(seconds: float = SECONDS) -> None:
    """Do so again and again."""
    while True:
        await asyncio.sleep(seconds)
        await asyncio.to_thread(give_back)
