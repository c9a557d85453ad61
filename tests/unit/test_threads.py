"""One object among many Python threads: right results or our refusal, never a crash. Run under ThreadSanitizer too."""

from __future__ import annotations

import gc
import runpy
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_lm import LM
from small_table import table

from treeglot import _core
from treeglot.align import Aligner
from treeglot.base.errors import FormatError
from treeglot.decode import SearchOptions, Translator
from treeglot.graph import Builder
from treeglot.models import load
from treeglot.models.folder import write_model
from treeglot.parse import treebank
from treeglot.parse.parser import ParsingOptions
from treeglot.rules.hiero import HieroOptions
from treeglot.sample import read_pairs, split
from treeglot.syntax import Alignment, Dependency, ParseForest, Tree

pytestmark = pytest.mark.threads

THREADS = 4
TREE = "(S (NP (PRP we)) (VP (VB go) (ADVP (RB home))))"
WORDS = ["we", "go", "home"]
REFUSED = "is in use by another call; give each thread its own, or use it behind a lock"


def together(work: Callable[[int], Any], times: int = 60) -> tuple[list[Any], int]:
    """The results of `work` in threads that start at once, and how many calls were refused."""
    barrier = threading.Barrier(THREADS)

    def run(thread: int) -> list[Any]:
        barrier.wait()
        out = []
        for i in range(times):
            try:
                out.append(work(thread * times + i))
            except RuntimeError as error:
                assert REFUSED in str(error)
                out.append(None)
        return out

    with ThreadPoolExecutor(THREADS) as workers:
        made = [one for thread in workers.map(run, range(THREADS)) for one in thread]
    return [one for one in made if one is not None], made.count(None)


def ngram_trainer() -> _core.NgramTrainer:
    options = {"order": 2, "prune": [], "fallback": [0.5, 1.0, 1.5], "threads": 2, "memory": 1 << 20, "folder": "/tmp"}
    return _core.NgramTrainer(options)


def test_a_reader() -> None:
    reader = _core.BracketReader("trees")
    text = f"{TREE}\n".encode() * 50
    found, refused = together(lambda _: len(reader.feed(text)))
    assert sum(found) == 50 * (60 * THREADS - refused)


def test_a_batch_of_trees() -> None:
    batch, tree = _core.TreeBatch(), Tree.parse(TREE)
    _, refused = together(lambda _: (batch.append(tree, WORDS, WORDS), len(batch)))
    assert 0 < len(batch) <= 60 * THREADS
    assert refused == 0 or len(batch) >= 60 * THREADS - refused


def test_an_ngram_trainer() -> None:
    trainer = ngram_trainer()
    texts = [_core.TrainingText("text", trainer) for _ in range(THREADS)]
    together(lambda i: texts[i % THREADS].feed(b"a b c\n" * 20))
    assert trainer.tokens == 3 * trainer.sentences


def test_a_call_within_a_call_is_refused() -> None:
    """What another thread would see while the trainer estimates, without any chance in it."""
    trainer = ngram_trainer()
    _core.TrainingText("text", trainer).feed(b"a b\nb c\n")
    seen = []

    def write(_: bytes) -> None:
        with pytest.raises(RuntimeError, match=f"^NgramTrainer {REFUSED}$"):
            _ = trainer.tokens
        seen.append(True)

    trainer.write_arpa("text", write, None)
    assert seen
    assert trainer.tokens == 4  # and it is free again


def test_a_dependency_trainer() -> None:
    trainer = _core.DependencyTrainer(_core.DependencyUnit.words, [0.5, 1.0, 1.5], _core.DependencyConditioning.sibling)
    sentence = Dependency(WORDS, [1, -1, 1])
    found, _ = together(lambda _: trainer.add([sentence] * 20) or 20)
    assert trainer.sentences == sum(found)


def test_a_learner_of_heads() -> None:
    learner, tree = _core.HeadLearner(), Tree.parse(TREE)
    found, _ = together(lambda _: (learner.add(tree, Dependency(WORDS, [1, -1, 1])), True)[1])
    assert learner.words == WORDS
    _, constituents, right = learner.learn(np.zeros(len(WORDS), dtype=np.uint8))
    assert constituents == right == 2 * len(found)


def test_an_arpa_reader() -> None:
    reader = _core.ArpaReader("x.arpa")

    def feed(_: int) -> bool:
        try:
            reader.feed(b"\n" * 2000)
        except FormatError:
            return False
        return True

    assert len(together(feed)[0]) > 0


def test_a_rule_table_builder_and_its_reader() -> None:
    builder = _core.RuleTableBuilder([])
    readers = [_core.GrammarReader("g", False, _core.GrammarFormat.cdec, "", builder) for _ in range(THREADS)]

    def feed(i: int) -> int:
        readers[i % THREADS].feed(f"[X] ||| w{i} [X,1] ||| v [X,1] ||| p=0.5\n".encode())
        return builder.source_word(f"w{i}")

    found, _ = together(feed)
    assert len(set(found)) == len(found)
    assert len(builder.finish()) >= len(found)


def test_a_bitext_builder() -> None:
    builder, links = _core.BitextBuilder(), Alignment([(i, i) for i in range(3)])

    def append(i: int) -> int:
        if i % 10 == 9:
            return len(builder.finish())
        builder.append(WORDS, [f"w{i}", "x", "y"], links)
        return -1

    found, _ = together(append)
    assert sum(found) + len(builder) == 0


def hiero_bitext(pairs: int) -> _core.Bitext:
    builder, links = _core.BitextBuilder(), Alignment([(i, i) for i in range(3)])
    for i in range(pairs):
        builder.append(WORDS, [f"w{i % 7}", "x", "y"], links)
    return builder.finish()


def test_an_extractor_and_its_tally() -> None:
    bitext = hiero_bitext(200)
    lexical = _core.LexicalTable(bitext)
    extractor, tally = _core.HieroExtractor(bitext, HieroOptions()), _core.Tally()

    def extract(i: int) -> int:
        if i % 3 == 0:
            return extractor.extract(0, tally, 1 << 30, 2)
        if i % 3 == 1:
            tally.columns(0, tally.partitions, lexical, True)
        return 0 * sum(extractor.counts.values())

    found, _ = together(extract, times=9)
    assert extractor.counts["pairs"] == sum(found)
    rows = tally.columns(0, tally.partitions, lexical, True)
    alone, again = _core.HieroExtractor(bitext, HieroOptions()), _core.Tally()
    for _ in range(sum(found) // 200):
        alone.extract(0, again, 1 << 30, 1)
    expected = again.columns(0, tally.partitions, lexical, True)
    assert all(np.array_equal(x, y) for x, y in zip(rows[4:], expected[4:], strict=True))


def test_scores_of_rules() -> None:
    scores = _core.RuleScores(
        factors=[], discounts=[], rules=0.0, least=1, least_gappy=1, targets_per_source=0, roots=False, apart=False
    )
    dtypes = (np.int64, np.float64, np.uint32, np.uint32, np.uint8)

    def add(i: int) -> int:
        if i % 3 == 0:
            return scores.bytes and 0
        scores.add((np.array([0, 1], np.int32), np.array([i % 50], np.int8)), tuple(np.ones(1, d) for d in dtypes))
        return 1

    found, _ = together(add)
    assert scores.waiting == sum(found) > 0


def test_banks_of_parses() -> None:
    forests, dependencies = _core.ForestBank(1.0), _core.DependencyBank()
    forest, dependency = ParseForest.from_tree(Tree.parse(TREE)), Dependency(WORDS, [1, -1, 1])
    found, _ = together(lambda _: forests.append([forest] * 5, 2) or 5)
    assert len(forests) == sum(found)
    found, _ = together(lambda _: dependencies.append(dependency) or 1)
    assert len(dependencies) == sum(found)


def test_what_an_extractor_reads_stays_as_it_is() -> None:
    bank, dependency, bitext = _core.DependencyBank(), Dependency(WORDS, [1, -1, 1]), hiero_bitext(1)
    bank.append(dependency)
    labels = _core.TargetStructures(bitext, bank, True)
    with pytest.raises(RuntimeError, match=f"^DependencyBank {REFUSED}$"):
        bank.append(dependency)
    extractor = _core.HieroExtractor(bitext, HieroOptions(), labels)
    with pytest.raises(RuntimeError, match=f"^PhraseLabels {REFUSED}$"):
        _core.HieroExtractor(bitext, HieroOptions(), labels)
    assert extractor.extract(0, _core.Tally(), 1 << 30, 1) == 1
    del extractor, labels
    gc.collect()
    bank.append(dependency)
    assert len(bank) == 2


def test_a_treebank_stays_as_it_is_while_it_is_trained_on() -> None:
    trees = [pair.source_tree for pair in split(read_pairs(40))["train"]]
    bank, _ = treebank(trees)
    trainer = _core.Trainer(bank, _core.SignatureKind.chinese)
    with pytest.raises(RuntimeError, match=f"^Treebank {REFUSED}$"):
        bank.add(trees[0])
    first = trainer.log_likelihood(1)
    found, _ = together(lambda i, shared=trainer: shared.log_likelihood(2) if i % 2 else shared.states, times=5)
    assert {one for one in found if isinstance(one, float)} <= {first}
    del trainer
    gc.collect()
    bank.add(trees[0])


def test_a_graph_builder() -> None:
    builder = Builder()
    together(lambda _: builder.add_edge(builder.add_node()))
    assert builder.freeze(0).graph.nodes == 60 * THREADS


def test_an_enumeration_of_derivations() -> None:
    builder = Builder()
    node = builder.add_node()
    for _ in range(60 * THREADS):
        builder.add_edge(node)
    graph = builder.freeze(node).graph
    shared = _core.GraphKBest(graph, -np.arange(graph.edges, dtype=np.float64), None, None)
    found, refused = together(lambda _: shared.next().score)
    assert (sorted(found), refused) == (sorted(float(-i) for i in range(graph.edges)), 0)


def test_models_are_read_by_all() -> None:
    rules = table()

    def read(_: int) -> tuple[list[float], int]:
        ids, offsets = LM.encode(["u v u", "v v"])
        return LM.score_texts(ids, offsets).tolist(), len(rules)

    expected = read(0)
    assert together(read)[0] == [expected] * 60 * THREADS


def test_a_decoder_translates_for_all() -> None:
    weights = {"p": 1.0, "glue": -0.1, "unknown": -5.0}
    translator = Translator(table(), weights, options=SearchOptions())
    lines = ["das ist haus", "das Schloss", "haus ist das ist haus"]
    expected = [translator.translate(line).text for line in lines]
    found, refused = together(lambda i: (i % 3, translator.translate(lines[i % 3]).text), times=20)
    assert refused == 0
    assert all(text == expected[i] for i, text in found)


def test_batches_and_finished_searches_for_all() -> None:
    """Each call has threads of its own; lists and forests are asked of searches that others have ended since."""
    translator = Translator(table(), {"p": 1.0, "glue": -0.1, "unknown": -5.0}, options=SearchOptions())
    lines = ["das ist haus", "das Schloss", "haus ist das ist haus"]

    def ask(i: int) -> tuple[list[str], list[str], int]:
        batch = translator.translate_batch(lines, 3, True, 2)
        found = translator.translate(lines[i % 3])
        texts = [hypothesis.text for hypothesis in found.kbest(4)]
        return [h.text for one in batch for h in one.hypotheses], texts, found.forest().graph.nodes

    expected = [ask(i) for i in range(3)]
    found, refused = together(lambda i: (i % 3, ask(i)), times=10)
    assert refused == 0
    assert all(answer == expected[i] for i, answer in found)


def test_a_parser_for_all() -> None:
    grammar = _core.SplitGrammar.read(
        [(("s", b"ROOT\t0\t1 [0]\nS\t1\t1 [0]\nA\t2\t1 [0]\n"),
          ("g", b"ROOT_0 -> S_0 1\nS_0 -> S_0 S_0 0.3\nS_0 -> A_0 0.7\n"), ("l", b"A a [0.5]\nA b [0.1]\n"))]
    )  # fmt: skip
    parser, options = _core.SplitParser(grammar, 0), ParsingOptions(threads=2)
    sentences = [["a", "b", "a"], ["a"], ["b"] * 6]

    def parse(_: int) -> list[str]:
        return [str(forest.viterbi()) for forest, *_ in parser.forests(sentences, options, 2)]

    expected = parse(0)
    found, refused = together(parse, times=10)
    assert (found, refused) == ([expected] * 10 * THREADS, 0)


def test_an_aligner_for_all() -> None:
    pairs = [(["a", "b"], ["c", "d"]), (["a"], ["c"]), (["b", "a"], ["d", "c"])]
    aligner = Aligner.train(pairs, "sampler", options={"rounds": 4}, threads=2)
    expected = [str(links) for links in aligner.align_all(pairs)]
    found, refused = together(lambda _: [str(links) for links in aligner.align_all(pairs, threads=2)], times=10)
    assert (found, refused) == ([expected] * 10 * THREADS, 0)


def test_good_and_bad_requests_from_many_threads(tmp_path: Path) -> None:
    """What bench/requests.py measures, in small: each thread gets the answers of one thread, and errors of its own."""
    table().write(str(tmp_path / "rules.table"))
    write_model(tmp_path, "hiero", {"p": 1.0, "glue": -0.1, "unknown": -5.0}, SearchOptions(pop_limit=20))
    (tmp_path / "model.toml").write_text('lm = ""\n' + (tmp_path / "model.toml").read_text())
    bench = runpy.run_path(str(Path(__file__).parents[2] / "bench/requests.py"))
    wanted = bench["requests"](["das ist haus", "das", "haus ist das", "das das haus", "Schloss"], 800)
    model = load(tmp_path)
    answers, _ = bench["serve"](model, wanted, 8, 100, lambda: 0.0)
    alone = {repr(request): bench["answer"](model, request) for request in wanted}
    assert answers == [alone[repr(request)] for request in wanted]
    assert {answer[0] for answer in answers} == {"answer", "error"}
