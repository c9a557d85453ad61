"""Scores systems for users, with sacreBLEU's scores and signatures, intervals and tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from treeglot._core import SignTest
from treeglot.base.errors import UsageError
from treeglot.base.options import Options, option, unknown
from treeglot.evaluate.metrics import Bleu, Chrf, Length, Metric, Statistics, Ter
from treeglot.evaluate.significance import SAMPLES, SEED, Bootstrap, Interval, paired_bootstrap, sign_test
from treeglot.evaluate.tokenisation import AUTO, suitable_tokenizer

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric as SacreMetric

MetricName: TypeAlias = Literal["bleu", "chrf", "ter"]


@dataclass(frozen=True)
class ReportOptions(Options):
    """Options that define how systems are scored."""

    lowercase: bool = option(False, "compare without regard to case (TER always does)")
    length: Length = option("closest", "whose length BLEU's brevity penalty takes: the closest or shortest reference's")
    tokenize: str = option(
        AUTO,
        "sacreBLEU's tokenizer for BLEU (13a, intl, zh, …); none: words as they are; auto: none for tokenised "
        "references, else sacreBLEU's default",
    )
    samples: int = option(SAMPLES, "samples of the bootstrap, for intervals and the paired test", least=1)
    seed: int = option(SEED, "seed of the bootstrap", least=0, most=2**64 - 1)

    def __post_init__(self) -> None:
        """Refuse a tokenizer that sacreBLEU does not know."""
        super().__post_init__()
        from sacrebleu.metrics.bleu import BLEU

        if self.tokenize not in (AUTO, *BLEU.TOKENIZERS):
            raise UsageError(unknown("tokenizer", self.tokenize, BLEU.TOKENIZERS), ("tokenize",))

    def suited(self, references: Sequence[Sequence[str]]) -> ReportOptions:
        """If the tokenizer is `auto`, replace it by the one that suits the references."""
        if self.tokenize != AUTO:
            return self
        return replace(self, tokenize=suitable_tokenizer([line for lines in references for line in lines]))


@dataclass(frozen=True)
class Difference:
    """The difference between the scores of a system and the baseline."""

    difference: float
    sign_test: SignTest
    bootstrap: Bootstrap


@dataclass(frozen=True)
class Score:
    """One system's score in one metric."""

    name: str  # as sacreBLEU has it: BLEU, chrF2, TER
    value: float
    signature: str
    interval: Interval
    details: str  # of BLEU: precisions and brevity penalty
    against: Difference | None = None

    def as_object(self) -> dict[str, Any]:
        """Return the score as a JSON value."""
        found: dict[str, Any] = {
            "score": self.value,
            "signature": self.signature,
            "interval": [self.interval.low, self.interval.high],
        }
        if self.against:
            test, drawn = self.against.sign_test, self.against.bootstrap
            found["against"] = {
                "difference": self.against.difference,
                "difference_interval": [drawn.difference.low, drawn.difference.high],
                "sign_test": {"better": test.better, "worse": test.worse, "equal": test.equal, "p": test.p},
                "bootstrap": {"wins": drawn.wins, "losses": drawn.losses, "ties": drawn.ties, "p": drawn.p},
            }
        return found


@dataclass(frozen=True)
class LengthBin:
    """The sentences whose first reference has from `shortest` to `longest` words, and BLEU on them."""

    shortest: int
    longest: int | None
    sentences: int
    bleu: float
    ratio: float | None  # words of the output per word of the references


@dataclass(frozen=True)
class SystemReport:
    """The scores of one system in all metrics, and by sentence length."""

    system: str
    scores: tuple[Score, ...]
    words: int
    reference_words: int  # as BLEU counts them
    empty: int  # sentences without a word
    by_length: tuple[LengthBin, ...]

    @property
    def ratio(self) -> float | None:
        """The number of output words per reference word, or None if the references are empty."""
        return _ratio(self.words, self.reference_words)

    def as_object(self) -> dict[str, Any]:
        """Return the report as a JSON value."""
        return {
            "system": self.system,
            "scores": {one.name: one.as_object() for one in self.scores},
            "words": self.words,
            "reference_words": self.reference_words,
            "empty": self.empty,
            "by_length": [asdict(one) for one in self.by_length],
        }

    def _repr_html_(self) -> str:
        return Compared([self])._repr_html_()


class Compared(list[SystemReport]):
    """The scores of several systems. In a notebook, they are shown as a table."""

    def _repr_html_(self) -> str:
        from treeglot.evaluate.page import scores_table

        return scores_table(self) if self else ""


def score_systems(
    systems: Mapping[str, Sequence[str]],
    references: Sequence[Sequence[str]],
    *,
    baseline: str | None = None,
    metrics: Sequence[MetricName] = ("bleu", "chrf", "ter"),
    options: ReportOptions | None = None,
    bins: Sequence[int] = (10, 20, 30, 40, 50),
) -> Compared:
    """Return the scores of systems by name, and test all systems against `baseline`.

    Each system has one output line per sentence. For scores by length, `bins` gives the length of the longest sentence
    in each group.

    >>> systems = {"old": ["a b c d x"], "new": ["a b c d e"]}
    >>> old, new = score_systems(systems, [["a b c d e"]], baseline="old", metrics=["bleu"])
    >>> round(new.scores[0].value, 2), round(new.scores[0].against.difference, 2), new.scores[0].signature
    (100.0, 33.13, 'nrefs:1|case:mixed|eff:no|tok:none|smooth:exp|version:...')
    """
    _check(systems, references, bins)
    chosen = (options or ReportOptions()).suited(references)
    judges = [judge_of(name, chosen, references) for name in metrics]
    bleu = next((judge for judge in judges if judge.name == "bleu"), None) or judge_of("bleu", chosen, references)
    base = {j.name: j.statistics(systems[baseline]) for j in judges} if baseline is not None else {}
    lengths = np.array([len(bleu.sacre._preprocess_segment(line).split()) for line in references[0]])
    reports = Compared()
    for system, lines in systems.items():
        scores = []
        for judge in judges:
            against = base.get(judge.name) if system != baseline else None
            scores.append(_score(judge, judge.statistics(lines), against, chosen))
        rows = bleu.statistics(lines)
        words, wanted = rows[:, :2].sum(axis=0)
        empty = int(np.sum(rows[:, 0] == 0))
        by_length = _by_length(bleu.core, rows, lengths, bins)
        reports.append(SystemReport(system, tuple(scores), int(words), int(wanted), empty, by_length))
    return reports


@dataclass(frozen=True)
class Judge:
    """A metric in two implementations: sacreBLEU's for scores, and Treeglot's for statistics."""

    name: str
    sacre: SacreMetric
    core: Metric

    def statistics(self, lines: Sequence[str]) -> Statistics:
        """Count the statistics of each line against the prepared references, one row per line."""
        return np.array(self.sacre._extract_corpus_statistics(lines, None), dtype=np.float64)


def judge_of(name: str, options: ReportOptions, references: Sequence[Sequence[str]]) -> Judge:
    """Create the judge for a metric by its name, with prepared references."""
    from sacrebleu.metrics.chrf import CHRF
    from sacrebleu.metrics.ter import TER

    match name:
        case "bleu":
            judge = Judge(name, _sacre_bleu(options), Bleu(length=options.length))
        case "chrf":
            judge = Judge(name, CHRF(lowercase=options.lowercase), Chrf(lowercase=options.lowercase))
        case "ter":
            judge = Judge(name, TER(), Ter())
        case _:
            raise UsageError(unknown("metric", name, ("bleu", "chrf", "ter")))
    judge.sacre._ref_cache = judge.sacre._cache_references(references)
    return judge


def _sacre_bleu(options: ReportOptions) -> SacreMetric:
    from sacrebleu.metrics.bleu import BLEU, BLEUSignature

    class ShortestSignature(BLEUSignature):
        def __init__(self, args: dict[str, Any]) -> None:
            super().__init__(args)
            self._abbr["length"] = "len"
            self.info["length"] = "shortest"

    class ShortestBLEU(BLEU):
        """BLEU that uses the length of the shortest reference. sacreBLEU itself has only the closest."""

        _SIGNATURE_TYPE = ShortestSignature

        def _get_closest_ref_len(self, hyp_len: int, ref_lens: list[int]) -> int:
            return min(ref_lens)

    kind = ShortestBLEU if options.length == "shortest" else BLEU
    # force: it would warn of text that is tokenized already, which is what it is asked to score here.
    return kind(lowercase=options.lowercase, tokenize=options.tokenize, force=True)


def _score(judge: Judge, rows: Statistics, baseline: Statistics | None, options: ReportOptions) -> Score:
    result = judge.sacre._aggregate_and_compute(rows.tolist())
    drawn = {"samples": options.samples, "seed": options.seed}
    other = rows if baseline is None else baseline
    bootstrap = paired_bootstrap(judge.core, other, rows, **drawn)
    against = None
    if baseline is not None:
        difference = judge.core.score(rows) - judge.core.score(baseline)
        against = Difference(difference, sign_test(judge.core, baseline, rows), bootstrap)
    signature = str(judge.sacre.get_signature())
    return Score(result.name, float(result.score), signature, bootstrap.system, result._verbose, against)


def _by_length(
    bleu: Metric, rows: Statistics, lengths: npt.NDArray[np.int64], bins: Sequence[int]
) -> tuple[LengthBin, ...]:
    found = []
    edges = [0, *bins]
    for shortest, longest in zip(edges, [*bins, None], strict=True):
        inside = lengths > shortest if shortest else lengths >= 0
        if longest is not None:
            inside = inside & (lengths <= longest)
        if inside.any():
            words, wanted = rows[inside][:, :2].sum(axis=0)
            begin = shortest + 1 if shortest else 0
            found.append(LengthBin(begin, longest, int(inside.sum()), bleu.score(rows[inside]), _ratio(words, wanted)))
    return tuple(found)


def _ratio(words: float, wanted: float) -> float | None:
    return float(words / wanted) if wanted else None


def _check(systems: Mapping[str, Sequence[str]], references: Sequence[Sequence[str]], bins: Sequence[int]) -> None:
    if not references:
        raise UsageError("there are no references; expected at least one")
    if not references[0]:
        raise UsageError("the references are empty")
    sentences = len(references[0])
    for number, reference in enumerate(references[1:], 2):
        if len(reference) != sentences:
            raise UsageError(f"reference {number} has {len(reference)} sentences, reference 1 has {sentences}")
    for system, lines in systems.items():
        if len(lines) != sentences:
            raise UsageError(f"{system} has {len(lines)} sentences, the references have {sentences}")
    if list(bins) != sorted(set(bins)) or any(longest < 1 for longest in bins):
        raise UsageError(f"bins are {', '.join(map(str, bins))}; expected lengths from 1 up, each above the last")
