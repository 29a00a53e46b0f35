"""The engine's own doctor checks."""

import os
import stat
from datetime import timedelta

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from jobctrl.home import HomeUnusable
from operations import queries
from operations.backup.finding import find_newest_backup
from operations.checkup import (
    DATABASE,
    Finding,
    advise_on_failure,
    advise_on_obstacle,
    describe_failure,
    fail,
    find_file_obstacle,
    health_check,
    ok,
    warn,
)
from operations.errors import NotConfigured, OperationsError, WorkerUnavailable
from operations.eventlog.guards import list_missing_guards
from operations.folding.engine import list_flagged_apps
from operations.llm.answer_time import REMEDY, find_fault, read_answer_seconds
from operations.llm.ledger import compare_day
from operations.settings_store import list_unusable_settings
from operations.temporal import read_tls, resolve_address
from operations.workspace import check_free_space, ensure_workspace, find_foreign_worker

RETENTION_DAYS = 90
BACKUP_AGE = timedelta(days=7)


@health_check("home")
def check_home() -> Finding:
    root = settings.JOBCTRL_HOME.root
    try:
        settings.JOBCTRL_HOME.create()
        if not os.environ.get("SECRET_KEY"):
            settings.JOBCTRL_HOME.read_secret_key()
    except HomeUnusable as error:
        return fail(error.reason, error.remedy)
    mode = stat.S_IMODE(root.stat().st_mode)
    if mode & 0o077:
        return warn(f"{root} can be read by others (mode {mode:04o})", f"Run: chmod 700 {root}")
    return ok(str(root))


@health_check("disk space")
def check_disk() -> Finding:
    try:
        free = check_free_space()
    except OperationsError as error:
        return fail(error.message, "Free some space.")
    except OSError as error:
        return warn(
            f"cannot be told: {settings.JOBCTRL_HOME.root} cannot be read ({error.strerror})", "See home, above."
        )
    return ok(f"{free:,} MB free")


@health_check(DATABASE)
def check_database() -> Finding:
    try:
        executor = MigrationExecutor(connection)
        pending = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError as error:
        return fail(describe_failure(error), advise_on_failure(error))
    if obstacle := find_file_obstacle():
        return fail(f"its file cannot be written ({obstacle.strerror})", advise_on_obstacle(obstacle))
    if pending:
        return fail(f"{len(pending)} migrations are not applied", "Run: manage.py migrate")
    missing = list_missing_guards()
    if missing:
        return fail(f"the event log is not protected ({', '.join(missing)})", "Run: manage.py migrate")
    return ok(f"{connection.vendor}, migrated, event log protected")


@health_check("workspace")
def check_workspace() -> Finding:
    try:
        workspace = ensure_workspace()
    except OperationsError as error:
        return fail(
            error.message,
            "Use the home and the database that belong together. A workspace that moved here is restored from its "
            "backup: manage.py restore FOLDER --moved",
        )
    other = find_foreign_worker()
    if other:
        return fail("a worker of another workspace uses this database", "Stop it, or use a database of its own.")
    return ok(f"queue {workspace.task_queue}")


@health_check("projections")
def check_projections() -> Finding:
    flagged = list_flagged_apps()
    if flagged:
        return fail(
            f"behind the log: {', '.join(flagged)}",
            "A running worker catches up by itself; if it does not, run: manage.py rebuild_projections",
        )
    return ok("as far as the log")


@health_check("backups")
def check_backups() -> Finding:
    remedy = "Run: manage.py backup"
    made_at = find_newest_backup()
    if made_at is None:
        return warn("there is none", remedy)
    age = timezone.now() - made_at
    if age > BACKUP_AGE:
        return warn(f"the newest is {age.days} days old", remedy)
    return ok(f"the newest was made on {made_at:%Y-%m-%d at %H:%M} UTC")


@health_check("settings")
def check_settings() -> Finding:
    problems = list_unusable_settings()
    if problems:
        return warn("; ".join(problems), "Store an allowed value; until then the nearest one is used.")
    return ok("all in range")


@health_check("model spend")
def check_spend() -> Finding:
    """Today's ledger and yesterday's against their attempts."""
    now = timezone.now()
    uneven = [check for day in (now - timedelta(days=1), now) for check in compare_day(day) if not check.is_even]
    if uneven:
        lanes = ", ".join(f"{check.lane} on {check.day}" for check in uneven)
        return warn(
            f"the ledger and its attempts say different things: {lanes}",
            "The limits follow the ledger. Restore a backup if rows were changed by hand, or wait for the next day.",
        )
    return ok("the ledger is what its attempts add up to")


@health_check("model answers")
def check_answer_time() -> Finding:
    if fault := find_fault():
        return fail(fault, REMEDY)
    return ok(f"each is waited for at most {read_answer_seconds():g} s")


@health_check("temporal")
def check_temporal() -> Finding:
    from operations.processes.temporal_server import TemporalUnreachable, read_retention

    try:
        address = resolve_address()
    except WorkerUnavailable as error:
        return warn(error.message, "Run: manage.py up")
    try:
        days = read_retention(address, settings.TEMPORAL_NAMESPACE, tls=read_tls()).days
    except NotConfigured as error:
        return fail(error.message, "The worker cannot connect either.")
    except TemporalUnreachable:
        return warn(f"nothing answers at {address}", "Run: manage.py up")
    if days < RETENTION_DAYS:
        return warn(
            f"histories are kept for {days} days only",
            f"Recovery needs their proof: keep them for {RETENTION_DAYS} days (manage.py up sets it).",
        )
    return ok(f"{address}, histories kept for {days} days")


@health_check("worker")
def check_worker() -> Finding:
    seen = queries.find_fresh_worker()
    if seen is None:
        return warn("none is running", "Run: manage.py up")
    return ok(f"last seen at {seen:%H:%M:%S} UTC")


@health_check("tracing")
def check_tracing() -> Finding:
    if not settings.OTEL_EXPORTER_OTLP_ENDPOINT:
        return ok("off")
    from operations.worker.telemetry import TRACING_PACKAGES, has_tracing_packages

    if not has_tracing_packages():
        return warn("no traces are sent: packages are missing", f"Run: pip install {' '.join(TRACING_PACKAGES)}")
    return ok("the worker sends traces to OTEL_EXPORTER_OTLP_ENDPOINT")
