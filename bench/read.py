"""Reading trees, forests, alignments and text: CPU time of one core.

The folder has `train.zh.forest.xz`, `train.zh.tree.xz`, `train.en.tree.xz`, `train.gdfa` and `train.zh`. The first
`--sentences` records of each are read twice: from decompressed bytes in memory, and as a user would, from the file.
"""

import argparse
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from record import add_option, column, record

from treeglot.base.files import read_chunks
from treeglot.syntax import FORMATS, read
from treeglot.syntax.formats import find_format

FILES = {
    "train.zh.forest.xz": None,
    "train.zh.tree.xz": None,
    "train.en.tree.xz": None,
    "train.gdfa": None,
    "train.zh": "text",
}


def first(path: Path, name: str, sentences: int) -> list[bytes]:
    """The chunks that hold the first `sentences` records, cut after the last of them; all of them if 0."""
    chunks = list(read_chunks(path))
    if sentences == 0:
        return chunks
    data = b"".join(chunks)
    if name == "egret":
        end = data.find(b"\nsentence %d :\n" % (sentences + 1)) + 1
    else:
        end = 0
        for _ in range(sentences):
            end = data.find(b"\n", end) + 1
    data = data[: end or len(data)]
    return [data[i : i + (1 << 20)] for i in range(0, len(data), 1 << 20)]


def parsed(chunks: list[bytes], name: str) -> Iterator[object]:
    reader = FORMATS[name].open_reader("memory", False, {})
    for chunk in chunks:
        yield from reader.feed(chunk)
    yield from reader.finish()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sentences", type=int, default=10_000, help="0 for all")
    add_option(parser)
    arguments = parser.parse_args()
    rows = []
    print(f"{'file':20} {'records':>8} {'MB':>7} {'from memory':>12} {'MB/s':>6} {'from file':>10}")
    total = 0.0
    for file, format in FILES.items():
        path = arguments.folder / file
        name = find_format(path, format).name
        chunks = first(path, name, arguments.sentences)
        size = sum(map(len, chunks)) / 1e6
        memory = []
        for _ in range(3):
            start = time.process_time()
            count = sum(1 for _ in parsed(chunks, name))
            memory.append(time.process_time() - start)
        start = time.process_time()
        assert sum(1 for _ in islice(read(path, format), arguments.sentences or None)) == count
        from_file = time.process_time() - start
        total += from_file
        best = min(memory)
        print(f"{file:20} {count:8} {size:7.1f} {best:10.3f} s {size / best:6.0f} {from_file:8.3f} s")
        rows.append([file, count, size, best, size / best, from_file])
    print(f"all, from files: {total:.2f} s")
    columns = [column("file"), column("records"), column("size, MB", 1), column("from memory, s", 3)]
    record(arguments.json, [*columns, column("from memory, MB/s"), column("from file, s", 2)], rows)


if __name__ == "__main__":
    main()
