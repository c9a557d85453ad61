"""Whether models obey terms, and what that costs.

    python bench/terms.py SOURCE REFERENCES LINKS MODEL ... [--terms 500] [--large 10000] [--threads 2]

Terms are phrases of one or two source words with the words that the references have for them, by LINKS, where a model's
own translation lacks these. Their sources occur in three sentences at most, and no two of them overlap. The terms are
forced, then as many words that the model gives are forbidden where their sources occur, then the 50 most frequent words
of its translations altogether, in 200 sentences.

`--large 10000` takes the time of a glossary of that size instead: forced terms whose first words occur but that match
nowhere, then with those that some sentences begin with among them. Times are CPU seconds. Rounds with and without the
glossary alternate, and the median of their ratios is taken. `--preferred 40` takes the time of that many preferred
terms, alone and with `--large`.
"""

import argparse
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import sacrebleu

import treeglot
from treeglot.base.files import read_lines
from treeglot.decode.glossary import Entry, Glossary
from treeglot.models import Model
from treeglot.models.kinds import find_kind
from treeglot.syntax import Alignment

FEW = 3  # sentences that have a term
NEVER = 200  # sentences without the most frequent words
SUFFIXES = {
    "source": ("",),
    "source_trees": (".tree.xz", ".tree"),
    "source_forests": (".forest.xz", ".forest.jsonl"),
    "source_dependencies": (".conllu.xz", ".conllu"),
}
Words = tuple[str, ...]


def read_sources(model: Model, source: str) -> list[Any]:
    """The sentences as the kind of model wants them."""
    names = [source + suffix for name in find_kind(model.kind).translates for suffix in SUFFIXES.get(name, ())]
    path = next(Path(name) for name in names if Path(name).exists())
    return model.reader.ready([*model.read(path)])[0]


def count(phrase: Words, words: list[str]) -> int:
    """How often a phrase is there, without overlap."""
    found = at = 0
    while at + len(phrase) <= len(words):
        same = tuple(words[at : at + len(phrase)]) == phrase
        found += same
        at += len(phrase) if same else 1
    return found


def phrase_pairs(links: Alignment, source: list[str], target: list[str]) -> list[tuple[int, Words, Words]]:
    """Place and words of one or two source words with the target words that they alone are linked to, in a row."""
    pairs = links.links.tolist()
    found = []
    for begin in range(len(source)):
        for end in range(begin + 1, min(begin + 2, len(source)) + 1):
            linked = [[j for i, j in pairs if i == place] for place in range(begin, end)]
            inside = sorted({j for places in linked for j in places})
            alone = all(begin <= i < end for i, j in pairs if j in inside)
            if all(linked) and alone and inside[-1] - inside[0] == len(inside) - 1 and len(inside) <= 3:
                words = tuple(target[inside[0] : inside[-1] + 1])
                if all(any(map(str.isalpha, word)) for word in (*source[begin:end], *words)):
                    found.append((begin, tuple(source[begin:end]), words))
    return found


def choose(
    candidates: list[tuple[int, int, Words, Words]], sources: list[list[str]], most: int
) -> list[tuple[Words, Words]]:
    """The first terms whose occurrences do not overlap those of others, each source with its first target."""
    places: dict[Words, list[tuple[int, int]]] = {}
    for number, words in enumerate(sources):
        for size in (1, 2):
            for begin in range(len(words) - size + 1):
                places.setdefault(tuple(words[begin : begin + size]), []).append((number, begin))
    taken: set[tuple[int, int]] = set()
    chosen: dict[Words, Words] = {}
    for _, _, source, target in candidates:
        spots = [(number, at + i) for number, at in places[source] for i in range(len(source))]
        few = len({number for number, _ in spots}) <= FEW and len(set(spots)) == len(spots)
        if few and source not in chosen and taken.isdisjoint(spots) and len(chosen) < most:
            chosen[source] = target
            taken.update(spots)
    return list(chosen.items())


def bleu(outputs: list[str], references: list[str]) -> float:
    return sacrebleu.corpus_bleu(outputs, [references], tokenize="none", force=True).score


def measure(model: Model, options: argparse.Namespace, links: list[Alignment], references: list[str]) -> str:
    if options.pop_limit:
        model = model.with_search(replace(model.translator.options, pop_limit=options.pop_limit))
    given = read_sources(model, options.source)
    sources = [line.split(" ") for line in read_lines(options.source)]
    found = model.translate_batch(given, threads=options.threads)
    plain = [one.text for one in found]
    outputs = [text.split(" ") for text in plain]

    candidates = [
        (number, *pair)
        for number, (link, source, reference) in enumerate(zip(links, sources, references, strict=True))
        for pair in phrase_pairs(link, source, reference.split(" "))
        if not count(pair[2], outputs[number])
    ]
    terms = choose(sorted(candidates, key=lambda each: (-len(each[2]), each)), sources, options.terms)
    glossary = Glossary(tuple(Entry(" ".join(source), " ".join(target), case="exact") for source, target in terms))
    forced = [one.text for one in model.translate_batch(given, threads=options.threads, glossary=glossary)]
    wanted = obeyed = 0
    for words, text in zip(sources, forced, strict=True):
        asked: Counter[Words] = Counter()
        for source, target in terms:
            asked[target] += count(source, words) if source[0] in words else 0
        wanted += asked.total()
        obeyed += sum(min(times, count(target, text.split(" "))) for target, times in asked.items())

    own = [
        (number, *pair)
        for number, (one, source, output) in enumerate(zip(found, sources, outputs, strict=True))
        for pair in phrase_pairs(one.alignment, source, output)
        if not set(pair[2]) & set(source)  # no other word could stand for one that nobody knows
    ]
    words_given = choose(sorted(own, key=lambda each: (len(each[2]), each)), sources, options.terms)
    without = Glossary(tuple(Entry(" ".join(s), " ".join(t), "forbid", "exact") for s, t in words_given))
    avoided = model.translate_batch(given, threads=options.threads, glossary=without)
    spots = appearances = 0
    for words, one in zip(sources, avoided, strict=True):
        for source, target in words_given:
            if source[0] in words and count(source, words):
                spots += 1
                appearances += count(target, one.text.split(" "))
    frequent = [word for word, _ in Counter(word for words in outputs for word in words).most_common(50)]
    never = model.translate_batch(
        given[:NEVER], threads=options.threads, glossary=Glossary(tuple(Entry("", word, "forbid") for word in frequent))
    )
    everywhere = sum(word in frequent for one in never for word in one.text.split(" "))
    refused = [sum(bool(one.problem) for one in some) for some in (avoided, never)]
    scores = f"{bleu(plain, references):.2f} → {bleu(forced, references):.2f}"
    row = f"| `{model.kind}` | {len(terms)} | {wanted} | {obeyed / max(1, wanted):.2%} | {scores} | "
    row += f"{len(words_given)} in {spots} | {appearances}, {refused[0]} refused | "
    row += f"{everywhere}, {refused[1]} refused |"
    return row


def large(model: Model, options: argparse.Namespace) -> str:
    """What a large glossary adds to the time."""
    given = read_sources(model, options.source)[: options.sentences]
    sources = [line.split(" ") for line in read_lines(options.source)]
    words = sorted({word for line in sources for word in line})
    nowhere = [Entry(f"{words[number % len(words)]} term{number}", "term") for number in range(options.large)]
    begins = [Entry(" ".join(line[:2]), "term") for line in sources[:: max(1, len(sources) // 100)]]
    models = {
        "none": model,
        "no term matches": model.with_glossary(Glossary(tuple(nowhere))),
        "some match": model.with_glossary(Glossary((*begins, *nowhere[len(begins) :]))),
    }
    times = take_times(models, given, options.rounds)
    shown = f"{model.kind}, {len(given)} sentences, {1000 * min(times['none']) / len(given):.2f} ms each without terms"
    for name in list(models)[1:]:
        shown += f"\n  {name}: {added(times[name], times['none']):+.1%}"
    return shown


def take_times(models: dict[str, Model], given: list[Any], rounds: int) -> dict[str, list[float]]:
    """CPU seconds of each model, in turn."""
    times: dict[str, list[float]] = {name: [] for name in models}
    for _ in range(rounds):
        for name, one in models.items():
            start = time.process_time()
            one.translate_batch(given)
            times[name].append(time.process_time() - start)
    return times


def added(some: list[float], others: list[float]) -> float:
    """The median of the rounds' ratios, less 1."""
    return median(one / other for one, other in zip(some, others, strict=True)) - 1


def preferred(model: Model, options: argparse.Namespace) -> str:
    """What preferred terms add to the time: the most frequent words, which most sentences have, then rare ones."""
    given = read_sources(model, options.source)[: options.sentences]
    sources = [line.split(" ") for line in read_lines(options.source)][: options.sentences]
    counts = Counter(word for line in sources for word in line if any(map(str.isalpha, word)))
    frequent = [word for word, _ in counts.most_common(options.preferred)]
    rare = [word for word, times in counts.items() if times == 1][: options.preferred]
    rest = [Entry(f"{frequent[n % len(frequent)]} term{n}", "term", "prefer") for n in range(options.large)]
    models = {"none": model}
    for name, words, more in (
        ("frequent", frequent, []),
        ("frequent, large", frequent, rest[len(frequent) :]),
        ("rare, large", rare, rest[len(rare) :]),
    ):
        entries = [Entry(word, "term", "prefer") for word in words] + more
        models[name] = model.with_glossary(Glossary(tuple(entries)))
    times = take_times(models, given, options.rounds)
    shown = f"{model.kind}, {len(given)} sentences, {1000 * min(times['none']) / len(given):.2f} ms each without terms"
    for name in list(models)[1:]:
        bound = models[name].bound_glossary
        assert bound is not None
        having = sum(bool(found.marks) for found in bound.find(sources))
        least = min(times[name]) / min(times["none"]) - 1
        middle = added(times[name], times["none"])
        shown += f"\n  {name}: {having} sentences have terms, {least:+.1%}, median of rounds {middle:+.1%}"
    return shown


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("source", "references", "links"):
        parser.add_argument(name)
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--terms", type=int, default=500)
    parser.add_argument("--large", type=int, default=0)
    parser.add_argument("--pop-limit", type=int, help="of the search, if not the model's own")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--preferred", type=int, default=0, help="take the time of so many preferred terms, no more")
    parser.add_argument("--sentences", type=int, default=150, help="for --large and --preferred")
    parser.add_argument("--rounds", type=int, default=6, help="for --large and --preferred")
    options = parser.parse_args()
    if options.preferred or options.large:
        for folder in options.models:
            print((preferred if options.preferred else large)(treeglot.load(folder), options), flush=True)
        return
    references = list(read_lines(options.references))
    links = [Alignment.parse(line) for line in read_lines(options.links)]
    head = "| | terms | occurrences | obeyed | BLEU | forbidden | there | frequent words there |"
    print(head)
    print("|---" * (head.count("|") - 1) + "|")
    for folder in options.models:
        print(measure(treeglot.load(folder), options, links, references), flush=True)


if __name__ == "__main__":
    main()
