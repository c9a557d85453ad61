"""Parts that `treeglot translate` and `treeglot decode` share: their options, and the output for each sentence."""

from __future__ import annotations

import fcntl
import json
import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from treeglot.base.errors import TreeglotError, UsageError
from treeglot.base.files import COMPRESSED
from treeglot.base.options import Range
from treeglot.cli.output import Progress, say, warn
from treeglot.cli.parameters import NewFile, Out, Threads

if TYPE_CHECKING:
    from treeglot.decode import SearchOptions, Translation, Translator
    from treeglot.decode.translator import Source
    from treeglot.foreign import ForeignTranslator
    from treeglot.models import Model
    from treeglot.syntax import Dependency

BATCH = 500  # sentences translated between two writes: memory does not grow with the input
REFUSED = "; its output is empty"  # ends the warning about an input that cannot be translated
EMPTY = b'{"goal":null,"nodes":[]}'  # the forest of a line that was refused


def given_weights(path: Path) -> dict[str, float]:
    """Read a file of weights. Print a remark if it contains no weights."""
    from treeglot.decode.weights import read_weights

    found = read_weights(path)
    if not any(found.values()):
        warn(f"{path}: no weight is other than 0; all translations of a sentence score the same")
    return found


def searched(options: SearchOptions, **given: float | bool | None) -> SearchOptions:
    """Return the search options of the model, overridden by those of the command line."""
    return replace(options, **{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type]


@dataclass(frozen=True)
class Output:
    """Options of `translate` and `decode`: what to write for each sentence, and where to write it."""

    out: Out = Path("-")
    kbest: Annotated[
        int | None,
        typer.Option(help="Hypotheses to print for each sentence: NUMBER ||| TEXT ||| …; default: none."),
    ] = None
    distinct: Annotated[bool, typer.Option(help="In a k-best list, every text once, with its best derivation.")] = True
    as_json: Annotated[bool, typer.Option("--json", help="A JSON object a line, with features.")] = False
    trace: Annotated[bool, typer.Option(help="The derivation of each output, after it or in the JSON.")] = False
    forest: Annotated[NewFile, typer.Option(help="Write the search's hypergraph of each sentence as JSON.")] = None
    margin: Annotated[
        float | None, typer.Option(help="In the forests, only derivations that score within this of the best.")
    ] = None
    html: Annotated[NewFile, typer.Option(help="Write a page that draws each translation and its rules.")] = None
    svg: Annotated[NewFile, typer.Option(help="Write a picture of the first translation and its rules.")] = None
    time: Annotated[bool, typer.Option(help="Say at the end how long it took.")] = False
    threads: Threads = 1
    skip_bad: Annotated[
        bool,
        typer.Option("--skip-bad", help="Skip bad rules, and accept input that cannot be translated."),
    ] = False
    dependencies: Path | None = None
    key: str = ""  # of a run that can be resumed: of all that its output depends on
    listed: Callable[[Mapping[str, float]], str] | None = None  # features as another decoder's lists have them

    def __post_init__(self) -> None:
        """Refuse numbers that are out of range."""
        Range(least=0).check("kbest", self.kbest)
        Range(least=0, infinite=True).check("margin", self.margin)
        if self.key and (self.kbest or (self.trace and not self.as_json) or self.out.suffix in COMPRESSED):
            raise UsageError("--resume is for uncompressed output with one line per sentence")
        elsewhere = str(self.out) == "-" or (self.out.exists() and not self.out.is_file())
        if self.key and (elsewhere or self.forest or self.html or self.svg or self.dependencies):
            raise UsageError("--resume is for --out FILE alone")
        if self.margin is not None and self.forest is None:
            raise UsageError("--margin is for forests; expected --forest, too")


def run(
    translator: Translator | ForeignTranslator,
    sources: Iterator[Source],
    source: Path,
    output: Output,
    first: int = 1,
    translate: Callable[..., list[Translation]] | None = None,
) -> Counter[int]:
    """Translate `sources`, read from `source`, with any translator. Every command that decodes calls this function.

    `first` is the number of the first sentence in `source`; messages use it. `translate` replaces the batch function of
    the translator, for models that read text. The result tells how often each entry of a glossary was used.
    """
    from contextlib import nullcontext

    from treeglot.base.files import write_binary

    translate = translate or translator.translate_batch
    warn_of(translator)
    done = Done(output, source, first)
    with (
        _resumed(output) if output.key else write_binary(output.out) as stream,
        write_binary(output.forest) if output.forest is not None else nullcontext() as forests,
        Progress("translating", unit="sentences") as progress,
    ):
        for line, given in zip(stream, sources, strict=False) if output.key else ():  # what an earlier run did
            if line == b"\n" or b'"problem": ' in line:
                done.refuse(translate([given])[0])
            done.number += 1
        translate_into(stream, forests, sources, translate, done, progress.update)
    done.draw()
    done.report()
    return done.terms


def warn_of(translator: Translator | ForeignTranslator) -> None:
    """Warn of weights that match no feature, and of rules that are never used."""
    for name in translator.unknown_weights:
        warn(f"the weights name {name!r}, which is not a feature of this model")
    warn_left_out(translator.left_out)


def translate_into(
    stream: IO[bytes],
    forests: IO[bytes] | None,
    sources: Iterable[Source],
    translate: Callable[..., list[Translation]],
    done: Done,
    update: Callable[[float], None] = lambda number: None,
) -> None:
    """Translate the sentences in batches, and write the output for each. `done` collects the counts."""
    from treeglot.base.files import batches

    output = done.output
    margin = math.inf if output.margin is None else output.margin
    flush = output.out.suffix not in COMPRESSED  # there it would change the bytes, and nobody reads them before the end
    for batch in batches(sources, BATCH):
        found = translate(batch, max(output.kbest or 0, 1), output.distinct, output.threads)
        for given, translation in zip(batch, found, strict=True):
            done.refuse(translation)
            stream.write(render(translation, done.number, output).encode())
            if forests is not None:
                if len(translation.sentences) > 1:
                    raise UsageError(f"{done.source}:{done.number + done.first}: --forest is for one sentence a line")
                line = EMPTY if translation.problem else translation.forest(margin).to_json().encode()
                forests.write(line + b"\n")
            done.add(given, translation)
        if flush:
            stream.flush()
        update(done.number)


class Done:
    """The results of a finished run: counts, and drawings of its translations."""

    def __init__(self, output: Output, source: Path, first: int, tell: Callable[[str], None] = warn) -> None:
        """Create empty counts.

        `first` is the number of the first sentence in `source`. `tell` is called for each sentence that cannot be
        translated.
        """
        from treeglot.corpus.doubts import Doubts

        self.output, self.source, self.first = output, source, first
        self.number = self.bad = self.words = 0
        self.seconds = 0.0
        self.notes: Counter[str] = Counter()
        self.terms: Counter[int] = Counter()
        self.doubts = Doubts(str(source))
        self.drawn: list[tuple[str, str]] = []
        self.picture: str | None = None
        self.trees: list[Dependency | None] = []
        self.tell = tell

    def facts(self) -> dict[str, Any]:
        """Return all counts as JSON values. Another run can add them with `take`."""
        found: dict[str, Any] = {name: getattr(self, name) for name in ("number", "bad", "words", "seconds")}
        doubts = {name: count for name, count in vars(self.doubts).items() if name != "name"}
        return found | {"notes": dict(self.notes), "terms": list(self.terms.items()), "doubts": doubts}

    def take(self, facts: Mapping[str, Any]) -> None:
        """Add the counts of another run, as its method `facts` returned them."""
        for name in ("number", "bad", "words", "seconds"):
            setattr(self, name, getattr(self, name) + facts[name])
        for name, count in facts["doubts"].items():
            setattr(self.doubts, name, getattr(self.doubts, name) + count)
        self.notes.update(facts["notes"])
        for entry, count in facts["terms"]:
            self.terms[entry] += count

    def refuse(self, translation: Translation) -> None:
        """Count and report a sentence that cannot be translated."""
        if translation.problem:
            self.tell(f"{self.source}:{self.number + self.first}: {translation.problem}{REFUSED}")
            self.bad += 1

    def add(self, given: Source, translation: Translation) -> None:
        """Count one more translation, and keep it for drawings."""
        if self.output.svg is not None and self.picture is None:
            from treeglot.decode.draw import to_svg

            self.picture = to_svg(translation)
        if self.output.html is not None:
            from treeglot.decode.draw import to_html

            self.drawn.append((f"sentence {self.number + self.first}", to_html(translation, given)))
        if self.output.dependencies is not None:
            self.trees.append(translation.dependency)
        self.doubts.add(translation.words, unknown=round(translation.features.get("unknown", 0.0)))
        self.number += 1
        self.seconds += translation.seconds
        self.words += len(translation.words)
        self.notes.update(set(translation.notes))
        self.terms.update(term.entry for term in translation.terms)

    def draw(self) -> None:
        """Write the drawings of the translations: the page, the picture and the trees."""
        from treeglot.base.files import write_binary

        if self.output.html is not None:
            from treeglot.syntax.draw import page

            with write_binary(self.output.html) as stream:
                stream.write(page(str(self.source), self.drawn).encode())
        if self.output.svg is not None and self.picture is not None:
            with write_binary(self.output.svg) as stream:
                stream.write(self.picture.encode())
        if self.output.dependencies is not None:
            _write_dependencies(self.output.dependencies, self.trees)

    def report(self) -> None:
        """Print remarks on the run. If some sentences could not be translated, raise an error."""
        number, each = self.number, 1000 * self.seconds / max(self.number, 1)
        for problem in self.doubts.found():
            warn(problem)
        for note, times in self.notes.items():
            say(f"{note}: {times:,} of {number:,} sentences")
        if self.output.time and number:
            say(f"{number:,} sentences, {self.words:,} words: {self.seconds:.2f} s of CPU, {each:.2f} ms each")
        if self.output.svg is not None and self.picture is None:
            raise TreeglotError(f"there is no derivation to draw: {self.output.svg} is not written")
        if self.bad and not self.output.skip_bad:
            raise TreeglotError(f"{self.bad:,} of {number:,} inputs could not be translated; --skip-bad accepts that")


@contextmanager
def _resumed(output: Output) -> Iterator[IO[bytes]]:
    """Open the partial output of an interrupted run, to continue it. Incomplete lines are dropped."""
    target = output.out.resolve()
    path = target.with_name(f".{target.name}.{output.key}.partial")
    with path.open("a+b") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            taken = not path.exists() or not os.path.samestat(path.stat(), os.fstat(stream.fileno()))
        except BlockingIOError:
            taken = True
        if taken:
            raise UsageError(f"another run of the same command writes {output.out}; expected one at a time")
        stream.seek(0)
        stream.truncate(sum(len(line) for line in stream if line.endswith(b"\n")))
        stream.seek(0)
        yield stream
        stream.flush()
        os.fsync(stream.fileno())
        path.replace(target)


def signature(model: Model) -> str:
    """Identify a model by its kind, its search options and the headers of its files, which contain checksums.

    Translations also depend on head tables, which are text files, and on dependency models. So the result covers these
    files, too.
    """
    from hashlib import blake2b

    from treeglot.models.artefacts import JOINED, SOURCE_HEADS
    from treeglot.rules.on_demand import read_facts

    parts = [model.kind, repr(model.translator.options)]
    parts += [model.corrections.digest] if model.corrections is not None else []
    more = [path.name for pattern in ("*.heads", "dlm.*.bin") for path in sorted(model.directory.glob(pattern))]
    rules = [f"{JOINED}/{name}" for name in model.file.parts]
    more += [f"{part}/{SOURCE_HEADS}" for part in rules if (model.directory / part / SOURCE_HEADS).is_file()]
    tables = [f"{part}/rules.table" for part in rules] or [model.file.on_demand or model.file.rules]
    more += read_facts(model.directory / model.file.on_demand)["indexes"] if model.file.on_demand else []
    networks = model.file.every_network.values()
    more += [model.file.context]
    for name in (*tables, model.file.lm, *model.file.lms.values(), *networks, *more):
        if name:
            with (model.directory / name).open("rb") as stream:
                content = stream.read(-1 if name.endswith(".heads") or name == model.file.context else 4096)
                parts.append(blake2b(content, digest_size=8).hexdigest())
    return " ".join(parts)


def warn_left_out(rules: int) -> None:
    """Report how many rules of a table are never used."""
    if rules:
        warn(f"{rules:,} rules from one nonterminal to another close a cycle of labels; they are left out")


def _write_dependencies(path: Path, trees: list[Dependency | None]) -> None:
    from treeglot.syntax import write

    known = [tree for tree in trees if tree is not None]
    write(path, known)
    if len(known) < len(trees):
        warn(f"{len(trees) - len(known)} outputs are empty and have no tree; {path} is without them")


def render(translation: Translation, number: int, output: Output) -> str:
    """Return the lines that are written for one translation."""
    from treeglot.decode.kbest import Entry
    from treeglot.decode.translation import as_object

    if output.as_json:
        entry = as_object(translation, number, kbest=bool(output.kbest), trace=output.trace)
        return json.dumps(entry, ensure_ascii=False) + "\n"
    if output.kbest:
        entries = (Entry(number, h.text, h.features, h.score) for h in translation.hypotheses)
        return "".join(f"{entry.line(output.listed)}\n" for entry in entries)
    text = translation.text + "\n"
    if output.trace and translation.derivation.steps:
        text += "".join(f"# {line}\n" for line in str(translation.derivation).split("\n"))
    return text
