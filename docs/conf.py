"""The documentation site: `sphinx-build -W -b html docs site`."""

import re
from pathlib import Path
from typing import Any

project = "Treeglot"
author = "The Treeglot maintainers"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
myst_heading_anchors = 4
html_theme = "furo"
html_title = "Treeglot"
# Pages of the site that files outside of this folder hold.
ELSEWHERE = {"measured": "bench/RESULTS.md", "changes": "CHANGELOG.md", "contributing": "CONTRIBUTING.md"}
TOP = Path(__file__).parent.parent


def _read(app: Any, name: str, source: list[str]) -> None:
    """Take pages from where they are, and point links at the site's pages."""
    folder = TOP / "docs" / name
    if name in ELSEWHERE:
        folder = TOP / ELSEWHERE[name]
        source[0] = folder.read_text(encoding="utf-8")
        app.env.note_dependency(str(folder))  # the page is made again when the file changes
    pages = {(TOP / path).resolve(): f"/{page}.md" for page, path in ELSEWHERE.items()}

    def here(found: re.Match[str]) -> str:
        path = (folder.parent / found[2]).resolve()
        if path in pages:
            return f"{found[1]}{pages[path]}{found[3]}"
        if name in ELSEWHERE and path.exists():
            inside = path.is_relative_to(TOP / "docs")
            return f"{found[1]}{'/' if inside else '../'}{path.relative_to(TOP / 'docs' if inside else TOP)}{found[3]}"
        return found[0]

    source[0] = re.sub(r"(\]\()([^)#:\s]+)((?:#[^)]*)?\))", here, source[0])


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("source-read", _read)
