"""Hiero (Chiang 2005, 2007): hierarchical phrases without syntax, the string-to-string baseline."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from treeglot.base.options import option
from treeglot.decode import SearchOptions
from treeglot.models.kind import Corpus, Kind, Work
from treeglot.models.parallel import aligned_words
from treeglot.rules import CompileOptions, Extraction, HieroOptions, ScoreOptions, bitext, extract

# Where tuning starts, and what an untuned model uses: the language model and both directions' probabilities count,
# words are worth about what the language model takes for them, glue costs a little.
WEIGHTS = {
    "p_target_given_source": 0.2,
    "p_source_given_target": 0.2,
    "lex_target_given_source": 0.1,
    "lex_source_given_target": 0.1,
    "lm": 0.5,
    "word_penalty": 1.0,
    "rule_penalty": -0.1,
    "glue": -0.1,
    "unknown": -10.0,
}


@dataclass(frozen=True)
class HieroModelOptions:
    """How a Hiero model is trained and searched."""

    extract: HieroOptions = option(HieroOptions(), "which rules are taken from a sentence pair")
    # Kneser-Ney: on Chinese-English, three tunings by MERT each, 26.0 BLEU on dev in place of 25.5, and 24.7 on test in
    # place of 24.3 (bench/RESULTS.md).
    score: ScoreOptions = option(ScoreOptions(smoothing="kneser-ney"), "how rules are scored and pruned")
    search: SearchOptions = option(SearchOptions(), "how sentences are translated")
    lm_order: int = option(5, "words in the language model's longest n-grams")
    compile: CompileOptions = option(CompileOptions(), "what of the rules becomes a feature")


def _extract(corpus: Corpus, folder: Path, options: HieroModelOptions, work: Work) -> Extraction:
    pairs = bitext(aligned_words(corpus))
    work.report(f"{len(pairs):,} sentence pairs")
    return extract(pairs, folder, options.extract, threads=work.threads, memory=work.memory // 2)


HIERO = Kind(
    name="hiero",
    summary="hierarchical phrases, no syntax",
    options=HieroModelOptions,
    weights=WEIGHTS,
    needs=("source", "target", "alignments"),
    extract=_extract,
)
