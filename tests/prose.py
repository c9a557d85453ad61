"""Finds sentences that are hard to read: long ones, and constructions that `CONTRIBUTING.md` bans."""

from __future__ import annotations

import ast
import re
import tokenize
from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import NamedTuple

LONGEST = 25  # words of a sentence
BANNED = {
    r"\b(?:is|are|was|were) to be\b": "say who does it",
    r"\bone's own\b": "name the owner",
    r"\bof one's\b": "name the owner",
    r"\bthat which\b": "say 'what', or name the thing",
    r"\bwhat that\b": "split the sentence",
    r"\bnone any ?more\b": "say what is gone",
    r"\b(?:nor|neither) (?:is|are|do|does|can|may)\b": "put the subject first",
    r"\bin place of which\b": "split the sentence",
    r"\bof which\b": "split the sentence",
    r"\bto wit\b": "leave it out",
}
# The core's headers still have some of these.
PARAPHRASES = {
    r"\bwhoever\b": "name the person or the process",
    r"\bforetell": "say 'predict'",
    r"\b(?:parted by|blanks? parts?|parts? words)\b": "say 'separate' or 'split'",
    r"\bcan mend\b|\bmends?\b": "say 'fix' or 'repair'",
    r"\bfor want of\b": "say 'without'",
    r"\bneed be\b": "say 'if needed'",
    r"\bneeds nothing from the network\b": "say 'self-contained'",
    r"\bof equals\b": "say 'ties go to'",
    r"\bbut for\b": "say 'except' or 'up to'",
    r", for (?:they|it|these|those)\b": "say 'because'",
    r"\b(?:has|have|had) not[.,;:)]": "say 'lacks'",
    r"\bcircles?\b": "say 'cycle'",
    r"\bwhat stands\b": "name the thing",
    r"\bglued of\b": "say 'composed of'",
    r"\bis none; expected\b": "say 'is not a'",
}
MARKUP = re.compile(r"`[^`]*`|!?\[([^\]]*)\]\([^)]*\)|[*_]{1,2}|<[^>]*>")
END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]?[A-Z0-9])")
LEXED = re.compile(
    r"""R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])'|//(?P<text>.*)"""
)  # strings and comments of C++
ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|et al|cf|vs|p|pp|eq|Fig|Dr|No|approx)\.$")


class Finding(NamedTuple):
    """A sentence that should be written again."""

    line: int
    sentence: str
    why: str


def sentences(text: str) -> Iterator[str]:
    """The sentences of a paragraph; code and links count as their shortest form."""
    plain = MARKUP.sub(lambda found: found.group(1) or ("Code" if found.group(0)[0] == "`" else ""), text)
    held = ""
    for part in END.split(" ".join(plain.split())) if plain.strip() else ():
        held = f"{held} {part}".strip()
        if not ABBREVIATION.search(held):
            yield held
            held = ""
    if held:
        yield held


def judged(paragraph: str, line: int, banned: Mapping[str, str] = BANNED | PARAPHRASES) -> Iterator[Finding]:
    """What is wrong with the sentences of a paragraph."""
    for sentence in sentences(paragraph):
        words = [word for word in sentence.split() if re.search(r"\w", word)]
        if len(words) > LONGEST:
            yield Finding(line, sentence, f"{len(words)} words; expected at most {LONGEST}")
        for pattern, advice in banned.items():
            if found := re.search(pattern, sentence, re.IGNORECASE):
                yield Finding(line, sentence, f"{found.group(0)!r}: {advice}")


def page(path: Path) -> list[Finding]:
    """The findings in a page of Markdown; tables, code and headings are left out."""
    out: list[Finding] = []
    held: list[str] = []
    begin, fenced = 1, False

    def flush() -> None:
        if held:
            out.extend(judged(" ".join(held), begin))
            held.clear()

    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        text = line.strip()
        if text.startswith(("```", ":::")):
            flush()
            fenced = not fenced
            continue
        indented = line.startswith("    ") and not held
        if fenced or indented or not text or text.startswith(("#", "|", "<", ">>>", "...", "![")):
            flush()
            continue
        if re.match(r"(?:[-*+]|\d+\.)\s", text):
            flush()
            text = re.sub(r"^(?:[-*+]|\d+\.)\s+", "", text)
        if not held:
            begin = number
        held.append(text)
    flush()
    return out


def items(paragraph: str) -> Iterator[str]:
    """The items of a list, or the paragraph itself; examples, tables and indented text are left out."""
    table = all(re.search(r"\S {2,}\S", line) for line in paragraph.splitlines())
    if not table and not paragraph.startswith((">>>", "    ")):
        yield from re.split(r"(?:^|\n)\s*(?:[-*]|\d+\.)\s", paragraph)


def docstrings(path: Path) -> list[Finding]:
    """The findings in the docstrings of a Python file; examples are left out."""
    out: list[Finding] = []
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node) or ""
            line = getattr(node, "lineno", 1)
            for paragraph in re.split(r"\n\s*\n", text):
                out.extend(one for item in items(paragraph) for one in judged(item, line))
    return out


def comments(path: Path) -> list[Finding]:
    """The findings in the comments of a Python file; a comment behind code stands alone."""
    out: list[Finding] = []
    held: list[str] = []
    begin, last = 1, -1
    for token in tokenize.generate_tokens(StringIO(path.read_text(encoding="utf-8")).readline):
        if token.type != tokenize.COMMENT:
            continue
        line, own = token.start[0], token.line.lstrip().startswith("#")
        if line != last + 1 or not own:
            out.extend(judged(" ".join(held), begin))
            held, begin = [], line
        held.append(token.string.lstrip("# "))
        last = line if own else -1
    out.extend(judged(" ".join(held), begin))
    return out


def cpp_comments(path: Path) -> list[Finding]:
    """The findings in the comments of a C++ file. Lines below each other, at one column, are a paragraph or list."""
    banned = BANNED if path.suffix == ".h" else BANNED | PARAPHRASES
    blocks: list[tuple[int, list[str]]] = []
    code = path.read_text(encoding="utf-8")
    last = (-1, -1)
    for found in LEXED.finditer(code):
        if found["text"] is None:
            continue
        line = code.count("\n", 0, found.start()) + 1
        begin = code.rfind("\n", 0, found.start()) + 1
        own = not code[begin : found.start()].strip()
        if not own or (line - 1, found.start() - begin) != last:
            blocks.append((line, []))
        blocks[-1][1].append(found["text"].removeprefix(" "))
        last = (line, found.start() - begin)
    paragraphs = ((line, part) for line, lines in blocks for part in re.split(r"\n\s*\n", "\n".join(lines)))
    prose = ((line, part) for line, part in paragraphs if not part.startswith("  "))  # code and tables are indented
    return [one for line, part in prose for item in items(part) for one in judged(item, line, banned)]


def messages(path: Path) -> list[Finding]:
    """The findings in the errors and warnings of a Python file, and in the help of its options; a value is a word."""
    out: list[Finding] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        told: list[ast.expr] = []
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            told = node.exc.args
        elif isinstance(node, ast.Call):
            called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            told = [keyword.value for keyword in node.keywords if keyword.arg == "help"]
            told += node.args[: {"option": 2, "required": 1, "say": 1, "warn": 1, "refuse": 1}.get(called, 0)]
        for one in told:
            parts = one.values if isinstance(one, ast.JoinedStr) else [one]
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in parts)
            out.extend(judged(text, one.lineno))
    return out
