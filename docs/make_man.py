"""Makes man pages from docs/commands.md and docs/cli.md: python docs/make_man.py FOLDER VERSION

The build of a wheel runs it, so it needs the standard library alone. `treeglot.1` has what all commands share, and
`treeglot-COMMAND.1` has one command.
"""

from __future__ import annotations

import html
import re
import sys
from collections.abc import Iterator
from pathlib import Path

DOCS = Path(__file__).parent
STAGE = re.compile(r"^## (.*)$", re.MULTILINE)
COMMAND = re.compile(r"^### `treeglot ([a-z -]+)`$", re.MULTILINE)
ROW = re.compile(r"^\| `(.*)` \|(.*)\|$")
ENVIRONMENT = {
    "NO_COLOR": "Print no colours.",
    "TREEGLOT_LONGEST_LINE": "The longest line or record of a text file, in bytes (64 MiB).",
    "TREEGLOT_TRUST_PARSERS": "1: open parsers in models' folders whose files may run code.",
    "XDG_CACHE_HOME": "Where treeglot serve --demo keeps its models (~/.cache).",
}


def pages(commands: str, cli: str, version: str) -> dict[str, str]:
    """The text of each man page by its file's name."""
    first, *stages = _parts(STAGE, commands)[1:]
    made: dict[str, str] = {}
    lines = [".SH COMMANDS"]
    for stage, text in stages:
        lines.append(f".SS {_plain(stage)}")
        for path, body in _parts(COMMAND, text)[1:]:
            name = f"treeglot-{path.replace(' ', '-')}"
            usage, summary, *rest = [block.strip() for block in body.strip().split("\n\n")]
            made[f"{name}.1"] = _page(name, summary, usage, rest, version)
            lines += [".TP", f"\\fBtreeglot {_plain(path)}\\fR", _plain(summary)]
    lines += [".SH OPTIONS", *_rows(first[1]), *_shared(cli), ".SH ENVIRONMENT"]
    for name, text in ENVIRONMENT.items():
        lines += [".TP", f".B {name}", _plain(text)]
    lines += [".SH SEE ALSO", ", ".join(f"\\fB{name[:-2]}\\fR(1)" for name in made)]
    top = _head("treeglot", "translate with syntax", "treeglot COMMAND [OPTIONS]", version)
    return {"treeglot.1": "\n".join([*top, *lines]) + "\n", **made}


def _page(name: str, summary: str, usage: str, rest: list[str], version: str) -> str:
    lines = [*_head(name, summary, usage, version), ".SH DESCRIPTION", _plain(summary)]
    for block in rest:
        if title := re.fullmatch(r"\*\*(.*)\*\*", block):
            lines.append(f".SH {_plain(title[1]).upper()}")
        elif block.startswith("|"):
            lines += _rows(block)
        else:
            lines += [".PP", _plain(block)]
    lines += [".SH SEE ALSO", "\\fBtreeglot\\fR(1) has the options and exit codes of all commands."]
    return "\n".join(lines) + "\n"


def _head(name: str, summary: str, usage: str, version: str) -> list[str]:
    summary = re.split(r"[.:] ", summary)[0].rstrip(".")
    title = f'.TH {_plain(name).upper()} 1 "" "treeglot {version}" "Treeglot"'
    return [title, ".SH NAME", f"{_plain(name)} \\- {_plain(summary)}", ".SH SYNOPSIS", _plain(usage)]


def _rows(block: str) -> Iterator[str]:
    """The rows of a table as a list of terms."""
    for line in block.splitlines():
        if row := ROW.match(line):
            yield from (".TP", f"\\fB{_plain(row[1])}\\fR", _plain(row[2].strip()))


def _shared(cli: str) -> Iterator[str]:
    """What holds for all commands, by docs/cli.md."""
    text = next(text for title, text in _parts(STAGE, cli)[1:] if title == "What holds for all of them")
    for title, body in re.findall(r"^- \*\*(.*?)\*\*:?(.*?)(?=^- |\Z)", text, re.MULTILINE | re.DOTALL):
        body = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", body)
        subject = "" if re.match(r"\s+[`A-Z0-9]", body) else title
        yield from (f".SH {_plain(title).upper()}", _plain(f"{subject}{body}"))


def _parts(heading: re.Pattern[str], text: str) -> list[tuple[str, str]]:
    """The text before the first heading, then each heading with the text below it."""
    first, *rest = heading.split(text)
    return [("", first), *zip(rest[::2], rest[1::2], strict=True)]


def _plain(text: str) -> str:
    """Text as roff: no markup of Markdown, and no line that begins with a dot or a quote."""
    text = html.unescape(" ".join(text.split())).replace("\\|", "|").replace("\\*", "*")
    text = text.replace("`", "").replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{text}" if text.startswith((".", "'")) else text


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    texts = ((DOCS / name).read_text(encoding="utf-8") for name in ("commands.md", "cli.md"))
    for file, made in pages(*texts, version=sys.argv[2]).items():
        (folder / file).write_text(made, encoding="utf-8")
