"""A small rule table, written as text, for tests that decode."""

from treeglot._core import RuleTable, RuleTableBuilder

NT = 0x80000000


def table(*extra: tuple[str, str, str, float]) -> RuleTable:
    """Rules as text: left-hand side, source, target (variables are 1, 2), score."""
    builder = RuleTableBuilder(["p"])
    rules = [
        ("X", "das", "the", -1.0),
        ("X", "das", "that", -2.0),
        ("X", "haus", "house", -0.5),
        ("X", "X ist X", "2 is 1", -0.7),
        *extra,
    ]
    for label in ("X", "Y", "Z"):
        builder.label(label)
    for lhs, source, target, score in rules:
        builder.add(
            builder.label(lhs),
            [NT | builder.label(s) if s in "XYZ" else builder.source_word(s) for s in source.split()],
            [-int(t) if t.isdigit() else builder.target_word(t) for t in target.split()],
            [score],
            [],
        )
    return builder.finish()
