"""A throw-away workspace with real parts: its own home, database, Temporal namespace and worker processes."""

import asyncio
import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

import psycopg
import pytest
from temporalio.client import Client, WorkflowHandle

from tests.processes import is_process_alive
from tests.warm import IMPORTED_WITH, WarmProcess, get_warm

ROOT = Path(__file__).resolve().parents[2]
SAMPLE_PROFILE = ROOT / "discovery" / "sample_profile.json"
POLL_SECONDS = 0.02
START_SECONDS = 90.0
COMMAND_SECONDS = 240.0
END_SECONDS = 15.0

T = TypeVar("T")

#: For the half of a slow test that SQLite is tried with in another way.
on_postgres_alone = pytest.mark.skipif(
    not os.environ.get("DATABASE_URL", "").startswith("postgres"), reason="tried on SQLite in another way"
)


@dataclass(slots=True)
class Workspace:
    """What a test asks of a workspace. ``database_url`` is "" on SQLite."""

    home: Path
    database_url: str
    temporal_address: str
    namespace: str
    environment: dict[str, str] = field(default_factory=dict)
    worker: WarmProcess | None = None
    run_ids: list[str] = field(default_factory=list)
    kept: threading.local = field(default_factory=threading.local)

    # --- processes ---------------------------------------------------------------------------------

    def build_environment(self) -> dict[str, str]:
        chosen = {
            "JOBCTRL_HOME": str(self.home),
            "JOBCTRL_ENV_FILE": os.devnull,
            "TEMPORAL_ADDRESS": self.temporal_address,
            "TEMPORAL_NAMESPACE": self.namespace or "default",
            "JOBCTRL_TEMPORAL_PORT": "0",
            "JOBCTRL_WEB_ADDRESS": "127.0.0.1:0",
            "DATABASE_URL": self.database_url or f"sqlite:///{self.home / 'jobctrl.db'}",
        }
        return {**os.environ, **IMPORTED_WITH, **chosen, **self.environment}

    @property
    def worker_log(self) -> Path:
        return self.home.parent / f"{self.home.name}-worker.log"

    def spawn_worker(self) -> WarmProcess:
        """Start a worker without waiting for it; it dies with the test process."""
        with self.worker_log.open("ab") as log:
            self.worker = get_warm().start(
                *("manage.py", "runworker"),
                environment=self.build_environment(),
                output=log.fileno(),
                errors=log.fileno(),
                own_session=True,
            )
        return self.worker

    def start_worker(self) -> int:
        """Start a worker and wait for its first heartbeat; returns its pid."""
        worker = self.spawn_worker()
        self.wait_until(
            lambda: worker.poll() is not None or worker.pid in self.list_living_workers(),
            what="the worker's first heartbeat",
            seconds=START_SECONDS,
        )
        assert worker.poll() is None, self.read_worker_log()
        return worker.pid

    def list_living_workers(self) -> list[int]:
        rows = self.query("SELECT process_id FROM worker_runtime_heartbeats WHERE stopped_at IS NULL")
        return [row[0] for row in rows if is_process_alive(row[0])]

    def kill_worker(self) -> int:
        """SIGKILL to the worker alone, as the kernel's out-of-memory killer sends it; returns its pid."""
        assert self.worker is not None
        self.worker.kill()
        self.worker.wait()
        return self.worker.pid

    def freeze_worker_while(self, claim: Callable[[], bool], *, what: str, seconds: float = 120.0) -> None:
        """Stop the worker at a moment at which the claim holds and it is not writing; SIGCONT lets it go on.

        It is let go on for a few milliseconds at a time: whoever only looks and then stops it comes too late.
        """
        assert self.worker is not None
        deadline = time.monotonic() + seconds
        with self.connected():
            while time.monotonic() < deadline:
                self.worker.send_signal(signal.SIGSTOP)
                if claim() and self.is_writable():
                    return
                self.worker.send_signal(signal.SIGCONT)
                time.sleep(0.01)
        raise AssertionError(f"not within {seconds:g} s: {what}\n{self.describe()}")

    def is_writable(self) -> bool:
        """Whether nobody holds SQLite's write lock; PostgreSQL has none."""
        if self.database_url:
            return True
        connection = sqlite3.connect(self.home / "jobctrl.db", timeout=0, isolation_level=None)
        try:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
        except sqlite3.OperationalError:
            return False
        finally:
            connection.close()
        return True

    def stop_worker(self, *, seconds: float = 25.0) -> int:
        """SIGTERM; returns the exit code."""
        assert self.worker is not None
        self.worker.send_signal(signal.SIGTERM)
        return self.worker.wait(seconds)

    def read_worker_log(self) -> str:
        return self.worker_log.read_text(errors="replace") if self.worker_log.exists() else ""

    def close(self) -> None:
        """Kill what is left, the browser included."""
        if self.worker is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.worker.pid, signal.SIGKILL)
            self.worker.wait(END_SECONDS)

    # --- commands ----------------------------------------------------------------------------------

    def spawn_manage(self, *arguments: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, str(ROOT / "manage.py"), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.build_environment(),
        )

    def manage_anew(self, *arguments: str, seconds: float = COMMAND_SECONDS) -> "subprocess.CompletedProcess[str]":
        """``manage.py`` as a user starts it."""
        process = self.spawn_manage(*arguments)
        try:
            output, errors = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        return subprocess.CompletedProcess(arguments, process.returncode, output, errors)

    def manage(self, *arguments: str, seconds: float = COMMAND_SECONDS) -> "subprocess.CompletedProcess[str]":
        """The same command in a process of its own, without the second that a start takes."""
        return get_warm().run("manage.py", *arguments, environment=self.build_environment(), seconds=seconds)

    def run(self, *arguments: str, seconds: float = COMMAND_SECONDS) -> str:
        """A command that must succeed; returns what it printed."""
        done = self.manage(*arguments, seconds=seconds)
        assert done.returncode == 0, f"{' '.join(arguments)}: {done.stdout}{done.stderr}"
        return done.stdout

    def run_python(self, program: str) -> str:
        """A few lines of Python inside the product, for what has no command yet."""
        return self.run("shell", "--verbosity", "0", "--command", program)

    def set_minimum_fit(self, score: int) -> None:
        """Documents for the best jobs only, to save a test's time."""
        self.run_python(
            "from operations.settings_store import change_settings\n"
            f"change_settings({{'min_fit_score': {score}}}, actor='test')"
        )

    def run_json(self, *arguments: str, seconds: float = COMMAND_SECONDS) -> dict[str, Any]:
        body: dict[str, Any] = json.loads(self.run(*arguments, "--json", seconds=seconds).splitlines()[-1])
        return body

    def start_discovery(self) -> str:
        """Start a discovery run and return its run id."""
        run_id = str(self.run_json("run_stage", "discover")["runId"])
        self.run_ids.append(run_id)
        return run_id

    def wait_for_run(self, run_id: str, *, seconds: float = 240.0) -> str:
        """Until the run and every preparation it planned have ended; returns the run's status."""
        self.wait_until(lambda: self.find_run_status(run_id) not in OPEN, what=f"the end of {run_id}", seconds=seconds)
        self.wait_until(
            lambda: (
                not self.count(
                    "workflow_run_projections r JOIN discovery_execution_jobs j "
                    "ON j.preparation_workflow_id = r.workflow_id",
                    "j.run_id = %s AND r.status IN ('starting', 'in_progress')",
                    run_id,
                )
            ),
            what="the end of every preparation",
            seconds=seconds,
        )
        return str(self.find_run_status(run_id))

    def discover(self, *, seconds: float = 240.0) -> str:
        """One discovery from its start to the last preparation's end; returns its status."""
        return self.wait_for_run(self.start_discovery(), seconds=seconds)

    # --- the database ------------------------------------------------------------------------------

    def query(self, statement: str, *parameters: object) -> list[tuple[Any, ...]]:
        """Read the database as it is, past the product. Placeholders are ``%s``."""
        with self.connected() as ask:
            return ask(statement, parameters)

    @contextlib.contextmanager
    def connected(self) -> "Iterator[Callable[[str, tuple[object, ...]], list[tuple[Any, ...]]]]":
        """While something is waited for, one connection is enough: SQLite reads the whole schema for a new one,
        PostgreSQL starts a process."""
        if kept := getattr(self.kept, "ask", None):
            yield kept
            return
        with contextlib.closing(self.connect()) as connection:

            def ask(statement: str, parameters: tuple[object, ...]) -> list[tuple[Any, ...]]:
                if self.database_url:
                    cursor = connection.execute(statement, parameters or None)
                else:
                    cursor = connection.execute(statement.replace("%s", "?"), parameters)
                return list(cursor.fetchall())

            self.kept.ask = ask
            try:
                yield ask
            finally:
                self.kept.ask = None

    def connect(self) -> Any:
        if self.database_url:
            return psycopg.connect(self.database_url, autocommit=True)
        return sqlite3.connect(f"file:{self.home / 'jobctrl.db'}?mode=ro", uri=True, timeout=20)

    def count(self, table: str, where: str = "1 = 1", *parameters: object) -> int:
        return int(self.query(f"SELECT count(*) FROM {table} WHERE {where}", *parameters)[0][0])

    def find_run_status(self, run_id: str) -> str | None:
        rows = self.query("SELECT status FROM workflow_run_projections WHERE run_id = %s", run_id)
        return str(rows[0][0]) if rows else "starting"

    def list_events(self, *types: str) -> list[tuple[str, dict[str, Any]]]:
        """(type, payload) of the log in order, of these types or of all."""
        rows = self.query("SELECT event_type, payload FROM job_events ORDER BY id")
        return [(kind, load_json(payload)) for kind, payload in rows if not types or kind in types]

    def count_events(self, kind: str) -> int:
        return self.count("job_events", "event_type = %s", kind)

    def count_per_job(self, kind: str) -> Counter[str]:
        return Counter(str(payload["jobId"]) for _, payload in self.list_events(kind))

    def count_stages(self, stage: str) -> dict[str, int]:
        """Rows of one stage by their state."""
        rows = self.query("SELECT state, count(*) FROM job_stage_states WHERE stage = %s GROUP BY state", stage)
        return {str(state): int(number) for state, number in rows}

    def find_job(self, title: str) -> str:
        ((job_id,),) = self.query("SELECT id FROM jobs WHERE title = %s", title)
        return str(UUID(str(job_id)))

    def key_job(self, job_id: str) -> str:
        """A job's id as this database stores it."""
        return job_id if self.database_url else UUID(job_id).hex

    def find_stage(self, job_id: str, stage: str) -> tuple[str, int, str]:
        """(state, attempts, error or reason code) of one row; ("", 0, "") without one."""
        rows = self.query(
            "SELECT state, attempts, error_code, reason_code FROM job_stage_states WHERE job_id = %s AND stage = %s",
            self.key_job(job_id),
            stage,
        )
        if not rows:
            return "", 0, ""
        state, attempts, error, reason = rows[0]
        return str(state), int(attempts), str(error or reason)

    def list_artifact_paths(self) -> list[str]:
        return sorted(str(path) for (path,) in self.query("SELECT DISTINCT relative_path FROM artifacts"))

    def list_stored_files(self) -> list[str]:
        """Everything below the artifacts folder, half-written files included."""
        root = self.home / "artifacts"
        return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())

    # --- Temporal ----------------------------------------------------------------------------------

    def call_temporal(self, work: Callable[[Client], Awaitable[T]]) -> T:
        async def call() -> T:
            return await work(await Client.connect(self.temporal_address, namespace=self.namespace))

        return asyncio.run(call())

    def cancel(self, workflow_id: str) -> None:
        async def ask(client: Client) -> None:
            await client.get_workflow_handle(workflow_id).cancel()

        self.call_temporal(ask)

    def export_histories(self) -> dict[tuple[str, str], str]:
        """The JSON of every run's history by (workflow id, run id)."""

        async def export(client: Client) -> dict[tuple[str, str], str]:
            found: dict[tuple[str, str], str] = {}
            async for execution in client.list_workflows():
                handle: WorkflowHandle[Any, Any] = client.get_workflow_handle(execution.id, run_id=execution.run_id)
                found[execution.id, execution.run_id] = (await handle.fetch_history()).to_json()
            return found

        return self.call_temporal(export)

    # --- waiting -----------------------------------------------------------------------------------

    def wait_until(self, claim: Callable[[], bool], *, what: str, seconds: float = 60.0) -> None:
        deadline = time.monotonic() + seconds
        with self.connected():
            while time.monotonic() < deadline:
                if claim():
                    return
                time.sleep(POLL_SECONDS)
        raise AssertionError(f"not within {seconds:g} s: {what}\n{self.describe()}")

    def describe(self) -> str:
        """Where everything stands, for a failed wait."""
        runs = self.query("SELECT workflow_id, status, error_code FROM workflow_run_projections")
        rows = self.query(
            "SELECT stage, state, error_code, reason_code, count(*) FROM job_stage_states GROUP BY 1, 2, 3, 4"
        )
        return f"runs: {runs}\nstages: {rows}\nworker log:\n{self.read_worker_log()[-3000:]}"

    # --- what must hold at every end ------------------------------------------------------------------

    def assert_nothing_twice(self) -> None:
        """No job was scored, written for or rendered twice, no run ended twice, and the read side is exact."""
        for kind in ("JobScored", "ResumeApproved", "CoverLetterGenerated", "PdfRendered", "JobDiscovered"):
            twice = {job: number for job, number in self.count_per_job(kind).items() if number != 1}
            assert not twice, f"{kind}: {twice}"
        ends = Counter(payload["runId"] for kind, payload in self.list_events(*TERMINALS))
        assert set(ends.values()) <= {1}
        assert set(ends) == {row[0] for row in self.query("SELECT run_id FROM workflow_run_projections")}
        assert not self.query("SELECT job_id, stage FROM job_stage_states WHERE state IN ('running', 'queued')")
        assert self.query("SELECT max(attempts) FROM job_stage_states")[0][0] <= 5
        assert self.sweep_artifacts() == self.list_artifact_paths()
        self.assert_clean()

    def sweep_artifacts(self) -> list[str]:
        """The files that are left after a sweep without its grace period."""
        self.run_python(
            "from materials.queries import filter_registered, get_artifact_files\n"
            "get_artifact_files().sweep(filter_registered, older_than_seconds=-1)"
        )
        return self.list_stored_files()

    def assert_clean(self) -> None:
        done = self.manage("verify_projections")
        assert done.returncode == 0, done.stdout


OPEN = ("starting", "in_progress")
TERMINALS = ("WorkflowCompleted", "WorkflowFailed", "WorkflowCanceled", "WorkflowTimedOut", "WorkflowTerminated")


def load_json(value: Any) -> Any:
    """SQLite gives the text, PostgreSQL the value."""
    return json.loads(value) if isinstance(value, str) else value
