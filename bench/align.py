"""Aligners side by side: time and memory, error against gold, what models make of their links.

python bench/align.py sample                        # the sample corpus, which has gold alignments
python bench/align.py links FOLDER OUT [--methods hmm] [--symmetrizations union]
python bench/align.py models FOLDER OUT NAME... [--kinds hiero c2s] [--weights hiero=FILE]

FOLDER has train.zh, train.lc.en, train.gdfa, train.zh.forest.xz, train.zh.tree.xz, dev.zh, dev.lc.en. `links` writes
OUT/METHOD.SYMMETRISATION.align; `models` trains on those of that NAME (given: train.gdfa) and scores the development
set with the weights that models begin with, or with those given. CPU time is that of all threads.
"""

import argparse
import json
import resource
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path

from treeglot import sample
from treeglot.align import Aligner, score_alignments
from treeglot.align.symmetrize import SYMMETRIZATIONS, symmetrize
from treeglot.base.files import read_lines
from treeglot.corpus import Corpus
from treeglot.decode.weights import read_weights
from treeglot.evaluate import Bleu
from treeglot.lm import compile_ngram, train_ngram
from treeglot.models import load
from treeglot.models import train as train_model
from treeglot.syntax import Alignment, write
from treeglot.syntax.formats import read_alignments, read_parallel

METHODS = ("sampler", "hmm")


def aligned(method: str, source: Path, target: Path) -> tuple[list[str], list[str], float, float]:
    """Both directions as text, which crosses between processes; CPU seconds, peak memory in MB."""
    began = time.process_time()
    aligner = Aligner.train(read_parallel((source, "text"), (target, "text")), method, threads=2)
    found = list(aligner.directions(read_parallel((source, "text"), (target, "text")), threads=2))
    took = time.process_time() - began
    forward, backward = ([str(pair[k]) for pair in found] for k in (0, 1))
    return forward, backward, took, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def apart(method: str, source: Path, target: Path) -> tuple[list[list[Alignment]], str]:
    """`aligned` in a process of its own, so that memory is its own."""
    with get_context("spawn").Pool(1) as pool:
        forward, backward, cpu, peak = pool.apply(aligned, (method, source, target))
    directions = [[Alignment.parse(line) for line in lines] for lines in (forward, backward)]
    return directions, f"{cpu:7.1f} s CPU {peak:6.0f} MB"


def on_sample(given: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        sample.write_corpus(folder, given.pairs)
        gold = list(read_alignments(Path(folder, "train.align")))
        for method in given.methods:
            directions, took = apart(method, Path(folder, "train.zh"), Path(folder, "train.en"))
            print(f"{method:12} {took}")
            for way in given.symmetrizations:
                judged = score_alignments(symmetrize(*directions, way), gold)
                print(f"  {way:22} AER {judged.aer:.4f} precision {judged.precision:.4f} recall {judged.recall:.4f}")


def links(given: argparse.Namespace) -> None:
    folder: Path = given.folder
    given.out.mkdir(parents=True, exist_ok=True)
    theirs = list(read_alignments(folder / "train.gdfa"))
    for method in given.methods:
        directions, took = apart(method, folder / "train.zh", folder / "train.lc.en")
        print(f"{method:12} {took}", flush=True)
        for way in given.symmetrizations:
            ours = symmetrize(*directions, way)
            write(given.out / f"{method}.{way}.align", ours, "pharaoh")
            judged = score_alignments(ours, theirs)
            print(f"  {way:22} links {judged.links:,}, F1 with train.gdfa's {judged.f1:.4f}", flush=True)


def models(given: argparse.Namespace) -> None:
    folder: Path = given.folder
    references, metric = [read_lines(folder / "dev.lc.en")], Bleu()
    chosen = dict(item.split("=") for item in given.weights)
    lm = given.out / "lm.bin"
    if not lm.exists():
        train_ngram(folder / "train.lc.en", 5, out=given.out / "lm.arpa")
        compile_ngram(given.out / "lm.arpa", lm)
    for name in given.names:
        place = folder / "train.gdfa" if name == "given" else given.out / f"{name}.align"
        for kind in given.kinds:
            forests = folder / "train.zh.forest.xz" if kind != "hiero" else None
            corpus = Corpus(
                source=folder / "train.zh",
                target=folder / "train.lc.en",
                alignments=place,
                source_forests=forests,
            )
            began = time.process_time()
            with tempfile.TemporaryDirectory(dir=given.out) as out:
                train_model(kind, corpus, out, lm=lm, threads=2)
                took = time.process_time() - began
                facts = json.loads(Path(out, "extraction.json").read_text())
                model = load(out)
                dev = list(model.read(folder / ("dev.zh" if kind == "hiero" else "dev.zh.forest.xz")))
                found = [f"{name:36} {kind:6} {took:6.1f} s CPU  rules {len(model.translator.table):,}"]
                counts = facts["counts"]
                if "frontier" in counts:
                    found.append(f"frontier {100 * counts['frontier'] / counts['nodes']:.1f} %")
                for what, weights in {"first": model.weights, "given": chosen.get(kind)}.items():
                    if weights is None:
                        continue
                    used = model.with_weights(read_weights(weights)) if isinstance(weights, str) else model
                    texts = [one.text for one in used.translate_batch(dev, threads=2)]
                    found.append(f"BLEU with {what} weights {metric.score(metric.statistics(texts, references)):.2f}")
                print("  ".join(found), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(required=True)
    for name, function in {"sample": on_sample, "links": links, "models": models}.items():
        part = parts.add_parser(name)
        part.set_defaults(function=function)
        if name != "sample":
            part.add_argument("folder", type=Path)
            part.add_argument("out", type=Path)
        else:
            part.add_argument("--pairs", type=int, default=3000)
        if name != "models":
            part.add_argument("--methods", nargs="*", default=METHODS)
            part.add_argument("--symmetrizations", nargs="*", default=SYMMETRIZATIONS)
        else:
            part.add_argument("names", nargs="+")
            part.add_argument("--kinds", nargs="*", default=["hiero", "c2s"])
            part.add_argument("--weights", nargs="*", default=[], help="KIND=FILE")
    given = parser.parse_args()
    given.function(given)


if __name__ == "__main__":
    main()
