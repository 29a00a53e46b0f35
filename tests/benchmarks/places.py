"""Where a benchmark runs: a throw-away workspace holding its own copy of a seeded database."""

import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import psycopg
from psycopg import sql

from tests.run import ROOT, build_environment

SQLITE = "SQLite"
POSTGRES = "PostgreSQL"
#: What decides the seeded rows. Folds and the log are left out: each benchmark verifies the projections at its end.
SEED_SOURCES = ("*/models", "*/models.py", "*/migrations", "*/events.py", "*/services", "*/services.py", "*/stages.py",
                "tests/benchmarks/seeder.py")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Place:
    """A database of one size that nobody else uses, and the environment of a process that works on it."""

    database: str
    jobs: int
    environment: dict[str, str]


def build_place(database: str, jobs: int, *, home: Path, url: str) -> Place:
    environment = build_environment(home) | {
        "DATABASE_URL": url,
        "DJANGO_SETTINGS_MODULE": "jobctrl.settings",
        "LOG_LEVEL": "WARNING",
    }
    return Place(database, jobs, environment)


def compute_seed_key() -> str:
    digest = hashlib.sha256()
    for pattern in SEED_SOURCES:
        for found in sorted(ROOT.glob(pattern)):
            for path in sorted(found.rglob("*.py")) if found.is_dir() else [found]:
                digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def find_cache() -> Path:
    folder = Path(tempfile.gettempdir()) / f"jobctrl-bench-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def ensure_seed(jobs: int) -> Path:
    """The SQLite file of a seeded workspace of this size; made once for one state of the code."""
    wanted = find_cache() / f"seed-{compute_seed_key()}-{jobs}.db"
    if wanted.exists():
        return wanted
    with tempfile.TemporaryDirectory(prefix="jobctrl-bench-") as folder:
        home = Path(folder)
        made = home / "jobctrl.db"
        place = build_place(SQLITE, jobs, home=home, url=f"sqlite:///{made}")
        run_step(place, "seed", str(jobs))
        with closing(sqlite3.connect(made)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        partial = wanted.with_suffix(f".{uuid4().hex}")
        shutil.copyfile(made, partial)
        partial.rename(wanted)
    for old in find_cache().glob(f"seed-*-{jobs}.db"):
        if old != wanted:
            old.unlink(missing_ok=True)
    return wanted


@contextmanager
def sqlite_place(jobs: int) -> Iterator[Place]:
    seed = ensure_seed(jobs)
    with tempfile.TemporaryDirectory(prefix="jobctrl-bench-") as folder:
        copy = Path(folder) / "jobctrl.db"
        shutil.copyfile(seed, copy)
        yield build_place(SQLITE, jobs, home=Path(folder), url=f"sqlite:///{copy}")


class PostgresSeeds:
    """Seeded databases of one cluster, each copied from the SQLite seed when its size is first asked for."""

    def __init__(self, url: str) -> None:
        self.server = url.rpartition("/")[0]
        self._ready: set[int] = set()

    @contextmanager
    def place(self, jobs: int) -> Iterator[Place]:
        name = f"bench_{uuid4().hex[:12]}"
        with tempfile.TemporaryDirectory(prefix="jobctrl-bench-") as folder:
            self._ensure(jobs, Path(folder))
            self._run("CREATE DATABASE {} TEMPLATE {}", name, f"seed_{jobs}")
            try:
                yield build_place(POSTGRES, jobs, home=Path(folder), url=f"{self.server}/{name}")
            finally:
                self._run("DROP DATABASE {} WITH (FORCE)", name)

    def _ensure(self, jobs: int, home: Path) -> None:
        if jobs in self._ready:
            return
        self._run("CREATE DATABASE {}", f"seed_{jobs}")
        place = build_place(POSTGRES, jobs, home=home, url=f"{self.server}/seed_{jobs}")
        run_step(place, "copy", str(ensure_seed(jobs)))
        self._ready.add(jobs)

    def _run(self, statement: str, *names: str) -> None:
        with psycopg.connect(f"{self.server}/postgres", autocommit=True) as connection:
            connection.execute(sql.SQL(statement).format(*(sql.Identifier(name) for name in names)))


def run_step(place: Place, *arguments: str) -> None:
    """One step of ``tests.benchmarks.steps`` in a process of its own; raises with its last words where it fails."""
    command = [sys.executable, "-m", "tests.benchmarks.steps", *arguments]
    done = subprocess.run(
        command, cwd=ROOT, env=place.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(arguments)} failed:\n{done.stderr.strip()[-3000:]}")
