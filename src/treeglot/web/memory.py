"""Returns the memory of finished requests to the system."""

from __future__ import annotations

import asyncio

from treeglot.base.machine import give_back

SECONDS = 30.0


async def give_back_often(seconds: float = SECONDS) -> None:
    """At regular intervals, return free pages of finished requests to the system."""
    while True:
        await asyncio.sleep(seconds)
        await asyncio.to_thread(give_back)
