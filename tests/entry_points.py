"""Packages with entry points, as pip leaves them."""

from collections.abc import Mapping
from pathlib import Path


def install_entry_points(folder: Path, groups: Mapping[str, Mapping[str, str]], package: str = "package") -> None:
    """Puts what pip writes of a package's entry points into a folder of the path."""
    facts = folder / f"{package}-0.1.dist-info"
    facts.mkdir()
    facts.joinpath("METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 0.1\n")
    lines = [f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in names.items()) for group, names in groups.items()]
    facts.joinpath("entry_points.txt").write_text("\n".join(lines))
