"""Memory that requests took and that is free again."""

from __future__ import annotations

import asyncio

from treeglot.base.machine import give_back

SECONDS = 30.0


async def give_back_often(seconds: float = SECONDS) -> None:
    """Give free pages back to the system again and again. Requests took them."""
    while True:
        await asyncio.sleep(seconds)
        await asyncio.to_thread(give_back)
