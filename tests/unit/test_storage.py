"""Files with a URI: read, written, copied, refused. A server on this machine speaks S3's protocol."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
import threading
import time
from functools import wraps
from pathlib import Path
from typing import Any, get_args

import pytest
from neural_models import random_model
from s3_server import KEY
from small_lm import ARPA
from small_table import model_folder

from treeglot import FormatError, UsageError, sample
from treeglot.base.files import check_output, logical_suffix, read_json, read_lines, write_binary, write_json
from treeglot.base.locks import locked
from treeglot.base.storage import (
    FILES,
    StorageError,
    fetch,
    find_uri,
    is_complete,
    is_remote,
    plain_path,
    upload_file,
    upload_folder,
)
from treeglot.cli import main
from treeglot.cli.app import COMMANDS, build_command, load
from treeglot.cli.parameters import Here, Mapped, Streamed, Writes, expand, file_marks
from treeglot.cli.places import placed
from treeglot.lm import compile_ngram


def objects(store):
    """What the bucket has; names that end in a slash are Arrow's marks of folders."""
    return {name: content for name, content in store.buckets["data"].items() if not name.endswith("/")}


def test_which_paths_are_uris(tmp_path, monkeypatch):
    assert find_uri(Path("s3://data/a")) == find_uri("s3://data/a") == "s3://data/a"
    assert find_uri(Path("S3://data/a")) == "s3://data/a"
    assert find_uri("train.de") is find_uri("-") is find_uri("C:/a") is None
    assert plain_path(Path("file:///data/a b%20c")) == "/data/a b c"
    assert not is_remote("file:///data/a")
    assert logical_suffix("s3://data/a.forest.xz?region=eu-north-1") == ".forest"
    with pytest.raises(
        UsageError, match=r"ftp://host/a: the scheme 'ftp' is unknown; expected one of abfs, abfss, file"
    ):
        find_uri("ftp://host/a")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "odd:").mkdir()
    assert find_uri("odd:/a") is None


@pytest.mark.parametrize("name", ["a", "a.gz", "a.xz", "a.zst", "deep/er/a.gz"])
def test_text_at_a_uri(store, tmp_path, name):
    with write_binary(tmp_path / Path(name).name) as stream:
        stream.write(b"one\ntwo\n")
    with write_binary(f"s3://data/{name}") as stream:
        stream.write(b"one\ntwo\n")
    assert objects(store) == {name: (tmp_path / Path(name).name).read_bytes()}
    assert read_lines(f"s3://data/{name}") == read_lines(Path(f"s3://data/{name}")) == ["one", "two"]


def test_a_file_of_this_machine_by_its_uri(tmp_path):
    uri = f"file://{tmp_path}/a.json"
    write_json(uri, {"pairs": 3})
    assert read_json(uri) == read_json(Path(uri)) == {"pairs": 3}
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_nothing_appears_before_it_is_complete(store):
    uri = "s3://data/a"
    with write_binary(uri) as stream:
        stream.write(b"old")
    with pytest.raises(ZeroDivisionError), write_binary(uri) as stream:
        stream.write(b"new" * 10_000_000)  # more than is sent at once
        assert objects(store)["a"] == b"old"
        raise ZeroDivisionError
    assert objects(store) == {"a": b"old"}


def test_places_that_cannot_be_used(store, monkeypatch):
    with pytest.raises(FileNotFoundError, match="No such file or directory: 's3://data/none'"):
        read_lines("s3://data/none")
    for use in (read_lines, check_output):
        with pytest.raises(StorageError, match=r"^s3://other/a: there is no such bucket$"):
            use("s3://other/a")
        with pytest.raises(UsageError, match=r"^s3://data names no file; expected a URI such as s3://data/KEY$"):
            use("s3://data")
    with pytest.raises(UsageError, match=r"^hdfs://path names no file; expected a URI such as hdfs://default/path$"):
        read_lines(Path("hdfs:///path"))
    with pytest.raises(StorageError, match=r"^s3://data/a\?speed=1: Unexpected query parameter in S3 URI: 'speed'$"):
        read_lines("s3://data/a?speed=1")
    store.buckets["data"]["b"] = b"one"
    store.refuse = "GET"
    with pytest.raises(StorageError, match=r"^s3://data/b: AWS Error "):
        read_lines("s3://data/b")
    del store.buckets["data"]["b"]
    store.refuse = "PUT"
    with pytest.raises(StorageError, match=r"^s3://data/a: .*EntityTooLarge"), write_binary("s3://data/a") as stream:
        stream.write(b"one\n")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "nobody")
    for use in (read_lines, check_output):
        with pytest.raises(StorageError, match=r"^s3://data/a: access was denied; expected credentials in AWS_ACCESS"):
            use("s3://data/a")
    assert objects(store) == {}


def test_a_server_that_does_not_answer(store, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    with pytest.raises(StorageError, match=r"^s3://data/a: the server does not answer$"):
        read_lines("s3://data/a")


def test_a_copy_is_used_again_while_it_is_the_same(store, tmp_path):
    store.buckets["data"]["lm.bin.gz"] = b"first"  # bytes stay as they are
    told: list[str] = []
    path = fetch("s3://data/lm.bin.gz", report=told.append)
    assert path.name == "lm.bin.gz"
    assert path.read_bytes() == b"first"
    assert told == [f"s3://data/lm.bin.gz: copied to {path}, 0.0 MB, to map it into memory"]
    store.asked.clear()
    assert fetch(Path("s3://data/lm.bin.gz"), report=told.append) == path
    assert "GET data/lm.bin.gz" not in store.asked
    path.write_bytes(b"worse")
    assert fetch("s3://data/lm.bin.gz", report=told.append).read_bytes() == b"first"
    store.buckets["data"]["lm.bin.gz"] = b"second"
    assert fetch("s3://data/lm.bin.gz", report=told.append).read_bytes() == b"second"
    assert len(told) == 3
    assert fetch(tmp_path / "here") == tmp_path / "here"
    assert fetch(f"file://{tmp_path}/here") == tmp_path / "here"


def test_a_folder_is_complete_or_refused(store, tmp_path):
    own, uri = tmp_path / "own", "s3://data/deep/model"
    (own / "parser").mkdir(parents=True)
    (own / "a.gz").write_bytes(b"one")
    (own / "parser" / "b").write_bytes(b"two")
    assert not is_complete(uri)
    upload_folder(own, uri)
    assert is_complete(uri)
    assert set(objects(store)) == {"deep/model/a.gz", "deep/model/parser/b", f"deep/model/{FILES}"}
    copy = fetch(uri)
    assert {p.relative_to(copy).as_posix(): p.read_bytes() for p in copy.rglob("*") if p.is_file()} == {
        "a.gz": b"one",
        "parser/b": b"two",
    }
    (copy / "stray").touch()
    (copy / "a.gz").write_bytes(b"bad")
    store.asked.clear()
    assert fetch(uri) == fetch(f"{uri}/") == copy
    assert (copy / "a.gz").read_bytes() == b"one"
    assert not (copy / "stray").exists()
    store.buckets["data"]["deep/model/parser/b"] = b"other"
    (copy / "parser" / "b").unlink()
    with pytest.raises(FormatError, match=r"^s3://data/deep/model/parser/b: is not the file that files.json lists"):
        fetch(uri)
    assert not (copy / "parser" / "b").exists()
    listed = json.loads(store.buckets["data"][f"deep/model/{FILES}"])
    for name in ("../b", "/b", "parser/../../b", "."):
        store.buckets["data"][f"deep/model/{FILES}"] = json.dumps({name: listed["parser/b"]}).encode()
        with pytest.raises(FormatError, match=r"expected a path in the folder, its size and checksum"):
            fetch(uri)
    del store.buckets["data"][f"deep/model/{FILES}"]
    with pytest.raises(FormatError, match=r"^s3://data/deep/model: is no file, and no complete folder: files.json is"):
        fetch(uri)


def test_one_process_at_a_time_fetches_a_model(store, tmp_path):
    (tmp_path / "model").mkdir()
    for number in range(8):
        (tmp_path / "model" / str(number)).write_bytes(bytes([number]) * 100_000)
    upload_folder(tmp_path / "model", "s3://data/model")
    code = "import sys; from treeglot.base.storage import fetch; print(fetch(sys.argv[1]))"
    command = [sys.executable, "-c", code, "s3://data/model"]
    store.asked.clear()
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(3)]
    ended = [process.communicate() for process in started]
    assert [error for _, error in ended] == [b""] * 3
    [copy] = {Path(told.decode().strip()) for told, _ in ended}
    assert sorted(path.name for path in copy.iterdir()) == sorted(map(str, range(8)))
    assert sorted(one for one in store.asked if one.startswith("GET data/model/") and one[-1].isdigit()) == [
        f"GET data/model/{number}" for number in range(8)
    ]
    assert [path.name for path in copy.parent.parent.iterdir()] == [copy.parent.name]


def test_a_lock_is_held_by_one(tmp_path):
    with locked(tmp_path / "a.lock", "taken"):
        with pytest.raises(UsageError, match=r"^taken$"), locked(tmp_path / "a.lock", "taken"):
            pass
        with locked(tmp_path / "b.lock", "taken"):
            pass
    count = 0

    def add() -> None:
        nonlocal count
        for _ in range(50):
            with locked(tmp_path / "a.lock"):
                seen = count
                time.sleep(1e-5)
                count = seen + 1

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert count == 200
    assert not list(tmp_path.iterdir())


def test_an_upload_that_fails_leaves_no_complete_folder(store, tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "a").write_bytes(b"one")
    upload_folder(tmp_path / "model", "s3://data/model")
    store.refuse = "POST"
    with pytest.raises(StorageError, match=r"^s3://data/model: "):
        upload_folder(tmp_path / "model", "s3://data/model")
    store.refuse = ""
    assert not is_complete("s3://data/model")


def test_a_file_that_s3_cannot_move_is_refused_before_it_is_sent(store, tmp_path, monkeypatch):
    monkeypatch.setattr("treeglot.base.storage.MOST_MOVED", 5)
    problem = r"^s3://data/a: 6 bytes are too many for S3; expected a file of at most 5"
    (tmp_path / "a").write_bytes(b"123456")
    with pytest.raises(StorageError, match=problem):
        upload_file(tmp_path / "a", "s3://data/a")
    assert not [one for one in store.asked if not one.startswith(("GET", "HEAD"))]
    with (
        pytest.raises(StorageError, match=rf"{problem}; the output is in ") as kept,
        placed({"out": Path("s3://data/a")}, {"out": False}, [], []) as here,
    ):
        here["out"].write_bytes(b"123456")
    assert Path(str(kept.value).rpartition(" ")[2]).read_bytes() == b"123456"
    with pytest.raises(StorageError, match=problem), write_binary("s3://data/a") as stream:  # its size is not known
        stream.write(b"123")
        stream.write(b"456")
    assert objects(store) == {}
    (tmp_path / "a").write_bytes(b"12345")
    upload_file(tmp_path / "a", "s3://data/a")
    assert objects(store) == {"a": b"12345"}
    monkeypatch.setattr("treeglot.base.storage.MOST_MOVED", 1000)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "large").write_bytes(bytes(2000))
    upload_folder(tmp_path / "b", "s3://data/b")  # files of folders are not moved
    assert len(objects(store)["b/large"]) == 2000 and is_complete("s3://data/b")


def test_uris_in_text(store, tmp_path, capfd):
    store.buckets["data"]["m"], store.buckets["data"]["n"] = b"one", b"two"
    given = {
        "plain": "udpipe:/a/model",
        "named": ["de-en=s3://data/m", "a=b"],
        "both": "s3://data/m?region=us-east-1=s3:///data/n",
        "file": "x=file:///a%20b",
    }
    with placed(given, {}, list(given), []) as here:
        assert here["plain"] == "udpipe:/a/model"
        name, _, path = here["named"][0].partition("=")
        assert (name, Path(path).name, Path(path).read_bytes(), here["named"][1]) == ("de-en", "m", b"one", "a=b")
        assert [Path(path).read_bytes() for path in here["both"].split("=")] == [b"one", b"two"]
        assert here["file"] == "x=/a b"
    store.buckets["data"]["day=7/m"], store.buckets["data"]["n=1"] = b"three", b"four"
    given |= {"key": "a=s3://data/day=7/m", "end": "s3://data/n=1", "adapter": "udpipe:s3://data/day=7/m"}
    given |= {"three": "a=s3://data/day=7/m=s3://data/n=1", "query": "s3://data/n=1?region=us-east-1=x=1"}
    with placed(given, {}, ["key", "end", "adapter", "three", "query"], []) as here:
        name, _, path = here["key"].partition("=")
        assert (name, Path(path).read_bytes()) == ("a", b"three")
        assert Path(here["end"]).read_bytes() == b"four"
        adapter, _, path = here["adapter"].partition(":")
        assert (adapter, Path(path).read_bytes()) == ("udpipe", b"three")
        one, _, other = here["three"].removeprefix("a=").partition("/m=")
        assert (Path(f"{one}/m").read_bytes(), Path(other).read_bytes()) == (b"three", b"four")
        assert here["query"].endswith("=x=1")
        assert Path(here["query"].removesuffix("=x=1")).read_bytes() == b"four"
    with (
        pytest.raises(FormatError, match=r"^s3://data/none=2: is no file"),
        placed({"a": "b=s3://data/none=2"}, {}, ["a"], []),
    ):
        pass
    for name in ("named", "both"):
        problem = rf"^{name.upper()} s3://data/m\S* is changed in place; expected a folder of this machine$"
        with pytest.raises(UsageError, match=problem), placed({name: given[name]}, {}, [], [name]):
            pass


def declared(path):
    """A command that keeps what it is given, its parameters, and which of them name files."""
    found: dict[str, Any] = {}

    @wraps(load(path))
    def keep(**values):
        for name, value in values.items():
            of_fields = {} if name in parameters else vars(value)
            found.update({name: value} | {name: one for name, one in of_fields.items() if name not in values})

    command = expand(keep)
    parameters = {p.name: p for p in inspect.signature(command).parameters.values()}
    return command, parameters, file_marks(parameters.values()), found


def value_of(parameter, text):
    """A value of the type of a parameter of files."""
    kind = str((get_args(parameter.annotation) or (parameter.annotation,))[0])
    one = Path(text) if "Path" in kind else text
    return [one] if kind.startswith("list") else one


ALL = [path for paths in COMMANDS.values() for path in paths]


@pytest.mark.parametrize("path", ALL)
def test_all_parameters_of_files_take_uris(store, tmp_path, monkeypatch, path):
    """Which these are, and what happens with their files, is what the commands declare."""
    monkeypatch.chdir(tmp_path)
    uri = "s3://data/day=7/file"
    store.buckets["data"]["day=7/file"] = b"one"
    command, parameters, marks, found = declared(path)
    plain = {name: value_of(p, "x") for name, p in parameters.items() if p.default is inspect.Parameter.empty}
    plain |= {name: p.default for name, p in parameters.items() if name not in plain}
    for name, mark in marks.items():
        values = plain | {name: value_of(parameters[name], uri)}
        if isinstance(mark, Here) or (isinstance(mark, Mapped) and mark.changed):
            problem = rf"^{name.upper()} {uri} is (elsewhere|changed in place); expected a "
            with pytest.raises(UsageError, match=problem):
                command(**values)
            continue
        command(**values)
        [got] = found[name] if isinstance(found[name], list | tuple) else [found[name]]
        if isinstance(mark, Streamed):
            assert find_uri(got) == uri, name
        elif isinstance(mark, Writes):
            assert str(got).startswith(f"{tmp_path}/cache/written/"), name
        else:
            assert Path(got).read_bytes() == b"one", name


@pytest.mark.parametrize("path", ALL)
def test_text_that_names_files_is_marked(path):
    _, _, marks, _ = declared(path)
    for given in build_command(path).params:
        says = re.search(r"\b(FILE|FOLDER)\b|\bor file\b|'s (file|folder)\b", f"{given.metavar} {given.help}")
        assert given.name in marks or not says, (given.name, given.help)


def needed_files(path):
    """The parameters that a command needs, and the names of those that may be elsewhere; none if one must be here."""
    _, _, marks, _ = declared(path)
    needed = [given for given in build_command(path).params if given.required]
    if any(marks.get(given.name) == Mapped(changed=True) for given in needed):
        return needed, set()
    return needed, {given.name for given in needed if isinstance(marks.get(given.name), Streamed | Mapped)}


@pytest.mark.parametrize("path", [path for path in ALL if needed_files(path)[1]])
def test_files_that_are_missing_elsewhere_are_named(store, tmp_path, monkeypatch, capfd, path):
    """All that a command needs is asked for at its URI."""
    monkeypatch.chdir(tmp_path)
    needed, asked = needed_files(path)
    suffixes = {"analyses": ".conllu", "dependencies": ".conllu", "file": ".conllu"}
    if path.startswith(("parser", "heads")):
        suffixes |= dict.fromkeys(("trees", "gold", "test"), ".brackets")
    others = {"threshold": "1", "scorers": "a=b", "format": "moses", "output": "out.txt"}
    arguments = path.split()
    arguments += ["--weights", "s3://data/none"] if path == "rerank" else []
    for given in needed:
        there = (
            f"s3://data/none{suffixes.get(given.name, '.brackets' if 'pars' in path or 'heads' in path else '.txt')}"
        )
        text = there if given.name in asked else others.get(given.name, "out")
        arguments += [text] if given.param_type_name == "argument" else [given.opts[0], text]
    assert main([*arguments, "-q"]) == 1
    assert re.match(r"error: s3://data/none\S*: (No such file|is no file|is not there)", capfd.readouterr().err)
    assert objects(store) == {}


def test_models_can_have_uris(store, tmp_path, capfd):
    (tmp_path / "lm.arpa").write_text(ARPA)
    compile_ngram(tmp_path / "lm.arpa", tmp_path / "lm.bin")
    for name in ("one", "two"):
        folder = model_folder(tmp_path / name)
        toml = (folder / "model.toml").read_text()
        (folder / "model.toml").write_text(toml.replace('lm = ""\n', ""))
        (folder / "lm.bin").write_bytes((tmp_path / "lm.bin").read_bytes())
        upload_folder(folder, f"s3://data/{name}")
    upload_file(tmp_path / "lm.bin", "s3://data/lm.bin")
    store.buckets["data"]["text"] = b"das haus\n"
    out = str(tmp_path / "out")
    assert main(["lm", "info", "s3://data/lm.bin", "-q"]) == 0
    assert main(["lm", "score", "s3://data/lm.bin", "s3://data/text", "-q"]) == 0
    assert main(["verify", "s3://data/one", "-q"]) == 0
    assert main(["join", "a=s3://data/one", "b=s3://data/two", "-o", str(tmp_path / "joint"), "-q"]) == 0
    systems = ["s3://data/one=s3://data/text", "b=s3://data/two=s3://data/text"]
    store.buckets["data"]["refs"] = b"the house\n"
    assert main(["combine", *systems, "--refs", "s3://data/refs", "-o", out, "-q"]) == 0
    assert Path(out).read_text() == "the house\n"
    capfd.readouterr()
    network = random_model(["das", "haus"], ["the", "house"])
    network.write(str(tmp_path / "network"))
    upload_file(tmp_path / "network", "s3://data/day=7/network")
    assert main(["neural", "info", "s3://data/day=7/network", "-q"]) == 0
    assert "source words" in capfd.readouterr().out
    assert main(["neural", "add", str(tmp_path / "one"), "s3://data/day=7/network", "-q"]) == 0
    assert main(["join", "s3://data/day=7/none", "-o", str(tmp_path / "none"), "-q"]) == 1
    assert capfd.readouterr().err.startswith("error: s3://data/day=7/none: is no file, and no complete folder")
    assert main(["serve", "zh-en=s3://data/one"]) == 2
    assert "MODELS s3://data/one is changed in place; expected a folder of this machine" in capfd.readouterr().err
    assert main(["parse", "s3://data/one", "s3://data/text", "-o", out, "--to", "brackets", "-q"]) == 1
    told = capfd.readouterr().err
    assert "/cache/" in told and "s3:" not in told  # the copy of a folder without a grammar


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sample")
    sample.write_corpus(folder)
    return folder


def test_commands_take_uris(store, corpus, tmp_path, capfd):
    for name in ("train.zh", "train.en", "test.zh"):
        store.buckets["data"][name] = b"".join((corpus / name).read_bytes().splitlines(keepends=True)[:150])
        (tmp_path / name).write_bytes(store.buckets["data"][name])

    def run(place):
        files = ["--source", f"{place}/train.zh", "--target", f"{place}/train.en"]
        files += ["--alignments", f"{place}/train.align.gz"]
        more = ["--lms", f"more={place}/day=7/lm.arpa"]
        return [
            main(["align", f"{place}/train.zh", f"{place}/train.en", "-o", f"{place}/train.align.gz", "-q"]),
            main(["lm", "train", f"{place}/train.en", "-o", f"{place}/lm.arpa", "--order", "2", "-q"]),
            main(["lm", "train", f"{place}/train.zh", "-o", f"{place}/day=7/lm.arpa", "--order", "2", "-q"]),
            main(["lm", "compile", f"{place}/lm.arpa", "-o", f"{place}/lm.bin", "-q"]),
            main(["train", "hiero", *files, "--lm", f"{place}/lm.bin", *more, "-o", f"{place}/model", "-q"]),
            main(["translate", f"{place}/model", f"{place}/test.zh", "-o", f"{place}/out.txt", "-q"]),
        ]

    (tmp_path / "day=7").mkdir()
    assert run(tmp_path) == [0] * 6
    assert run("s3://data") == [0] * 6
    there = objects(store)
    for name in (
        "train.align.gz",
        "lm.arpa",
        "lm.bin",
        "out.txt",
        "model/rules.parquet",
        "model/rules.table",
        "model/lm_more.bin",
    ):
        assert there[name] == (tmp_path / name).read_bytes(), name
    assert not [name for name in there if ".part" in name]
    assert not list((tmp_path / "cache" / "written").iterdir())
    store.buckets["data"]["weights"] = (tmp_path / "model" / "weights.txt").read_bytes()
    test = ["translate", "s3://data/model", "s3://data/test.zh", "-q", "-o", str(tmp_path / "again")]
    assert main([*test, "--weights", "s3://data/weights"]) == 0
    assert list((tmp_path / "cache").glob("*/weights"))  # other machines find the copy by its path
    assert (tmp_path / "again").read_bytes() == there["out.txt"]
    texts = ["s3://data/train.zh", "s3://data/train.en"]
    assert main(["align", *texts, "-o", str(tmp_path / "links"), "--save", "s3://data/day=7/aligner", "-q"]) == 0
    capfd.readouterr()
    assert main(["learn", str(tmp_path / "model"), "我", "me", "--aligner", "s3://data/day=7/aligner", "-q"]) == 0
    assert "rules added" in capfd.readouterr().out
    there = objects(store)
    # An interrupted or failed command writes nothing there, and a complete model is not replaced.
    capfd.readouterr()
    model = ["--source", "s3://data/train.zh", "--target", "s3://data/train.en", "--alignments", "s3://data/none"]
    assert main(["train", "hiero", *model, "-o", "s3://data/other"]) == 1
    assert capfd.readouterr().err == "error: s3://data/none: No such file or directory\n"
    assert main(["train", "hiero", *model, "-o", "s3://data/model"]) == 2
    assert "error: s3://data/model has a complete folder; expected none there" in capfd.readouterr().err
    assert main(["learn", "s3://data/model", "a", "b"]) == 2
    assert "MODEL s3://data/model is changed in place; expected a folder of this machine" in capfd.readouterr().err
    assert main(["translate", "s3://data/model", "ftp://host/text"]) == 2
    assert "error: ftp:/host/text: the scheme 'ftp' is unknown" in capfd.readouterr().err
    assert objects(store) == there


def write_into(uri, content, error=None, folder=False):
    with placed({"out": Path(uri)}, {"out": folder}, [], []) as here:
        if folder:
            here["out"].mkdir(exist_ok=True)
        if content is not None:
            (here["out"] / "a" if folder else here["out"]).write_bytes(content)
        if error is not None:
            raise error
        return here["out"]


def test_finished_work_is_sent_or_named(store, tmp_path, capfd):
    place = {"out": Path("s3://data/a")}
    with (
        pytest.raises(StorageError, match=r"^s3://data/a: .*; the output is in .*/cache/written/\w+/a$") as problem,
        placed(place, {"out": False}, [], []) as here,
    ):
        here["out"].write_bytes(b"one")
        store.refuse = "POST"
    left = Path(str(problem.value).rpartition(" ")[2])
    assert left.read_bytes() == b"one"
    store.refuse = ""
    with pytest.raises(UsageError, match=r"^bad$"):  # what an earlier command left is not sent
        write_into("s3://data/a", None, UsageError("bad"))
    assert objects(store) == {}
    assert capfd.readouterr().err == f"s3://data/a: not written; the output is in {left}\n"
    with pytest.raises(FormatError):  # the output is complete, and the command ends with an error
        write_into("s3://data/a", b"two", FormatError("x", 1, "bad"))
    assert objects(store) == {"a": b"two"}
    with pytest.raises(KeyboardInterrupt):
        write_into("s3://data/model", b"one", KeyboardInterrupt(), folder=True)
    assert "s3://data/model: not written; the output is in " in capfd.readouterr().err
    assert objects(store) == {"a": b"two"}


def test_one_command_at_a_time_writes_a_uri(store, tmp_path):
    with placed({"out": Path("s3://data/a")}, {"out": False}, [], []) as here:
        with pytest.raises(UsageError, match=r"^another command writes s3://data/a; expected one at a time$"):
            write_into("s3://data/a", b"two")
        here["out"].write_bytes(b"one")
    assert objects(store) == {"a": b"one"}
    assert not list((tmp_path / "cache" / "written").iterdir())


def test_messages_have_no_passwords_and_all_slashes(store, capfd):
    uri = f"s3://{KEY}:hidden@data"
    store.buckets["data"]["bad"] = b"one\n\xff\n"
    with pytest.raises(FormatError, match=r"^s3://data/bad:2: byte 0xff is not UTF-8$"):
        read_lines(Path(f"{uri}/bad"))
    with pytest.raises(FileNotFoundError, match=r"No such file or directory: 's3://data/none'$"):
        read_lines(f"{uri}/none")
    with pytest.raises(StorageError, match=r"^s3://data/a\?speed=1: Unexpected query parameter"):
        read_lines(f"{uri}/a?speed=1")
    told: list[str] = []
    fetch(f"{uri}/bad", report=told.append)
    assert told[0].startswith("s3://data/bad: copied to ")
    write_into(f"{uri}/a", b"one")
    assert capfd.readouterr().err == "s3://data/a: written\n"
