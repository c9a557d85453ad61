"""The SQL statements that add up, score and prune counted rules. docs/rules.md explains each of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from treeglot._core import Tally
from treeglot.base.errors import UsageError
from treeglot.base.options import Options, option
from treeglot.rules.engines import Statement

PARTITIONS = Tally.partitions
UNIT = 2**28  # counts are multiples of 1 / UNIT, so that their sums are exact in any order
COUNT_BINS = {1: "1", 2: "2", 5: "3-5", 10: "6-10", 30: "11-30", 100: "31-100"}
MORE = "101-"
_BINS = " ".join(f"WHEN r.occurrences <= {most} THEN '{name}'" for most, name in COUNT_BINS.items())
GOOD_TURING_MOST = 5  # occurrences beyond which counts are taken as they are (Katz 1987)


@dataclass(frozen=True)
class Column:
    """A column of the rule table: its type, and the SQL that computes it.

    In the SQL, `r` contains the counts of a rule, `s` those of its source side, and `t` those of its target side.
    `{root}` is P(rule | left-hand side) if the extraction has roots, and otherwise null. A column without SQL is text
    made from a rule's code.
    """

    holds: str  # "text", or a type as Arrow calls it
    sql: str = ""
    nullable: bool = False  # not every extractor has it


COLUMNS = {
    **dict.fromkeys(("lhs", "source", "target"), Column("text")),
    **dict.fromkeys(("structure", "labels"), Column("text", nullable=True)),
    "alignment": Column("text"),
    "variables": Column("uint8", "r.variables"),
    "count": Column("double", "r.count"),
    "occurrences": Column("int64", "r.occurrences"),
    "count_bin": Column("text", f"CASE {_BINS} ELSE '{MORE}' END"),
    "p_target_given_source": Column("float", "{target_given_source}"),
    "p_source_given_target": Column("float", "{source_given_target}"),
    "p_rule_given_root": Column("float", "{root}", nullable=True),
    "lex_target_given_source": Column("float", "r.lex_target_given_source"),
    "lex_source_given_target": Column("float", "r.lex_source_given_target"),
}
"""The columns of a rule table, in order. A feature of rules is an entry here: compiling knows it by its name."""

_OWN_COLUMNS = dict(COLUMNS)

CODES = ("source", "target", "alignment", "labels")
"""The columns of the counts that are codes."""

COPIED = tuple(name for name, column in COLUMNS.items() if column.sql == f"r.{name}")
"""The columns of a rule table that the counts have already."""


def has_own_columns() -> bool:
    """Return whether all columns are Treeglot's own, so that no package has added or changed one."""
    return COLUMNS == _OWN_COLUMNS


@dataclass(frozen=True)
class ScoreOptions(Options):
    """Options for scoring counted rules, and for dropping some of them."""

    smoothing: Literal["none", "good-turing", "kneser-ney"] = option("none", "of both conditional probabilities")
    min_occurrences: int = option(1, "times a rule must have been seen", least=0)
    min_gappy_occurrences: int = option(1, "times a rule with nonterminals must have been seen", least=0)
    significance: float = option(0.0, "least -ln p of Fisher's exact test on a rule's two sides; 0: no test", least=0)
    targets_per_source: int = option(20, "most probable target sides kept for a source side; 0: all", least=0)


def scoring(
    options: ScoreOptions,
    parts: int = 1,
    labels: bool = False,
    roots: bool = False,
    apart: bool = False,
    occurrence_parts: int = 1,
) -> list[Statement]:
    """Return the statements that score `counts`, which has one or more rows for a rule. The last one yields the table.

    With one part, each row of the counts is a rule. The last statement then yields only the computed columns and `row`,
    the number of the row in the counts. The codes and the `COPIED` columns stay in the counts, because carrying them
    through joins and a sort takes time and memory.

    With `labels`, a rule gets its most frequent labels. With `roots`, it also gets its probability given the left-hand
    side. With `apart`, the target sides of phrases (left-hand side X, label 0) are counted separately from those of
    other rules. With several parts, occurrences are counted in `occurrence_parts`, and rounded.

    >>> [statement.name for statement in scoring(ScoreOptions())]
    ['sources', 'targets', 'best', 'rules']
    """
    counts = "counts" if parts == 1 else "summed"
    smoothing = _smoothing(options.smoothing, counts)
    testing, ranking = options.significance > 0, options.targets_per_source > 0
    tests = [f"r.occurrences >= {options.min_occurrences}"]
    if options.min_gappy_occurrences > options.min_occurrences:
        tests.append(f"(r.variables = 0 OR r.occurrences >= {options.min_gappy_occurrences})")
    if testing:
        tests.append(f"{significance()} >= CAST({float(options.significance)!r} AS DOUBLE)")
    # A tally's rows are sorted by partition, source side and when a rule was first seen: so are those of several.
    order = "r.row" if parts == 1 else f"CAST(floor(s.row / {2**32}.0e0) AS BIGINT) % {PARTITIONS}, s.source, r.row"
    source_key = "source_row" if parts == 1 else "source"  # numbers are joined faster than codes

    def side(name: str, key: str, *more: str) -> Statement:
        sums = [f"r.{key}", "sum(r.count) AS count", *more]
        if testing:
            sums.append("CAST(sum(r.occurrences) AS BIGINT) AS occurrences")
        if smoothing.lost:
            sums += ["count(*) AS rules", f"sum({smoothing.lost}) AS lost"]
        join = smoothing.join if smoothing.lost else ""
        by = f"r.{key}"
        if apart and name == "target":
            sums.append("r.lhs = 0 AS phrase")
            by += ", r.lhs = 0"
        by_file = parts == 1 and name == "source"  # a file has all rows of its source sides
        return Statement(f"{name}s", f"SELECT {', '.join(sums)} FROM {counts} r {join}GROUP BY {by}", by_file)

    of_source = ["count(*) AS targets"] * ranking + ["min(r.row) AS row"] * (parts > 1)
    scored = f"""
        FROM {counts} r
            JOIN sources s ON r.{source_key} = s.{source_key}
            JOIN targets t ON r.target = t.target{" AND (r.lhs = 0) = t.phrase" if apart else ""}
            {"JOIN roots h ON r.lhs = h.lhs " if roots else ""}{smoothing.join}{"CROSS JOIN total n" if testing else ""}
        WHERE {" AND ".join(tests)}"""
    target_given_source = f"CAST({smoothing.probability('s', 't')} AS FLOAT)"
    most = options.targets_per_source
    # Only sources with more targets than that need ranking.
    best = f"""
        SELECT row FROM (
            SELECT r.row,
                row_number() OVER (PARTITION BY r.{source_key} ORDER BY {target_given_source} DESC, r.row) AS place
            {scored} AND s.targets > {most}) ranked
        WHERE place <= {most}"""
    kept = f" AND (s.targets <= {most} OR r.row IN (SELECT row FROM best))" if ranking else ""
    values = {
        "target_given_source": target_given_source,
        "source_given_target": f"CAST({smoothing.probability('t', 's')} AS FLOAT)",
        "root": "CAST(r.count / h.count AS FLOAT)" if roots else "CAST(NULL AS FLOAT)",
    }
    made = [f"{c.sql.format(**values)} AS {n}" for n, c in COLUMNS.items() if c.sql and (parts > 1 or n not in COPIED)]
    named = ["r.row"] if parts == 1 else [f"r.{code}" for code in CODES]
    rules = f"SELECT {', '.join([*named, *made])} {scored}{kept} ORDER BY {order}"
    return [
        *([] if parts == 1 else _sums(labels, occurrence_parts)),
        *([Statement("discounts", smoothing.discounts)] if smoothing.discounts else []),
        *([Statement("total", f"SELECT sum(occurrences) AS n FROM {counts}")] if testing else []),
        side("source", source_key, *of_source),
        side("target", "target"),
        *([Statement("roots", f"SELECT lhs, sum(count) AS count FROM {counts} GROUP BY lhs")] if roots else []),
        *([Statement("best", best, parts == 1)] if ranking else []),
        Statement("rules", rules, parts == 1),
    ]


def discounting(smoothing: str, parts: int = 1) -> list[Statement]:
    """Return statements that compute the discounts for smoothing. The last one yields a single row.

    >>> [statement.name for statement in discounting("kneser-ney", parts=2)]
    ['added', 'most_alignment', 'summed', 'discounts']
    """
    discounts = _smoothing(smoothing, "counts" if parts == 1 else "summed").discounts
    return [*([] if parts == 1 else _sums(False, 1)), Statement("discounts", discounts)]


def _sums(labels: bool, occurrence_parts: int) -> list[Statement]:
    """Return the SQL that adds up the rows of each rule, and finds its most frequent alignment and labels.

    Ties go to the first. Nearly all rules have only one alignment, so the costly comparison is limited to the other
    rules.
    """
    notes: dict[str, tuple[str, ...]] = {
        "alignment": ("alignment", "lex_target_given_source", "lex_source_given_target")
    }
    if labels:
        notes["labels"] = ("labels",)
    count, occurrences = "sum(count)", "sum(occurrences)"
    if occurrence_parts > 1:  # a rule that was taken has a count
        count = f"greatest({count}, 1.0e0 / {UNIT}.0e0)"
        half = occurrence_parts // 2
        occurrences = f"greatest(floor(({occurrences} + {half}) / {occurrence_parts}.0e0), 1.0e0)"
    statements = [
        Statement(
            "added",
            f"""
        SELECT source, target, min(row) AS row, {count} AS count, CAST({occurrences} AS BIGINT) AS occurrences,
            min(lhs) AS lhs, min(variables) AS variables,
            min(alignment) AS alignment, max(alignment) AS other_alignment,
            min(labels) AS labels, max(labels) AS other_labels,
            min(lex_target_given_source) AS lex_target_given_source,
            min(lex_source_given_target) AS lex_source_given_target
        FROM counts GROUP BY source, target""",
        )
    ]
    columns = [f"r.{column}" for column in ("row", "source", "target", "count", "occurrences", "lhs", "variables")]
    joins = ""
    for note, of in notes.items():
        best = f"most_{note}"
        statements.append(
            Statement(
                best,
                f"""
        SELECT source, target, {", ".join(of)} FROM (
            SELECT *, row_number() OVER (PARTITION BY source, target ORDER BY occurrences DESC, row) AS place FROM (
                SELECT c.source, c.target, {", ".join(f"c.{column}" for column in of)},
                    sum(c.occurrences) AS occurrences, min(c.row) AS row
                FROM counts c JOIN added a ON c.source = a.source AND c.target = a.target
                WHERE a.{note} <> a.other_{note}
                GROUP BY c.source, c.target, {", ".join(f"c.{column}" for column in of)}) summed_notes) ranked_notes
        WHERE place = 1""",
            )
        )
        joins += f" LEFT JOIN {best} ON r.source = {best}.source AND r.target = {best}.target"
        columns += [f"coalesce({best}.{column}, r.{column}) AS {column}" for column in of]
    if not labels:
        columns.append("r.labels")
    statements.append(Statement("summed", f"SELECT {', '.join(columns)} FROM added r{joins}"))
    return statements


@dataclass(frozen=True)
class _Smoothing:
    """Creates expressions over r (a rule), s (the given side), t (the other side) and d (the discounts)."""

    kept: str  # what remains of r's count
    discounts: str = ""
    lost: str = ""  # the discount of a row of the counts
    shared: bool = False  # whether the discounted mass is given back by the number of rules of a side

    @property
    def join(self) -> str:
        return "CROSS JOIN discounts d " if self.discounts else ""

    def probability(self, given: str, side: str) -> str:
        """Return the SQL of P(side | given side)."""
        back = f" + {given}.lost / {given}.count * ({side}.rules / d.rules)" if self.shared else ""
        return f"{self.kept} / {given}.count{back}"


def _smoothing(name: str, counts: str) -> _Smoothing:
    def seen(times: int) -> str:  # n_k: how many rules were seen k times; NULL for none, since it divides
        return f"nullif(sum(CASE WHEN occurrences = {times} THEN 1.0e0 ELSE 0.0e0 END), 0.0e0) AS n{times}"

    match name:
        case "none":
            return _Smoothing("r.count")
        case "good-turing":
            times = range(1, GOOD_TURING_MOST + 1)
            # A factor that cannot be told, or would not be a discount, is 1.
            factors = ", ".join(
                f"least(coalesce({o + 1} * n{o + 1} / ({o} * n{o}), 1.0e0), 1.0e0) AS f{o}" for o in times
            )
            discounts = f"""
        SELECT {factors}
        FROM (SELECT {", ".join(seen(o) for o in [*times, GOOD_TURING_MOST + 1])} FROM {counts}) seen"""
            return _Smoothing(
                f"r.count * CASE r.occurrences {' '.join(f'WHEN {o} THEN d.f{o}' for o in times)} ELSE 1.0e0 END",
                discounts,
            )
        case "kneser-ney":
            steps = ", ".join(
                f"greatest(least(coalesce({o} - {o + 1} * y * n{o + 1} / n{o}, 0.0e0), {o}), 0.0e0) AS d{o}"
                for o in (1, 2, 3)
            )
            discounts = f"""
        SELECT rules, {steps} FROM (SELECT *, n1 / (n1 + 2 * n2) AS y FROM (
            SELECT CAST(count(*) AS DOUBLE) AS rules, {", ".join(seen(o) for o in range(1, 5))}
            FROM {counts}) seen) with_y"""
            discount = "CASE r.occurrences WHEN 1 THEN d.d1 WHEN 2 THEN d.d2 ELSE d.d3 END / r.occurrences"
            lost = f"round(r.count * ({discount}) * {UNIT}.0e0) / {UNIT}.0e0"
            return _Smoothing(f"(r.count - {lost})", discounts, lost, shared=True)
        case _:
            raise UsageError(f"smoothing is {name!r}; expected 'none', 'good-turing' or 'kneser-ney'")


def significance() -> str:
    """Return the SQL of -ln p, where p is that of Fisher's exact test (Johnson et al. 2007) over occurrences.

    Of all `n` occurrences, `s` have the source side, `t` the target side and `r` both. The tail of the hypergeometric
    distribution is bounded by its first term times a geometric series. If a rule occurs as often as its rarer side,
    there is only one term, so the bound is exact. For rules seen once, the result is ln n.
    """
    r, s, t, n = "r.occurrences", "s.occurrences", "t.occurrences", "n.n"
    first = (
        f"({_ln_factorial(t)} + {_ln_factorial(f'({n} - {t})')} + {_ln_factorial(s)} + {_ln_factorial(f'({n} - {s})')}"
        f" - {_ln_factorial(n)} - {_ln_factorial(r)} - {_ln_factorial(f'({t} - {r})')}"
        f" - {_ln_factorial(f'({s} - {r})')} - {_ln_factorial(f'({n} - {s} - {t} + {r})')})"
    )
    ratio = f"(CAST({s} - {r} AS DOUBLE) * ({t} - {r}) / (({r} + 1.0e0) * ({n} - {s} - {t} + {r} + 1.0e0)))"
    return f"CASE WHEN {ratio} >= 1.0e0 THEN 0.0e0 ELSE ln(1.0e0 - {ratio}) - {first} END"


def _ln_factorial(x: str) -> str:
    """Return the SQL of ln x!, by Stirling's series at x + 8 without the factors x + 1 to x + 8.

    The error is below 1e-11.
    """
    z = f"({x} + 8.0e0)"
    product = " * ".join(f"({x} + {i}.0e0)" for i in range(1, 9))
    series = f"1.0e0 / (12.0e0 * {z}) - 1.0e0 / (360.0e0 * {z} * {z} * {z})"
    return f"(({z} + 0.5e0) * ln({z}) - {z} + 0.9189385332046727e0 + {series} - ln({product}))"
