"""Trees on both sides: what labelling adds to extraction, what soft syntax adds to decoding.

python bench/t2t.py extract SOURCE TARGET ALIGNMENT SOURCE_TREES TARGET_TREES [--threads 1]
python bench/t2t.py decode HIERO FUZZY INPUT [--span-limit 20] [--pops 100]
python bench/t2t.py limits MODEL INPUT [--first 30] [--weights FILE]
python bench/t2t.py search MODEL INPUT REFERENCES [search.unknown_labels=true …]

CPU time of all threads; the better of two runs, but for `limits`: what limits on a span's labels and matches cost in
model score, where labels must match. Each model's own weights are taken, where no others are given. `search` shows
what each option of the search changes: one run as the model is, and one with each option alone.
"""

import argparse
import tempfile
from dataclasses import replace

from timing import fastest

from treeglot.base.files import read_lines
from treeglot.base.options import changed
from treeglot.cli.parameters import set_values
from treeglot.corpus import Corpus, Needs
from treeglot.decode import SearchOptions
from treeglot.decode.weights import read_weights
from treeglot.evaluate import Bleu
from treeglot.models import load
from treeglot.rules import extract
from treeglot.rules.hiero import FuzzyOptions, HieroOptions


def measure_extraction(given: argparse.Namespace) -> None:
    trees = {"source_trees": given.source_trees, "target_trees": given.target_trees}
    corpus = Corpus(source=given.source, target=given.target, alignments=given.alignment, **trees)
    pairs = list(corpus.pairs(Needs(source="tree", target="tree")))
    kinds = {"fuzzy": FuzzyOptions(), "nested": FuzzyOptions(nesting=True), "samt": FuzzyOptions(hard=True)}
    plain = 0.0
    for name, options in {"hiero": HieroOptions(), **kinds}.items():
        extractor = "hiero" if name == "hiero" else "fuzzy"
        with tempfile.TemporaryDirectory() as folder:

            def work(extractor: str = extractor, options: HieroOptions = options, folder: str = folder) -> None:
                extract(extractor, pairs, folder, options, threads=given.threads, memory=4 << 30)

            seconds, _ = fastest(work, runs=2)
        plain = plain or seconds
        print(f"{name:8} {seconds:6.1f} s, {seconds / plain:.2f} times hiero's", flush=True)


def measure_decoding(given: argparse.Namespace) -> None:
    lines = read_lines(given.input)
    plain = 0.0
    for folder in (given.hiero, given.fuzzy):
        model = load(folder)
        model = model.with_search(replace(model.file.search, span_limit=given.span_limit, pop_limit=given.pops))
        seconds = []
        for _ in range(2):
            found = model.translate_batch(lines)
            seconds.append(sum(translation.seconds for translation in found))
        best = min(seconds)
        plain = plain or best
        print(f"{model.kind:18} {1000 * best / len(lines):6.2f} ms a sentence, {best / plain:.2f} times", flush=True)


def measure_limits(given: argparse.Namespace) -> None:
    lines = read_lines(given.input)[: given.first]
    model = load(given.model)
    if given.weights:
        model = model.with_weights(read_weights(given.weights))
    for pops, labels, matches in (
        (100, 0, 0),
        (30, 0, 0),
        (200, 20, 100),
        (200, 10, 100),
        (200, 10, 50),
        (200, 5, 100),
    ):
        options = SearchOptions(pop_limit=pops, span_limit=20, label_limit=labels, match_limit=matches)
        found = model.with_search(options).translate_batch(lines)
        milliseconds = 1000 * sum(translation.seconds for translation in found) / len(lines)
        score = sum(translation.score for translation in found) / len(lines)
        limits = f"{pops:3} pops, {labels:2} labels, {matches:3} matches"
        print(f"{limits}: {milliseconds:6.1f} ms a sentence, score {score:.4f}", flush=True)


def measure_search(given: argparse.Namespace) -> None:
    lines = read_lines(given.input)
    bleu, references = Bleu(), [read_lines(given.references)]
    model = load(given.model)
    for setting in ("", *given.settings):
        search = changed(model.file, set_values([setting])).search if setting else model.file.search
        found = model.with_search(search).translate_batch(lines)
        of_words = bleu.score(bleu.statistics([translation.text for translation in found], references))
        milliseconds = 1000 * sum(translation.seconds for translation in found) / len(lines)
        means = [sum(t.features.get(name, 0.0) for t in found) / len(lines) for name in ("glue", "unknown")]
        score = sum(translation.score for translation in found) / len(lines)
        print(
            f"{setting or 'as it is'}: BLEU {of_words:.2f}, {milliseconds:.1f} ms a sentence, score {score:.3f}, "
            f"glue {means[0]:.2f}, unknown {means[1]:.2f}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_subparsers(required=True)
    extraction = what.add_parser("extract")
    for name in ("source", "target", "alignment", "source_trees", "target_trees"):
        extraction.add_argument(name)
    extraction.add_argument("--threads", type=int, default=1)
    extraction.set_defaults(measure=measure_extraction)
    decoding = what.add_parser("decode")
    for name in ("hiero", "fuzzy", "input"):
        decoding.add_argument(name)
    decoding.add_argument("--span-limit", type=int, default=20)
    decoding.add_argument("--pops", type=int, default=100)
    decoding.set_defaults(measure=measure_decoding)
    limits = what.add_parser("limits")
    for name in ("model", "input"):
        limits.add_argument(name)
    limits.add_argument("--first", type=int, default=30)
    limits.add_argument("--weights")
    limits.set_defaults(measure=measure_limits)
    search = what.add_parser("search")
    for name in ("model", "input", "references"):
        search.add_argument(name)
    search.add_argument("settings", nargs="*")
    search.set_defaults(measure=measure_search)
    given = parser.parse_args()
    given.measure(given)


if __name__ == "__main__":
    main()
