"""Makes the rules of a new model: a rule table, or an index that finds rules on demand."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treeglot._core import Extractor, RuleTable
from treeglot.base.files import PathLike, write_json
from treeglot.rules.provenance import PROVENANCE

if TYPE_CHECKING:
    from treeglot._core import SourceFilter
    from treeglot.corpus.pairs import Pair, Pairs
    from treeglot.models.kind import Kind
    from treeglot.rules.engines import Engine
    from treeglot.rules.extract import Extraction
    from treeglot.rules.table import Compiled


SCORED_BYTES = 64  # of a row that the database gives, in memory: its number, probabilities and the bin of its count


@dataclass(frozen=True)
class RulesJob:
    """What rule extraction needs to know: its settings and output paths."""

    kind: Kind
    options: Any
    pairs: Pairs  # what was read, by the end
    folder: Path  # of the model
    scratch: Path
    threads: int
    memory: int
    report: Callable[[str], None]
    engine: Engine | None
    parts: Path  # where an engine puts the parts of the counts
    keep: SourceFilter | None
    filter: PathLike | None  # what `keep` was made of


def make_rules(job: RulesJob, given: Iterable[Pair]) -> int:
    """Extract, score and compile the rules of the pairs, and return the number of pairs."""
    from treeglot.rules.add_up import add_up
    from treeglot.rules.engines import DuckDB
    from treeglot.rules.score import make_tables

    options, folder, report = job.options, job.folder, job.report
    taken = job.kind.extraction(options)
    if job.pairs.counts.alignments and hasattr(taken, "repeated"):
        taken = taken.repeated(job.pairs.counts.alignments)
    extractors: list[Extractor] = []
    extraction = _extract(
        job.kind.extractor,
        given,
        job.scratch if job.engine is None else job.parts,
        taken,
        job.engine,
        seen=job.pairs.counts.as_counts,
        threads=job.threads,
        memory=job.memory // 2,
        keep=extractors.append if options.provenance else lambda extractor: None,
        report=report,
    )
    if job.engine is None and extraction.facts["parts"] > 1:
        extraction = add_up(extraction, job.threads)
    # Many scored rules stream out of the scorer, which keeps its memory while the table grows. Few leave a database
    # before the table grows.
    stream = extraction.facts["parts"] > 1 or extraction.facts["rows"] * SCORED_BYTES > job.memory // 4
    compiling = job.memory // 4 if stream else job.memory * 3 // 4
    scoring = job.memory - compiling if stream else job.memory
    scorer = job.engine or DuckDB(job.threads, scoring, job.scratch)
    facts = dict(extraction.facts)
    if job.kind.survey:
        facts["different"] = dataclasses.asdict(job.kind.survey(extraction, scorer))
    _report_extraction(facts, job.pairs, job.kind.says, report)
    write_json(folder / "extraction.json", facts)  # what was seen, and which options it was taken with
    tables = folder / "rules.parquet", folder / "rules.table"
    rules, compiled = make_tables(
        extraction, *tables, options.score, options.compile, scorer, job.keep, compiling, stream, job.engine
    )
    report(f"{rules:,} rules scored" if job.filter is None else f"{rules:,} rules scored that can meet {job.filter}")
    _report_table(compiled, report)
    for extractor in extractors:
        table = RuleTable.open(str(folder / "rules.table"))
        extractor.write_provenance(table, str(folder / PROVENANCE), job.threads)
        report("sentence pairs of all rules written")
    return int(facts["counts"]["pairs"])


def index_pairs(job: RulesJob, given: Iterable[Pair]) -> int:
    """Index the pairs, to find rules on demand, and return the number of pairs."""
    from treeglot.rules.on_demand import build_index

    options = job.options
    counts = {"pairs": 0, "unlinked": 0}

    def counted() -> Iterator[Pair]:
        for pair in given:
            counts["pairs"] += 1
            counts["unlinked"] += not len(pair.links)
            yield pair

    settings = job.kind.extraction(options), options.score, options.compile, options.demand
    build_index(counted(), job.folder, *settings, threads=job.threads, memory=job.memory)
    _report_pairs(counts, job.pairs, job.report)
    facts = {"extractor": job.kind.extractor, "options": dataclasses.asdict(settings[0]), "counts": counts}
    write_json(job.folder / "extraction.json", facts)
    job.report("sentence pairs indexed, to find rules on demand")
    return counts["pairs"]


def _extract(
    extractor: str,
    pairs: Iterable[Pair],
    folder: Path,
    options: Any,
    engine: Engine | None,
    *,
    keep: Callable[[Extractor], None],
    report: Callable[[str], None],
    **common: Any,
) -> Extraction:
    """Extract the rules of the pairs. With an engine, extract them in parts."""
    from treeglot.rules import extract
    from treeglot.rules.parts import extract_in_parts

    if engine is None:
        return extract(extractor, pairs, folder, options, keep=keep, **common)
    return extract_in_parts(extractor, pairs, folder, options, engine, report=report, **common)


LOST = {
    "unlinked": "without links",
    "unparsed": "without a parse",
    "no_tree": "without a target tree",
}


def _report_extraction(facts: Mapping[str, Any], pairs: Pairs, says: str, report: Callable[[str], None]) -> None:
    """Report how many pairs were read and how many rules were extracted."""
    _report_pairs(facts["counts"], pairs, report)
    report("rules extracted and counted" + (f": {says.format(**facts)}" if says else ""))
    if facts["options"].get("phrase_dependencies"):
        counts = facts["counts"]
        parsed, well_formed = counts["phrases_parsed"], counts["phrases_well_formed"]
        left = counts["phrases"] - well_formed - parsed
        report(f"{parsed:,} ill-formed phrases have the structures of their own parses, {left:,} have none")


def _report_pairs(counts: Mapping[str, int], pairs: Pairs, report: Callable[[str], None]) -> None:
    """Report how many pairs were read, and how many yielded nothing. If no pair has links, warn."""
    number = counts["pairs"]
    lost = [f"{counts[name]:,} {words}" for name, words in LOST.items() if counts.get(name)]
    report(f"{number:,} sentence pairs, of them {', '.join(lost) or 'none without links'}")
    for line in pairs.counts.lines():
        report(line)
    if number and counts["unlinked"] == number * counts.get("alignments", 1):
        warnings.warn(f"none of the {number:,} sentence pairs has links: there are no rules", stacklevel=3)


def _report_table(compiled: Compiled, report: Callable[[str], None]) -> None:
    left_out = {
        "rules of too great a scope left out": compiled.too_wide,
        "rules with a side of more than 255 symbols left out": compiled.left_out,
        "rules left out whose structures have cycles or crossing arcs": compiled.crossing,
    }
    said = ["rule table compiled", *(f"{number:,} {words}" for words, number in left_out.items() if number)]
    if compiled.spilled:
        said.append(f"{compiled.spilled / 1e6:,.0f} MB went through the disk, to keep within --memory")
    report("; ".join(said))
