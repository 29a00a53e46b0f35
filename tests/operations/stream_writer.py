"""``python -m tests.operations.stream_writer``: one JSON order a line on standard input, one answer a line."""

import json
import sys
import time
from typing import Any

import django
from django.db import connection, connections


def main() -> None:
    django.setup()
    for line in sys.stdin:
        order = json.loads(line)
        answer = ORDERS[order.pop("what")](**order)
        connections.close_all()
        print(json.dumps(answer), flush=True)


def make_token() -> str:
    from django.utils import timezone

    from operations.access.accounts import ensure_operator
    from operations.access.tokens import create_token

    return create_token(ensure_operator(), label="of a test", now=timezone.now())[1]


def append(*, count: int, each: int = 1, pause: float = 0.0, actor: str = "writer", size: int = 0) -> list[int]:
    """``count`` transactions of ``each`` events with about ``size`` kilobytes of payload; the ids."""
    from operations.database import writer
    from operations.eventlog import append as append_event
    from operations.events import SettingsChanged

    ids = []
    keys = tuple("k" * 250 for _ in range(size * 4))
    for _ in range(count):
        with writer():
            logged = [append_event(SettingsChanged(keys=keys, actor=actor)) for _ in range(each)]
        ids += [event.id for event in logged if event is not None]
        time.sleep(pause)
    return ids


def append_timed(*, count: int, pause: float) -> list[tuple[int, float]]:
    """One event a transaction: its id, and when its commit had returned (``time.time``)."""
    found = []
    for _ in range(count):
        (event_id,) = append(count=1)
        found.append((event_id, time.time()))
        time.sleep(pause)
    return found


def append_marker() -> None:
    from operations.database import writer
    from operations.eventlog import append_marker as append_row

    with writer():
        append_row("StageQueued", job_id=None, body={"stage": "score"})


def append_unfolded() -> int:
    """A committed event that the projections have not folded yet; the id."""
    from operations import database

    before = read_mark()

    def hold_mark(write: database.Write) -> None:
        with connection.cursor() as cursor:
            cursor.execute("UPDATE projection_watermarks SET last_event_id = %s WHERE state = 'live'", [before])

    database.before_commit(hold_mark)
    try:
        return append(count=1)[0]
    finally:
        database._on_end.remove(hold_mark)


def read_mark() -> int:
    from operations.folding.engine import read_stream_watermark

    return read_stream_watermark()


def set_mark(*, event_id: int) -> None:
    from operations.models import ProjectionWatermark

    ProjectionWatermark.objects.filter(state="live").update(last_event_id=event_id)


def flag(*, app: str) -> None:
    from operations.database import writer
    from operations.folding.engine import flag_app

    with writer():
        flag_app(app, state="failing")


def recover(*, app: str) -> int:
    from operations.folding.engine import catch_up

    return catch_up(app)


def cut_connections() -> None:
    """End every other session of this PostgreSQL database, as a restarted server does."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


ORDERS: dict[str, Any] = {
    "token": make_token,
    "append": append,
    "append_timed": append_timed,
    "append_marker": append_marker,
    "append_unfolded": append_unfolded,
    "read_mark": read_mark,
    "set_mark": set_mark,
    "flag": flag,
    "recover": recover,
    "cut_connections": cut_connections,
}

if __name__ == "__main__":
    main()
