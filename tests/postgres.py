"""A temporary PostgreSQL cluster: own folder, port, socket and password, gone when its user is gone.

``python -m tests.postgres`` keeps one alive: it prints the DATABASE_URL and removes the cluster once its standard input
ends, which the kernel sees to however the process that started it dies.
"""

import os
import pwd
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import sql

from operations.processes.ports import LOOPBACK, choose_free_port

DEBIAN_FOLDER = Path("/usr/lib/postgresql")
DATABASE = "jobctrl"
USER = "jobctrl"
START_SECONDS = 30.0
STOP_SECONDS = 15.0
SERVER_SETTINGS = (
    # Nothing of a test cluster has to survive a power cut.
    *("-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off"),
    *("-c", "max_connections=200", "-c", "shared_buffers=64MB"),
)


class PostgresUnavailable(RuntimeError):
    """No temporary cluster can be started here; the message says why."""


def find_binaries(debian_folder: Path = DEBIAN_FOLDER) -> Path:
    """The folder with ``initdb`` and ``postgres``: Debian's newest version, else the one on PATH.

    Raises:
        PostgresUnavailable: with the remedy.
    """
    versions = [folder for folder in debian_folder.glob("*/bin") if (folder / "initdb").is_file()]
    if versions:
        return max(versions, key=lambda folder: parse_version(folder.parent.name))
    found = shutil.which("initdb")
    if found is None:
        raise PostgresUnavailable("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    return Path(found).resolve().parent


def parse_version(name: str) -> tuple[int, ...]:
    """Compared as numbers: 15 is newer than 9.6."""
    return tuple(int(part) for part in name.split(".") if part.isdigit())


@contextmanager
def running_cluster() -> Iterator[str]:
    """Yields the DATABASE_URL of a new cluster's empty database.

    Raises:
        PostgresUnavailable: not installed, or it did not start.
    """
    binaries = find_binaries()
    owner = find_owner()
    folder = Path(tempfile.mkdtemp(prefix="jobctrl-pg-"))
    try:
        if owner:
            shutil.chown(folder, owner.pw_uid, owner.pw_gid)
        password = secrets.token_hex(16)
        initialize_cluster(folder, binaries=binaries, owner=owner, password=password)
        port = choose_free_port()
        with serving_cluster(folder, binaries=binaries, owner=owner, port=port):
            url = f"postgres://{USER}:{password}@{LOOPBACK}:{port}"
            create_database(binaries, url=url)
            yield f"{url}/{DATABASE}"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def find_owner() -> pwd.struct_passwd | None:
    """PostgreSQL refuses to run as root: then it is the user ``postgres``, else whoever runs the tests."""
    if os.geteuid() != 0:
        return None
    if shutil.which("setpriv") is None:
        raise PostgresUnavailable("PostgreSQL refuses to run as root, and there is no setpriv to change the user")
    try:
        return pwd.getpwnam("postgres")
    except KeyError as error:
        raise PostgresUnavailable("PostgreSQL refuses to run as root, and there is no user postgres") from error


def build_owner_argv(owner: pwd.struct_passwd | None) -> list[str]:
    """What to put before a command so that it runs as the owner and is told to quit when its parent dies."""
    if shutil.which("setpriv") is None:
        return []
    # Changing the user clears the death signal, so setpriv has to do both.
    identity = [f"--reuid={owner.pw_uid}", f"--regid={owner.pw_gid}", "--init-groups"] if owner else []
    return ["setpriv", *identity, "--pdeathsig=QUIT", "--"]


def initialize_cluster(folder: Path, *, binaries: Path, owner: pwd.struct_passwd | None, password: str) -> None:
    password_file = folder / "password"
    password_file.touch(mode=0o600)
    if owner:
        shutil.chown(password_file, owner.pw_uid, owner.pw_gid)
    password_file.write_text(password)
    options = [
        *("--pgdata", str(folder / "data"), "--username", USER, "--pwfile", str(password_file)),
        *("--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C.UTF-8", "--no-sync", "--no-instructions"),
    ]
    command = [*build_owner_argv(owner), str(binaries / "initdb"), *options]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    if done.returncode:
        raise PostgresUnavailable(f"initdb failed: {done.stderr.strip()[-500:]}")


@contextmanager
def serving_cluster(
    folder: Path, *, binaries: Path, owner: pwd.struct_passwd | None, port: int
) -> Iterator[subprocess.Popen[bytes]]:
    log = folder / "postgres.log"
    options = [
        *("-D", str(folder / "data"), "-p", str(port), "-k", str(folder)),
        *("-c", f"listen_addresses={LOOPBACK}", *SERVER_SETTINGS),
    ]
    with log.open("wb") as output:
        server = subprocess.Popen(
            [*build_owner_argv(owner), str(binaries / "postgres"), *options],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=folder,
            start_new_session=True,
        )
    try:
        wait_until_ready(server, binaries=binaries, port=port, log=log)
        yield server
    finally:
        stop_server(server)


def wait_until_ready(server: subprocess.Popen[bytes], *, binaries: Path, port: int, log: Path) -> None:
    probe = [str(binaries / "pg_isready"), "-q", "-h", LOOPBACK, "-p", str(port)]
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        if subprocess.run(probe, check=False).returncode == 0:
            return
        time.sleep(0.05)
    raise PostgresUnavailable(f"PostgreSQL did not start: {log.read_text(errors='replace').strip()[-500:]}")


def stop_server(server: subprocess.Popen[bytes]) -> None:
    server.send_signal(signal.SIGINT)  # fast shutdown: open sessions are ended, not waited for
    try:
        server.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def create_database(binaries: Path, *, url: str) -> None:
    command = [str(binaries / "createdb"), "--maintenance-db", f"{url}/postgres", DATABASE]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise PostgresUnavailable(f"createdb failed: {done.stderr.strip()[-500:]}")


@contextmanager
def kept_cluster() -> Iterator[str]:
    """As ``running_cluster``, in a keeper process: the cluster and its folder go even when this process is killed."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.postgres"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Ctrl-C is for the tests; the keeper leaves when they have
    ) as keeper:
        assert keeper.stdin and keeper.stdout and keeper.stderr
        url = keeper.stdout.readline().strip()
        if not url:
            raise PostgresUnavailable(keeper.stderr.read().strip() or "the cluster's keeper ended at once")
        try:
            yield url
        finally:
            keeper.stdin.close()
            keeper.wait()


@contextmanager
def own_database(url: str, *, template: str = "template1") -> Iterator[str]:
    """A new database beside that of ``url``, for processes that a test starts; "" where ``url`` is not PostgreSQL's."""
    if not url.startswith("postgres"):
        yield ""
        return
    server = url.rpartition("/")[0]
    name = f"own_{secrets.token_hex(6)}"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        statement = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
        connection.execute(statement.format(sql.Identifier(name), sql.Identifier(template)))
        try:
            yield f"{server}/{name}"
        finally:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def main() -> int:
    try:
        with running_cluster() as url:
            print(url, flush=True)
            sys.stdin.read()
    except PostgresUnavailable as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
