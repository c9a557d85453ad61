"""The share of references that the rules of models can give: forced decoding.

python bench/reachable.py SOURCE REFERENCES MODEL ... [--most 200] [--threads 2]
"""

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path

from record import add_option, column, record

import treeglot
from treeglot.base.files import read_lines
from treeglot.decode.constraints import Constraints


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", help="sentences; with .tree.xz or .forest.xz for kinds that need parses")
    parser.add_argument("references")
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--most", type=int, help="sentences, the first ones; all unless given")
    parser.add_argument("--threads", type=int, default=2)
    add_option(parser)
    options = parser.parse_args()
    rows = []
    references = list(read_lines(options.references))[: options.most]
    suffixes = {"source": "", "source_trees": ".tree.xz", "source_forests": ".forest.xz"}
    print("| | references reached | words in the largest parts | longest reached | ms a sentence |")
    print("|---|---|---|---|---|")
    for folder in options.models:
        model = treeglot.load(folder)
        wanted = treeglot.models.kinds.find_kind(model.kind).translates
        suffix = next(suffixes[name] for name in wanted if name in suffixes)
        sources = model.reader.ready([*model.read(Path(options.source + suffix))][: options.most])[0]
        constraints = [Constraints(exactly=line).core(str.split) for line in references]
        start = time.process_time()
        forced = model.all_rules.with_search(replace(model.all_rules.options, pop_limit=1))  # any derivation will do
        found = forced.translate_batch(sources, threads=options.threads, constraints=constraints)
        took = (time.process_time() - start) / len(sources)
        reached = [bool(one.hypotheses) for one in found]
        for line, one in zip(references, found, strict=True):
            if "edges" in one.problem:  # more than the limit: not known, counted as not reached
                print(f"{line}: {one.problem}", file=sys.stderr)
        covered = words = 0
        for source, line, whole in list(zip(sources, references, reached, strict=True))[:200]:
            target = line.split(" ")
            try:
                parts = [(0, len(target))] if whole else [e for _, e, _ in model.all_rules.reached(source, target)]
            except RuntimeError as error:  # too many edges
                print(f"{line}: {error}", file=sys.stderr)
                continue
            covered += sum(end - begin for begin, end in parts)
            words += len(target)
        longest = max((len(line.split(" ")) for line, one in zip(references, reached, strict=True) if one), default=0)
        share = sum(reached) / len(reached)
        print(f"| `{model.kind}` | {share:.1%} | {covered / words:.1%} | {longest} | {1e3 * took:.1f} |", flush=True)
        rows.append([f"`{model.kind}`", 100 * share, 100 * covered / words, longest, 1e3 * took])
    columns = [column("model"), column("references reached, %", 1), column("words in the largest parts, %", 1)]
    record(options.json, [*columns, column("longest reached"), column("ms a sentence", 1)], rows)


if __name__ == "__main__":
    main()
