"""A small rule table, written as text, for tests that decode."""

from pathlib import Path

from treeglot._core import RuleTable, RuleTableBuilder
from treeglot.decode import SearchOptions
from treeglot.models.folder import write_model

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


def model_folder(folder: Path) -> Path:
    """A model of the table's rules, without a language model, in a new folder."""
    folder.mkdir()
    table().write(str(folder / "rules.table"))
    write_model(folder, "hiero", {"p": 1.0, "glue": -0.1, "unknown": -5.0}, SearchOptions(pop_limit=50))
    toml = (folder / "model.toml").read_text()
    (folder / "model.toml").write_text(toml.replace("\n\n", '\nlm = ""\n\n', 1))
    return folder
