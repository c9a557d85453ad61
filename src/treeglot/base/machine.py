"""The machine that this process runs on, and the memory that the process uses."""

from __future__ import annotations

import ctypes
import os
import platform
from pathlib import Path
from typing import Any

_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def machine() -> dict[str, Any]:
    """Describe this machine: its processor, its number of cores, its memory in bytes, and its operating system.

    >>> sorted(machine())
    ['cores', 'memory', 'processor', 'system']
    """
    return {
        "processor": _processor(),
        "cores": os.cpu_count() or 1,
        "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": f"{platform.system()} {platform.release()}",
    }


def _processor() -> str:
    described = Path("/proc/cpuinfo")
    if described.is_file():
        for line in described.read_text(errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()


class PeakMemory:
    """Measures the peak memory of this process since the object was created (on Linux only)."""

    def __init__(self) -> None:
        """Start measuring: reset the peak to the memory in use now."""
        try:
            _CLEAR.write_text("5")
            self._known = True
        except OSError:  # another system, or a process that may not
            self._known = False

    def bytes(self) -> int | None:
        """Return the peak in bytes, including mapped files, or None on systems that do not report it."""
        if not self._known:
            return None
        lines = _STATUS.read_text().splitlines()
        return next((1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), None)


def give_back() -> None:
    """Return free pages to the system. Without this, a process keeps its peak size.

    This calls a function of glibc. Other C libraries return free pages by themselves.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
