"""`treeglot serve`: serves models over HTTP, with a page for the browser."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from treeglot.base.errors import UsageError
from treeglot.cli.output import say, settings
from treeglot.cli.parameters import HERE, Fields, Mapped

KEYS = typer.Option(help="The file of API keys; treeglot serve keys add writes it.", metavar="FILE")


def serve(
    models: Annotated[
        list[str] | None,
        typer.Argument(
            help="Folders of models; SOURCE-TARGET=FOLDER names the languages of a model of words.",
            autocompletion=lambda incomplete: ["keys"] if "keys".startswith(incomplete) else [],  # treeglot serve keys
        ),
        Mapped(changed=True),  # users teach them
    ] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="Serve models of the sample treebank; the first use trains them, in seconds.")
    ] = False,
    port: Annotated[int, typer.Option(help="The port; 0: any that is free.")] = 5000,
    host: Annotated[str, typer.Option(help="The address to listen on; 0.0.0.0: all of this machine.")] = "127.0.0.1",
    threads: Annotated[int, typer.Option(help="Threads that decode, 0: as many as there are cores.")] = 0,
    processes: Annotated[int, typer.Option(help="Processes, which share the models' memory.")] = 1,
    keys: Annotated[Path | None, HERE, KEYS] = None,
    require_key: Annotated[bool, typer.Option("--require-key", help="Refuse clients without an API key.")] = False,
    suggestions: Annotated[
        Path | None,
        HERE,
        typer.Option(help="Take suggestions of users, and add them to this file.", metavar="FILE"),
    ] = None,
    dev: Annotated[
        Path | None, typer.Option(help="Sentences that corrections are checked with, a line each.", metavar="FILE")
    ] = None,
    refs: Annotated[Path | None, typer.Option(help="Their translations.", metavar="FILE")] = None,
    proxy: Annotated[
        bool, typer.Option("--proxy", help="Take clients' addresses from a reverse proxy on this machine.")
    ] = False,
    options: Annotated[Any, Fields("treeglot.web.options", "ServeOptions")] = None,
) -> None:
    """Serve models over HTTP, with the interfaces of LibreTranslate, Apertium and DeepL, our own interface and a page.

    The service reloads a model when its folder changes. After Ctrl-C or SIGTERM, it answers the running requests and
    ends.
    """
    if not models and not demo:
        raise UsageError("expected at least one model's folder, or --demo")
    if require_key and keys is None:
        raise UsageError("--require-key needs a file of keys; expected --keys, too")
    if processes < 1:
        raise UsageError(f"processes is {processes}; expected at least 1")
    if refs is not None and dev is None:
        raise UsageError("--refs has translations of the sentences in --dev; expected both")
    _need_web()
    with _shared_figures(processes):
        from treeglot.web.app import make_app
        from treeglot.web.asking import Service
        from treeglot.web.guard import log_lines
        from treeglot.web.keys import Keys
        from treeglot.web.server import address, listen, serve_processes
        from treeglot.web.server import serve as serve_app
        from treeglot.web.shelf import Shelf
        from treeglot.web.suggestions import Suggestions
        from treeglot.web.work import Workers

        log_lines(settings().quiet)
        number = threads or os.cpu_count() or 1
        checked = _demo_dev() if demo and dev is None and not models else _dev(dev, refs)
        places = [*(models or []), *(_demo(number) if demo else [])]
        with listen(host, port) as listening:
            shelf = Shelf(places, options.time_limit)
            for served in shelf:
                say(f"{served.name}: {served.source} to {served.target}, {served.model.kind}, {served.digest}")
            say(f"serving on {address(listening)}")
            if demo:
                keys = keys or _demo_keys()
                link = f"{address(listening)}#key={_new_key(keys)}&q={_example()}"
                say(f"in a browser, with some Chinese to begin with and a key that may correct: {link}")

            found = Keys(keys) if keys is not None else None
            taken = Suggestions(suggestions) if suggestions is not None else None
            service = Service(shelf, Workers(number, options.waiting), options, found, require_key, taken, checked)

            def run() -> None:
                serve_app(make_app(service), listening, options, proxy)

            if processes == 1:
                run()
            else:
                serve_processes(run, processes, service.figures.forget)


@contextmanager
def _shared_figures(processes: int) -> Iterator[None]:
    """Let several processes write their metrics to one folder, which Prometheus must know when it is imported."""
    if processes == 1:
        yield
        return
    with TemporaryDirectory(prefix="treeglot-") as folder:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
        yield


def _demo(threads: int) -> list[str]:
    from treeglot.cli.output import Progress
    from treeglot.web.demo import PAIRS, demo_folder, demo_models

    with Progress("preparing models of the sample", unit="sentence pairs") as progress:
        places = demo_models(demo_folder(), threads)
        progress.update(PAIRS)
    return places


def _demo_keys() -> Path:
    from treeglot.web.demo import demo_folder

    return demo_folder() / "keys.json"


def _demo_dev() -> tuple[list[str], list[str]]:
    from treeglot.web.demo import dev_text

    return dev_text()


def _new_key(path: Path) -> str:
    """Create an API key for this run, which replaces the key of the last run."""
    from treeglot.web.keys import RIGHTS, Keys

    keys = Keys(path)
    if any(key.name == "workbench" for key in keys.all()):
        keys.remove("workbench")
    return keys.add("workbench", RIGHTS, 0, 0)


def _example() -> str:
    from urllib.parse import quote

    from treeglot.web.demo import raw_text

    return quote("".join(raw_text(150)[0][:3]))


def _dev(dev: Path | None, refs: Path | None) -> tuple[list[str], list[str]]:
    from treeglot.base.files import read_lines

    sources, references = ([] if path is None else list(read_lines(path)) for path in (dev, refs))
    if refs is not None and len(sources) != len(references):
        raise UsageError(f"{dev} has {len(sources):,} lines and {refs} {len(references):,}; expected as many")
    return sources, references


def _need_web() -> None:
    try:
        import httptools  # noqa: F401
        import py3langid  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise UsageError(f"{error.name} is not installed: pip install treeglot[web]") from error
