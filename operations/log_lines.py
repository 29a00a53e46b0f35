"""The lines of the logs: which workflow, run, job and activity each belongs to, as text or as JSON.

Imported by the logging configuration, before any app: standard library only. Ids come from Temporal's context, never
from arguments. JSON lines leave the machine: of an exception they hold its type and places, since its text may quote a
posting or the profile.
"""

import json
import logging
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime

FIELDS = ("workflow_id", "run_id", "job_id", "activity_type")
SHORT_NAMES = {"workflow_id": "workflow", "run_id": "run", "job_id": "job", "activity_type": "activity"}

_job_id: ContextVar[str] = ContextVar("job_id", default="")


@contextmanager
def working_on(job_id: object) -> Iterator[None]:
    """Name the job in every line that is logged inside."""
    token = _job_id.set(str(job_id))
    try:
        yield
    finally:
        _job_id.reset(token)


class AddIds(logging.Filter):
    """Gives each record ``workflow_id``, ``run_id``, ``job_id`` and ``activity_type``, "" where there is none."""

    def filter(self, record: logging.LogRecord) -> bool:
        ids = {"job_id": _job_id.get(), **_read_temporal_context()}
        for name in FIELDS:
            setattr(record, name, ids.get(name, ""))
        return True


def _read_temporal_context() -> dict[str, str]:
    # A process that never imported Temporal's package, or is still at it in another thread, is in none of its contexts.
    activity, workflow = sys.modules.get("temporalio.activity"), sys.modules.get("temporalio.workflow")
    if activity is not None and hasattr(activity, "in_activity") and activity.in_activity():
        info = activity.info()
        return {
            "workflow_id": info.workflow_id or "",
            "run_id": info.workflow_run_id or "",
            "activity_type": info.activity_type,
        }
    if workflow is not None and hasattr(workflow, "in_workflow") and workflow.in_workflow():
        info = workflow.info()
        return {"workflow_id": info.workflow_id, "run_id": info.run_id}
    return {}


class TextLines(logging.Formatter):
    """``TIME LEVEL LOGGER MESSAGE [workflow=... run=...]``, the brackets only where there is something in them."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:
        known = [f"{SHORT_NAMES[name]}={value}" for name in FIELDS if (value := getattr(record, name, ""))]
        return super().formatMessage(record) + (f" [{' '.join(known)}]" if known else "")


class JsonLines(logging.Formatter):
    """One JSON object a line; a field without a value is left out."""

    def format(self, record: logging.LogRecord) -> str:
        body = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **{name: value for name in FIELDS if (value := getattr(record, name, ""))},
        }
        if record.exc_info:
            body["exception"] = describe_exception(record.exc_info)
        return json.dumps(body, ensure_ascii=False, default=str)


def note_places(log: logging.Logger, error: BaseException) -> None:
    """For whoever looks for a bug: where it was raised, without its text, which may quote a posting or a profile."""
    if log.isEnabledFor(logging.DEBUG):
        log.debug("%s", describe_exception((type(error), error, error.__traceback__)))


def describe_exception(info: object) -> str:
    """The type of an exception and where it passed, innermost last."""
    if not isinstance(info, tuple) or info[0] is None:
        return ""
    places = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(info[2])]
    return "\n".join([info[0].__qualname__, *places])
