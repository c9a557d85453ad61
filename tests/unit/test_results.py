"""Figures as data: the page of results is what its files make, and bad files are refused with their place."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from benches import BENCH, load_bench

CLAIMS, RENDER, RECORD = map(load_bench, ("claims", "render", "record"))
PATHS = ("/of/zh,/of/a/self:/of/en:14.5", "http://localhost:80/a")
WHERE = {"command": "python x.py", "commit": "abc1234", "machine": "2 cores", "load": 1.5, "date": "2026-11-17"}


def put(folder: Path, table: dict[str, Any], text: str = "## Is it fast?\n\n[table](t.json)\n") -> Path:
    (folder / "010-speed.md").write_text(text)
    (folder / "t.json").write_text(json.dumps(table))
    return folder


def test_the_page_is_what_its_files_make() -> None:
    found = (BENCH / "RESULTS.md").read_text(encoding="utf-8")
    made = RENDER["render"](BENCH / "results")
    assert found == made, "put text and figures into bench/results/NNN-*.md, then run python bench/render.py"


def test_links_to_results_lead_to_headings() -> None:
    top = BENCH.parent
    pages = [top / "README.md", *(top / "docs").rglob("*.md"), *(BENCH / "results").glob("*.md")]
    text = "".join(RENDER["render"](BENCH / "results"))
    headings = {RENDER["anchor"](line.lstrip("# ")) for line in text.splitlines() if line.startswith("#")}
    for page in pages:
        content = page.read_text(encoding="utf-8")
        own = r"|\]\(#([^)]*)\)" if page.parent.name == "results" else ""
        for found in re.finditer(r"RESULTS\.md#([^)\s]*)" + own, content):
            anchor = found[1] or found[2]
            assert anchor in headings, f"{page}: RESULTS.md has no #{anchor}"


def test_the_claims_are_what_their_file_makes() -> None:
    found = (BENCH.parent / "docs/claims.md").read_text(encoding="utf-8")
    made = CLAIMS["claims_page"](BENCH / "claims.json", BENCH / "results")
    assert found == made, "edit bench/claims.json, then run python bench/render.py"


@pytest.mark.parametrize(
    ("expects", "low", "high", "verdict"),
    [
        ("above", 0.1, 1.2, "confirmed"),
        ("above", -0.1, 1.2, "open: the interval includes 0"),
        ("above", 0.0, 1.2, "open: the interval includes 0"),
        ("above", -1.2, -0.1, "contradicted"),
        ("below", -1.2, -0.1, "confirmed"),
        ("below", 0.1, 1.2, "contradicted"),
        ("below", -1.2, 0.1, "open: the interval includes 0"),
        ("similar", -0.4, 0.3, "confirmed"),
        ("similar", 0.1, 0.3, "confirmed"),
        ("similar", 0.1, 0.6, "open: the interval is wider than the margin"),
        ("similar", 0.6, 0.9, "contradicted"),
        ("similar", -0.9, -0.6, "contradicted"),
        ("similar", -0.6, 0.3, "open: the interval is wider than the margin"),
    ],
)
def test_verdicts_follow_from_intervals(expects: str, low: float, high: float, verdict: str) -> None:
    figures = {"low": low, "high": high, "seeds": 3, "p": 0.04, "holm": 0.04}
    assert CLAIMS["verdict"](expects, figures, 0.5) == verdict
    later = CLAIMS["verdict"](expects, figures | {"holm": 0.05}, 0.5)
    decided = expects != "similar" and not verdict.startswith("open")
    assert later == (f"{verdict} before correction" if decided else verdict)
    for seeds in (1, 2):
        assert CLAIMS["verdict"](expects, figures | {"seeds": seeds}, 0.5) == f"open: {seeds} seed{'s' * (seeds > 1)}"


@pytest.mark.parametrize(
    ("ours", "paper", "verdict"),
    [
        (0.5, 0.4, "like the paper"),
        (0.9, 0.4, "same direction"),
        (1.2, 0.4, "other direction"),
        (3, 2, "like the paper"),
        (0.9, "less", "same direction"),
        (0.9, "more", "other direction"),
        (1.1, "more", "same direction"),
        (1.0, "more", "no difference"),
        (1.0, 0.9, "no difference"),
        (1.2, 0.9, "other direction"),
        (1.2, 1.0, "like the paper"),
        (2.0, 1.0, "other direction"),
    ],
)
def test_verdicts_on_counts(ours: float, paper: float | str, verdict: str) -> None:
    assert CLAIMS["verdict"]("ratio", {"ratio": ours, "paper": paper}) == verdict


def test_what_was_not_measured_has_no_verdict() -> None:
    assert CLAIMS["verdict"]("above", None) == "not measured"


ROW: dict[str, Any] = {
    "system": "`a`",
    "baseline": "`b`",
    "seeds": 3,
    "BLEU": 21.0,
    "baseline's BLEU": 20.0,
    "difference, 95 %": {"mean": 1.0, "low": 0.5, "high": 1.5},
    "p": 0.03,
    "sign test p, by seed": [0.5, 0.004, 0.00001],
}
CLAIM: dict[str, Any] = {
    "claim": "a is above b",
    "paper": "+1",
    "expects": "above",
    "from": {"file": "t.json", "row": {"system": "`a`", "baseline": "`b`"}},
}
RATIO: dict[str, Any] = {
    "claim": "a has fewer rules",
    "paper": "40 %",
    "expects": "ratio",
    "ratio": {
        "of": {"file": "t.json", "row": {"system": "`a`"}, "figure": "rules"},
        "to": 4000,
        "paper": 0.4,
        "shown": "{of:,} of {to:,}, {ratio:.0%}",
    },
}


def claims_of(tmp_path: Path, claims: list[dict[str, Any]], *rows: dict[str, Any]) -> str:
    """The rows of the page on the claims of a paper; one table has all figures."""
    rows = rows or (ROW | {"rules": 1800},)
    columns = [{"name": name} for name in rows[0]]
    put(tmp_path, {"columns": columns, "rows": [list(row.values()) for row in rows], **WHERE})
    path = tmp_path / "claims.json"
    path.write_text(json.dumps([{"paper": "p", "setting": "s", "claims": claims}]))
    page: str = CLAIMS["claims_page"](path, tmp_path)
    return page.split("|---|---|---|---|---|\n")[1]


def test_claims_show_what_the_table_says(tmp_path: Path) -> None:
    link = "([table](../bench/RESULTS.md#is-it-fast))"
    assert claims_of(tmp_path, [CLAIM, RATIO]).splitlines() == [
        "| a is above b | +1 | +1.00 (+0.50 to +1.50): 21.00 and 20.00; 3 seeds; *p* 0.030, 0.030 after Holm; "
        f"sign test 0.50, 0.004, < 0.001 {link} | **confirmed** |  |",
        f"| a has fewer rules | 40 % | 1,800 of 4,000, 45 % {link} | **like the paper** |  |",
    ]
    unmeasured = {key: value for key, value in CLAIM.items() if key != "from"}
    assert claims_of(tmp_path, [unmeasured]) == "| a is above b | +1 |  | **not measured** |  |\n"


def test_claims_on_the_scores_of_each_seed(tmp_path: Path) -> None:
    row = {"kind": "glue", "a, %": [1.0, 2.0, 3.0], "b, %": [1.0, 1.0, 1.0], "gain": {"mean": 1, "low": -1, "high": 2}}
    row["chance"] = 0.5
    given = {"file": "t.json", "row": {"kind": "glue"}, "figure": "gain", "means": ["a, %", "b, %"], "p": "chance"}
    given["as"] = ["points"]
    shown = "+1.00 (−1.00 to +2.00): 2.00 and 1.00; 3 seeds, points; *p* 0.50, 0.50 after Holm "
    shown += "([table](../bench/RESULTS.md#is-it-fast))"
    text = claims_of(tmp_path, [CLAIM | {"from": given}], row)
    assert text == f"| a is above b | +1 | {shown} | **open: the interval includes 0** |  |\n"


def test_the_claims_of_a_paper_are_one_family_of_tests(tmp_path: Path) -> None:
    other = ROW | {"baseline": "`c`", "p": 0.02}
    claims = [CLAIM, CLAIM | {"claim": "a is below c", "expects": "below"}]
    claims[1]["from"] = {"file": "t.json", "row": {"system": "`a`", "baseline": "`c`"}}
    first, second = claims_of(tmp_path, claims, ROW, other).splitlines()
    assert "*p* 0.030, 0.040 after Holm" in first and "**confirmed**" in first
    assert "*p* 0.020, 0.040 after Holm" in second and "**contradicted**" in second
    first, second = claims_of(tmp_path, claims, ROW, other | {"p": 0.03}).splitlines()
    assert "*p* 0.030, 0.060 after Holm" in first and "**confirmed before correction**" in first
    assert "**contradicted before correction**" in second
    similar = claims[1] | {"expects": "similar", "margin": 0.5}  # no test that one is above the other
    first, second = claims_of(tmp_path, [CLAIM, similar], ROW, other).splitlines()
    assert "*p* 0.030, 0.030 after Holm" in first and "Holm" not in second


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"verdict": "confirmed"}, "unknown key 'verdict'"),
        ({"expects": "more"}, "expects is 'more'; expected one of above, below, similar, ratio"),
        ({"expects": "similar"}, "expected a margin"),
        ({"expects": "ratio"}, "expected 'ratio' for a ratio"),
        ({"from": {"file": "t.json", "row": {"system": "`c`"}}}, "t.json has 0 rows with"),
        ({"from": {"file": "u.json", "row": {}}}, "No such file"),
        ({"from": {"file": "t.json", "row": {}, "figure": "p"}}, "'p' is 0.03; expected an interval"),
        ({"from": {"file": "t.json", "row": {}, "digits": 2}}, "unknown key 'digits'"),
        ({"from": {"file": "t.json", "row": {}, "p": "chance"}}, "the row has nothing in 'chance'"),
        ({"from": {"file": "t.json", "row": {}, "means": ["baseline's BLEU", "BLEU"]}}, "the means are 20.0 and 21.0"),
    ],
)
def test_bad_claims_are_refused(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said) as caught:
        claims_of(tmp_path, [CLAIM | change])
    assert "a is above b" in str(caught.value)
    with pytest.raises(ValueError, match="stands there twice"):
        claims_of(tmp_path, [CLAIM, CLAIM])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"paper": "fewer"}, "paper is 'fewer'; expected a number, 'less' or 'more'"),
        ({"of": RATIO["ratio"]["of"] | {"figure": "system"}}, "'system' is '`a`'; expected a number"),
        ({"by": 1}, "unknown key 'by'"),
        ({"of": 3}, "expected 'of' and 'to' from one table"),
        ({"to": RATIO["ratio"]["of"] | {"file": "u.json"}}, "expected 'of' and 'to' from one table"),
    ],
)
def test_bad_ratios_are_refused(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said) as caught:
        claims_of(tmp_path, [RATIO | {"ratio": RATIO["ratio"] | change}])
    assert "a has fewer rules" in str(caught.value)
    with pytest.raises(ValueError, match="expected of, paper, shown, to"):
        claims_of(tmp_path, [RATIO | {"ratio": {"of": 1}}])


def test_cells(tmp_path: Path) -> None:
    columns = [
        {"name": "system"},
        {"name": "rules", "unit": " kB"},
        {"name": "seeds", "digits": 2},
        {"name": "mean", "digits": 2, "mean_of": "seeds"},
        {"name": "gain", "digits": 1, "signed": True},
    ]
    rows = [
        ["hiero", 8145744, [26.23, 25.83], None, None],
        ["c2s", 12, None, None, {"mean": 0.25, "low": -0.5, "high": 1}],
    ]
    page = RENDER["render"](put(tmp_path, {"columns": columns, "rows": rows, **WHERE, "source": "Moses: its paper"}))
    assert page.startswith(RENDER["HEAD"])
    assert page.removeprefix(RENDER["HEAD"]).splitlines() == [
        "- [Is it fast?](#is-it-fast)",
        "",
        "## Is it fast?",
        "",
        "| system | rules | seeds | mean | gain |",
        "|---|---|---|---|---|",
        "| hiero | 8,145,744 kB | 26.23, 25.83 | 26.03 |  |",
        "| c2s | 12 kB |  |  | +0.2 (−0.5 to +1.0) |",
        "",
        "*`python x.py` · commit abc1234 · 2026-11-17 · 2 cores, load 1.5 · Moses: its paper*",
    ]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rows": [[1, 2]]}, "row 1 has 2 cells; expected 1"),
        ({"rows": [[True]]}, "row 1: True in 'a' is no figure"),
        ({"rows": [[{"mean": 1}]]}, "expected mean, low and high"),
        ({"columns": [{"name": "a", "digit": 2}]}, "is no column"),
        ({"columns": [{"name": "a", "mean_of": "b"}]}, "is no column"),
        ({"columns": [{"name": "a", "mean_of": "a"}]}, "is computed; expected null"),
        ({"speed": 1}, "unknown key 'speed'"),
        ({"columns": [{"name": "a"}, {"name": "a"}]}, "two columns have the same name"),
    ],
)
def test_bad_tables_are_refused(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    folder = put(tmp_path, {"columns": [{"name": "a"}], "rows": [[1]], **WHERE} | change)
    with pytest.raises(ValueError, match=said.replace("(", r"\(")) as caught:
        RENDER["render"](folder)
    assert str(tmp_path / "t.json") in str(caught.value)


@pytest.mark.parametrize("key", WHERE)
def test_how_a_table_was_made_is_needed(tmp_path: Path, key: str) -> None:
    table = {"columns": [{"name": "a"}], "rows": [[1]], **WHERE}
    del table[key]
    with pytest.raises(ValueError, match=f"'{key}' is missing"):
        RENDER["render"](put(tmp_path, table))


def test_odd_files_are_refused(tmp_path: Path) -> None:
    put(tmp_path, {}, "## Is it fast?\n")
    with pytest.raises(ValueError, match=r"t.json: no fragment shows it"):
        RENDER["render"](tmp_path)
    (tmp_path / "t.json").unlink()
    (tmp_path / "speed.md").write_text("## Speed\n")
    with pytest.raises(ValueError, match=r"speed.md: expected a name such as 010-speed.md"):
        RENDER["render"](tmp_path)
    (tmp_path / "speed.md").unlink()
    (tmp_path / "010-speed.md").write_text("Fast.\n")
    with pytest.raises(ValueError, match="expected a heading"):
        RENDER["render"](tmp_path)
    (tmp_path / "010-speed.md").write_text("## Speed\n\n[table](u.json)\n")
    with pytest.raises(ValueError, match=r"u.json"):
        RENDER["render"](tmp_path)


def test_a_benchmark_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [str(BENCH / "graph.py"), "--repeats", "7", "/somewhere/test.zh", *PATHS])
    column, record = RECORD["column"], RECORD["record"]
    record(tmp_path / "t.json", [column("pops"), column("ms", 1), column("gain", 1, signed=True)], [[50, 2.15, 1]])
    (tmp_path / "010-speed.md").write_text("## Is it fast?\n\n[table](t.json)\n")
    table = json.loads((tmp_path / "t.json").read_text())
    assert table["command"] == "python bench/graph.py --repeats 7 test.zh zh,self:en:14.5 http://localhost:80/a"
    assert "| 50 | 2.1 | +1.0 |" in RENDER["render"](tmp_path)
    record(None, [], [])


def test_new_code_leaves_a_plus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def git(*words: str) -> None:
        author = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *author, "-C", str(tmp_path), *words], check=True, capture_output=True)

    commit = RECORD["commit"]
    monkeypatch.setitem(commit.__globals__, "TOP", tmp_path)
    (tmp_path / "bench/results").mkdir(parents=True)
    (tmp_path / "bench/old.py").write_text("old\n")
    (tmp_path / "bench/results/old.json").write_text("{}\n")
    git("init")
    git("add", ".")
    git("commit", "-m", "Begin")
    (tmp_path / "notes.txt").write_text("no code\n")
    (tmp_path / "bench/results/old.json").write_text("changed\n")
    (tmp_path / "bench/results/new.json").write_text("{}\n")
    assert re.fullmatch("[0-9a-f]{7}", commit())
    (tmp_path / "bench/new.py").write_text("new\n")
    assert re.fullmatch(r"[0-9a-f]{7}\+", commit())
    (tmp_path / "bench/new.py").unlink()
    (tmp_path / "bench/old.py").write_text("changed\n")
    assert re.fullmatch(r"[0-9a-f]{7}\+", commit())
