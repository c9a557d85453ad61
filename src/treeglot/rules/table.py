"""Compiles a rule table into the file that the decoder maps into memory."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from treeglot._core import RuleTable, RuleTableBuilder
from treeglot.base.errors import FormatError, UsageError
from treeglot.base.files import PathLike
from treeglot.base.later import Later
from treeglot.base.opening import opening
from treeglot.base.options import Options, option, unknown
from treeglot.rules.columns import Buffers, buffers_of, reading

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa
else:
    np = Later("numpy")

ROWS = 1 << 16
MEMORY = 2 << 30
TEXT = ("lhs", "source", "target", "alignment", "labels", "structure")
OPTIONAL = ("alignment", "labels", "structure")
PROBABILITIES = ("p_", "lex_")  # prefixes of columns whose natural logarithms are features


@dataclass(frozen=True)
class CompileOptions(Options):
    """Options that select which parts of a rule table become features of the compiled table."""

    features: tuple[str, ...] = option(
        ("p_target_given_source", "p_source_given_target", "lex_target_given_source", "lex_source_given_target"),
        "columns of numbers (of probabilities, p_… and lex_…, the natural logarithm), or x=v: 1 where column x is v",
    )
    indicators: tuple[str, ...] = option((), "columns of text: a value v of column x becomes the feature x=v")
    max_scope: int = option(
        -1,
        "leave out rules with a greater scope, n^scope matches on n words (Hopkins and Langmead 2010)",
        least=0,
        unlimited=True,
    )
    shapes: bool = option(False, "how words and variables alternate becomes a feature, such as shape=w1w2→2w1")
    word_pairs: int = option(
        0, "most frequent words of each side whose linked pairs become features, pair=f→e", least=0
    )
    unlinked: int = option(
        0,
        "most frequent words of each side with features for missing links, delete=f and insert=e; others share "
        "delete and insert; 0: no such features",
        least=0,
    )

    @property
    def words(self) -> bool:
        """Whether features depend on the most frequent words, which are known only after the last rule."""
        return self.word_pairs > 0 or self.unlinked > 0

    def check(self, numbers: Collection[str], text: Collection[str]) -> None:
        """Refuse columns that the rule table lacks. Its numeric and its text columns are given.

        >>> CompileOptions(features=("count", "source")).check(["count"], ["source", "lhs"])
        Traceback (most recent call last):
        treeglot.base.errors.UsageError: features: column 'source' has text; expected numbers, or source=VALUE
        """
        for name, columns in (("features", self.features), ("indicators", self.indicators)):
            for column in columns:
                plain, equals, _ = column.partition("=") if name == "features" else (column, "", "")
                if plain not in {*numbers, *text}:
                    raise UsageError(f"{name}: {unknown('column', plain, [*numbers, *text])}", (name,))
                if name == "features" and plain in text and not equals:
                    problem = f"column {plain!r} has text; expected numbers, or {plain}=VALUE"
                    raise UsageError(f"{name}: {problem}", (name,))


@dataclass(frozen=True)
class Compiled:
    """The result of compiling: the number of rules, and how many were left out."""

    rules: int
    left_out: int  # rules with a side of more than 255 symbols
    too_wide: int  # rules with a greater scope than was asked for
    crossing: int  # rules whose structures have cycles or arcs that cross
    size: int  # of the file, in bytes
    spilled: int  # bytes that went through the disk because they did not fit into memory


class TableMaker:
    """Builds a compiled table from batches of rows. `file` is the name of the rule table that they come from."""

    def __init__(
        self, options: CompileOptions, schema: pa.Schema, file: str, path: PathLike, memory: int = MEMORY, row: int = 1
    ) -> None:
        """Create a builder for rows with the columns of `schema`.

        The table is written to `path`, and data that exceeds `memory` goes to files beside it. In messages, the first
        row has the number `row`.
        """
        import pyarrow as pa

        known = set(schema.names)
        self.options, self.file = options, file
        self.text_columns = [c for c in TEXT if c in known or c not in OPTIONAL]
        self.feature_columns = [*(f.partition("=")[0] for f in options.features), *options.indicators]
        for column in self.columns:
            if column not in known:
                raise FormatError(file, 0, unknown("column", column, known))
        words = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_dictionary)
        of_words = {field.name for field in schema if any(test(field.type) for test in words)}
        try:
            options.check(known - of_words, of_words)
        except UsageError as error:
            raise FormatError(file, 0, str(error)) from error
        self._path = Path(path)
        self.builder = RuleTableBuilder(list(options.features), memory, str(self._path.parent))
        self.builder.label("X")  # what unknown words are, whether or not a rule is
        if options.max_scope >= 0:
            self.builder.limit_scope(options.max_scope)
        if options.shapes:
            self.builder.expand(True, [], [])
        self._row, self.left_out = row, 0

    @property
    def columns(self) -> list[str]:
        """The columns that the rows need for these options."""
        return list(dict.fromkeys([*self.text_columns, *self.feature_columns]))

    def know_words(self, source: list[str], target: list[str]) -> None:
        """Set the most frequent words, in order. Some features have these words in their names."""
        pairs, alone = self.options.word_pairs, self.options.unlinked
        unlinked = (source[:alone], target[:alone]) if alone else None
        self.builder.expand(self.options.shapes, source[:pairs], target[:pairs], unlinked)

    def know_codes(self, source_words: list[str], target_words: list[str], labels: list[str]) -> None:
        """Set the words and labels that the numbers in codes stand for."""
        self.builder.know_codes(source_words, target_words, labels)

    def add(self, batch: pa.RecordBatch, codes: Sequence[Buffers] = ()) -> None:
        """Add rows. With `codes`, only features are read from text; sides, alignment and labels come from the codes."""
        dense = [_numbers(batch, column) for column in self.options.features]
        indicators = [(c, self._text(batch, c, always=True)) for c in self.options.indicators]
        if codes:
            self.left_out += self.builder.add_coded_rows(self.file, self._row, list(codes), dense, indicators)
        else:
            text = [self._text(batch, column) for column in TEXT]
            self.left_out += self.builder.add_rows(self.file, self._row, text, dense, indicators)
        self._row += batch.num_rows

    def finish(self) -> Compiled:
        """Write the table of all rows that were added."""
        too_wide, crossing = self.builder.left_out_by_scope, self.builder.left_out_by_structure
        rules, size, spilled = self.builder.write(str(self._path))
        return Compiled(rules, self.left_out, too_wide, crossing, size, spilled)

    def _text(self, batch: pa.RecordBatch, column: str, always: bool = False) -> Buffers:
        """Return the buffers of a text column.

        If the column is missing or contains only nulls, the buffers are empty, unless it must `always` have text.
        """
        import pyarrow as pa

        if column not in batch.schema.names:
            return no_rows()
        array = batch[column]
        if array.null_count == len(array) and column in OPTIONAL and not always:
            return no_rows()
        if array.null_count:
            place = self._row + array.is_null().index(True).as_py()
            raise FormatError(self.file, place, f"there is no {column}; expected text")
        return buffers_of(array.cast(pa.string()))


def compile_table(
    rules: PathLike, path: PathLike, options: CompileOptions | None = None, *, memory: int = MEMORY
) -> Compiled:
    """Compile the rule table `rules` (Parquet) into `path`. Rules beyond `memory` bytes are sorted on disk beside it.

    The table does not depend on `memory`.
    """
    import pyarrow.parquet as pq

    options = options or CompileOptions()
    with reading(rules), pq.ParquetFile(rules) as file:
        maker = TableMaker(options, file.schema_arrow, str(rules), path, memory)
        if options.words:
            maker.know_words(*frequent_words(rules, max(options.word_pairs, options.unlinked)))
        for batch in _ahead(file.iter_batches(ROWS, columns=maker.columns)):
            maker.add(batch)
    return maker.finish()


def frequent_words(rules: PathLike, number: int) -> tuple[list[str], list[str]]:
    """Return the words that most often are a rule by themselves, in the rule table `rules`, for each side."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    def one_word(column: str) -> list[str]:
        table = pq.read_table(rules, columns=[column, "variables", "occurrences"], filters=[("variables", "=", 0)])
        text = table[column].cast(pa.string())
        alone = pc.invert(pc.or_(pc.match_substring(text, " "), pc.equal(text, "")))
        counts = pa.table({"word": text, "count": table["occurrences"]}).filter(alone)
        sums = counts.group_by("word").aggregate([("count", "sum")])
        best = sums.sort_by([("count_sum", "descending"), ("word", "ascending")]).slice(0, number)
        return [word[1:] if word.startswith("\\") else word for word in best["word"].to_pylist()]

    return one_word("source"), one_word("target")


def no_rows() -> Buffers:
    """Return the buffers of a column that contains no text."""
    return np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int8)


def _ahead(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the batches unchanged. While one is used, the next one is read."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, batches, None)
        while (batch := coming.result()) is not None:
            coming = pool.submit(next, batches, None)
            yield batch


def open_table(path: PathLike, verify: bool = True, wait: bool = True) -> RuleTable:
    """Map a compiled table into memory. If it is damaged, raise `FormatError`. Without `verify`, its bytes are trusted.

    `wait=False` opens a large table at once. Blocks are then verified when they are used.
    """
    return RuleTable.open(str(Path(path)), opening(verify, wait))


def _numbers(batch: pa.RecordBatch, feature: str) -> npt.NDArray[np.float32]:
    column, equals, value = feature.partition("=")
    if equals:
        import pyarrow.compute as pc

        found: npt.NDArray[np.bool_] = pc.equal(batch[column], value).to_numpy(zero_copy_only=False)
        return found.astype(np.float32)
    values: npt.NDArray[np.float64] = batch[column].to_numpy(zero_copy_only=False).astype(np.float64)
    if column.startswith(PROBABILITIES):
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.log(values)
    return values.astype(np.float32)
