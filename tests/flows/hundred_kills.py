"""Kills commands at random moments, and looks at what is left: python -m tests.flows.hundred_kills [KILLS] [SEED].

After each kill no process may be left, no half-written folder under its final name, and no patients' text that others
can read; after Ctrl-C and SIGTERM, nothing at all, within a second. Killed runs are then run to their end: their
results are those of runs that nobody killed, and no recorded answer was asked for again.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import chdir, closing, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

from flows.cli.main import main as main_command
from flows.cli.temporary_server import TemporaryServer

ROOT = Path(__file__).resolve().parents[2]
MARK = "PREFSTUDY_KILLED_BY"
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
KILLS_A_FOLDER = 7
SECONDS_TO_VANISH = 2.0
SMALL = (
    "--set runs=1 --set unseen_runs=0 --set published_protocol=false --set folds=2 --set resamples=5 --set form=false "
    "--set explaining.duels=20 --set explaining.refits=2 --set tuning.inner_folds=2 --set tuning.lengthscales=[2.0] "
    "--set tuning.penalties=[0.01] --set tuning.depths=[2]"
)
CHUNK = 15
PMR = f"run pmr --simulated --features table9 --set patients=6 --set chunk_size={CHUNK} --out runs"
COMMANDS = {
    "rules": f"{PMR} --engine rules",
    "server": f"{PMR} --engine server --set engine.model=tiny --set engine.url={{url}}",
    "chameleon": f"run chameleon --simulated {SMALL} --out runs",
    "build": "data build pmr --raw raw --out tables",
    "report": "report run",
}


class Made(NamedTuple):
    """What was found after a kill, or at the end: the fault, and where."""

    fault: str
    where: str


class Answering(ThreadingHTTPServer):
    """A server that answers every question under its schema, always the same; it remembers what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.asked: list[str] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def wait_for(self, questions: int, process: subprocess.Popen[bytes]) -> None:
        """Return when so many questions were asked in all. `process` asks them, and must not end before."""
        while len(self.asked) < questions:
            assert process.poll() is None
            time.sleep(0.005)


class _Answer(BaseHTTPRequestHandler):
    server: Answering

    def do_GET(self) -> None:
        self._send({"object": "list", "data": [{"id": "tiny", "object": "model"}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(question(body["messages"]))
        schema = body["response_format"]["json_schema"]["schema"]
        text = json.dumps(under(schema, schema.get("$defs", {}), random.Random(question(body["messages"]))))
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
        usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
        time.sleep(0.01)
        self._send({"id": "1", "object": "chat.completion", "created": 0, "model": "tiny", "choices": [choice],
                    "usage": usage})  # fmt: skip

    def _send(self, document: Any) -> None:
        data = json.dumps(document).encode()
        with suppress(OSError):  # who asked was killed
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def question(messages: Any) -> str:
    return json.dumps(messages, sort_keys=True)


def under(schema: dict[str, Any], parts: dict[str, Any], draw: random.Random) -> Any:
    """A value that a JSON schema allows."""
    if "$ref" in schema:
        return under(parts[schema["$ref"].rpartition("/")[2]], parts, draw)
    if "anyOf" in schema:
        return under(draw.choice(schema["anyOf"]), parts, draw)
    if schema.get("type") == "object":
        return {name: under(each, parts, draw) for name, each in schema["properties"].items()}
    plain = {"number": schema.get("minimum", 0), "integer": schema.get("minimum", 0), "null": None, "array": []}
    plain |= {"boolean": draw.random() < 0.5, "string": "because"}
    allowed = schema.get("enum") or [schema.get("const", plain.get(str(schema.get("type"))))]
    return draw.choice(allowed)


class Kills:
    """Commands in folders of their own, killed and looked at.

    api: address of a Prefect server for some of them. in_process: whether commands that nobody kills run in this
    process, which has imported already what they need.
    """

    def __init__(self, scratch: Path, seed: int, api: str | None = None, *, in_process: bool = False) -> None:
        self.scratch = scratch
        self.draw = random.Random(seed)
        self.api, self.in_process = api, in_process
        self.server = Answering()
        self.mark = uuid4().hex
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
        (scratch / "tmp").mkdir()
        self.environment = {
            **clean, "PREFECT_HOME": str(scratch / "prefect"), "PYTHONPATH": str(ROOT), "TMPDIR": str(scratch / "tmp"),
            "OMP_NUM_THREADS": "1", MARK: self.mark,
        }  # fmt: skip
        self.faults: list[Made] = []
        self.seconds: dict[str, float] = {}
        self.slowest = {"wall": 0.0, "cpu": 0.0}
        self.whole: dict[str, dict[str, bytes]] = {}

    def prepare(self, names: list[str]) -> None:
        """Run each command once without a kill. Its results are what the killed ones must come to."""
        if "build" in names:
            self._finish("build", self.scratch, "data simulate pmr --items 6 --out simulated")
        if "report" in names:
            self._finish("report", self.scratch, self._command("rules"))
        for name in names:
            started = time.monotonic()
            folder = self.folder(name, "whole")
            self._finish(name, folder, self._command(name))
            self.seconds[name] = time.monotonic() - started
            self.whole[name] = self._results(name, folder)
            assert self.whole[name], name

    def kill(self, name: str, folder: Path, number: int, *, answers: int | None = None) -> None:
        """Start the command in `folder`, send the signal, and look at what is left.

        answers: send it after this many further answers of the server, not at a random moment.
        """
        recorded, asked = set(self._recorded(folder)), len(self.server.asked)
        before = set(self.remains(folder))  # of a SIGKILL; the next command may be stopped before it removes them
        process = subprocess.Popen(
            [sys.executable, "-m", "flows.cli.entry", *self._command(name).split()],
            cwd=folder, env=self._variables(name), start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip
        if answers is None:
            time.sleep(self.draw.uniform(0.1, self.seconds[name]))
        else:
            self.server.wait_for(asked + answers, process)
        ready = catches(process.pid, signal.SIGTERM)  # until then Python starts, and no line of ours has run
        used, sent = own_seconds(process.pid), time.monotonic()
        # To all of its group, as a terminal does. Popen's own method would forget a process that has ended already.
        (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        taken = {"wall": time.monotonic() - sent, "cpu": own_seconds(process.pid) - used}
        said = process.communicate()[1].decode()
        if number != signal.SIGKILL and process.returncode in {130, 143}:
            self.slowest = {kind: max(before, taken[kind]) for kind, before in self.slowest.items()}
            self._report("left after a signal", set(self.remains(folder)) - before)
        elif ready and process.returncode not in {0, -signal.SIGKILL}:
            self._report(f"exit code {process.returncode}", [said[-500:]])
        if ready and "Traceback" in said:
            self._report("traceback", [said[-1500:]])
        self._report("process left", self._processes())
        self._report("half a folder", self.half(folder))
        self._report("others can read", self.open_to_others(folder))
        self._report("asked twice", recorded.intersection(self.server.asked[asked:]))

    def finish(self, name: str, folder: Path) -> None:
        """Run a killed command to its end, and compare."""
        recorded, asked = set(self._recorded(folder)), len(self.server.asked)
        self._finish(name, folder, self._command(name))
        self._report("asked twice", recorded.intersection(self.server.asked[asked:]))
        self._report("half a folder", self.half(folder))
        self._report("left at the end", self.remains(folder))
        found = self._results(name, folder)
        self._report(
            f"other results of {name}",
            [file for file in self.whole[name].keys() | found if found.get(file) != self.whole[name].get(file)],
        )

    def killed(self, names: list[str]) -> None:
        """Kill the commands of these names in turn, some in one folder after another, then finish every folder."""
        folders: dict[str, list[Path]] = {}
        done: Counter[str] = Counter()
        for at, name in enumerate(names):
            if done[name] % KILLS_A_FOLDER == 0:
                folders.setdefault(name, []).append(self.folder(name, f"{done[name] // KILLS_A_FOLDER}"))
            self.kill(name, folders[name][-1], SIGNALS[at % len(SIGNALS)])
            done[name] += 1
            print(f"{name}: {SIGNALS[at % len(SIGNALS)].name}; faults so far: {len(self.faults)}", flush=True)
        for name, of_name in folders.items():
            for folder in of_name:
                self.finish(name, folder)

    def folder(self, name: str, which: str) -> Path:
        folder = self.scratch / f"{name}-{which}"
        folder.mkdir()
        if name == "build":
            shutil.copytree(self.scratch / "simulated" / "pmr", folder / "raw")
            for file in (folder / "raw").iterdir():
                file.chmod(0o600)
        if name == "report":
            [run] = (self.scratch / "runs" / "pmr").glob("2*")
            shutil.copytree(run, folder / "run")
        return folder

    def _command(self, name: str) -> str:
        return COMMANDS[name].format(url=self.server.url)

    def _variables(self, name: str) -> dict[str, str]:
        """The environment of a command. Some studies have a Prefect server from elsewhere, so they start faster."""
        shared = self.api is not None and name != "rules"
        return self.environment | ({"PREFECT_API_URL": str(self.api)} if shared else {})

    def _finish(self, name: str, folder: Path, command: str) -> None:
        if self.in_process:
            with chdir(folder):
                assert main_command(command.split()) == 0
            return
        done = subprocess.run(
            [sys.executable, "-m", "flows.cli.entry", *command.split()],
            cwd=folder, env=self._variables(name), capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr

    def _results(self, name: str, folder: Path) -> dict[str, bytes]:
        """The bytes of what the command is there for; of several finished runs, of the last one."""
        if name in {"build", "report"}:
            tops = [folder / "tables"] if name == "build" else [folder / "run"]
        else:
            tops = [run / "results" for run in sorted((folder / "runs").glob("*/2*"))[-1:]]
        return {
            str(file.relative_to(top)): file.read_bytes()
            for top in tops
            for file in top.rglob("*")
            if file.is_file() and file.name != "conversation.json"  # it holds seconds
        }

    def _report(self, fault: str, where: Any) -> None:
        """Keep the faults of one kind, and print them at once."""
        found = [Made(fault, str(each)) for each in where]
        for each in found:
            print(*each, sep=": ", flush=True)
        self.faults += found

    def _processes(self) -> list[str]:
        """Processes that this one's commands started, and that are still there after a moment."""
        until = time.monotonic() + SECONDS_TO_VANISH
        while (found := list(marked(f"{MARK}={self.mark}"))) and time.monotonic() < until:
            time.sleep(0.02)
        return found

    def remains(self, folder: Path) -> Iterator[Path]:
        """Everything hidden: what is aside, and locks."""
        yield from (path for path in folder.rglob(".*"))
        yield from (self.scratch / "tmp").iterdir()

    def half(self, folder: Path) -> Iterator[Path]:
        """Runs and tables that lack something under their final names, or have too much."""
        for run in (folder / "runs").glob("*/2*"):
            whole = ("run.json", "report.html", "report.pdf", "results/metrics.json")
            if not all((run / file).is_file() for file in whole) or (run / "work").exists():
                yield run
        for table in (folder / "tables").glob("[!.]*"):
            if {file.name for file in table.iterdir()} != {"items.parquet", "comparisons.parquet", "manifest.json"}:
                yield table

    def open_to_others(self, folder: Path) -> Iterator[Path]:
        """Files with patients' texts, or that may have some, that others can read, and folders they can look into."""
        inside = [*folder.glob("runs/pmr/.partial-*"), *folder.glob("tables/*"), *folder.glob("tables/.*")]
        for path in [*folder.glob("runs/pmr/ledger*"), *inside, *(each for top in inside for each in top.rglob("*"))]:
            with suppress(FileNotFoundError):
                if path.stat().st_mode & 0o077:
                    yield path

    def _recorded(self, folder: Path) -> Iterator[str]:
        for ledger in folder.glob("runs/pmr/ledger.sqlite"):
            with closing(sqlite3.connect(ledger)) as opened, suppress(sqlite3.OperationalError):
                for (messages,) in opened.execute("SELECT messages FROM entries WHERE problem IS NULL"):
                    yield question(json.loads(messages))


def marked(mark: str) -> Iterator[str]:
    """The processes that have this variable in their environment."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if mark.encode() in (folder / "environ").read_bytes().split(b"\0"):
                yield (folder / "cmdline").read_text().replace("\0", " ")


def catches(process: int, number: int) -> bool:
    """Whether a process has a handler for the signal; it may have ended, if nobody has waited for it."""
    status = Path(f"/proc/{process}/status").read_text()
    return bool(int(status.partition("SigCgt:")[2].split()[0], 16) >> (number - 1) & 1)


def own_seconds(process: int) -> float:
    """Processor seconds of a process without its children; it may have ended, if nobody has waited for it."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def kills(seed: int, api: str | None = None, *, in_process: bool = False) -> Iterator[Kills]:
    """A scratch folder that others could look into, and a umask that closes nothing."""
    before = os.umask(0)
    try:
        with tempfile.TemporaryDirectory() as folder:
            yield Kills(Path(folder), seed, api, in_process=in_process)
    finally:
        os.umask(before)


@contextmanager
def prefect_server(home: Path) -> Iterator[str]:
    """The address of a Prefect server that no kill ends."""
    os.environ |= {"PREFECT_HOME": str(home)}
    server = TemporaryServer()
    try:
        server.wait(120)
        yield server.api
    finally:
        server.stop()


def main(n: int = 100, seed: int = 0) -> int:
    """Kill `n` commands, print what was found, and return 1 if anything was. The kinds of commands run side by side."""
    names = ("build", "report", "server", "build", "report", "server", "build", "chameleon", "report", "rules")
    times = Counter((names * n)[:n])
    before = os.umask(0)
    with (
        tempfile.TemporaryDirectory() as home,
        prefect_server(Path(home)) as api,
        ThreadPoolExecutor(len(times)) as all_,
    ):
        ended = list(all_.map(lambda name: killed(name, times[name], seed, api), times))
    os.umask(before)
    for name, killing in zip(times, ended, strict=True):
        print(
            f"{name}: {times[name]} kills of {killing.seconds[name]:.0f} s; questions: {len(killing.server.asked)}; "
            f"slowest end after SIGINT or SIGTERM, seconds: {killing.slowest}; faults: {len(killing.faults)}"
        )
    faults = sum(len(killing.faults) for killing in ended)
    print(f"kills: {times.total()}; faults: {faults}")
    return bool(faults)


def killed(name: str, times: int, seed: int, api: str) -> Kills:
    """Kill one command so many times."""
    with kills(seed, api) as killing:
        killing.prepare([name])
        print(f"{name}: {killing.seconds[name]:.0f} s without a kill", flush=True)
        killing.killed([name] * times)
    return killing


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
