"""Calling what an app adds to an ending, so that its mistake never keeps a row from ending."""

import logging
from collections.abc import Callable

from operations.database import OUTAGES, require_write
from operations.log_lines import note_places

log = logging.getLogger(__name__)


def call_quietly(hook: Callable[[], None], *, of: str) -> None:
    """Run an app's own record of an ending inside ``writer()``; one that raises leaves no trace but a log line."""
    try:
        with require_write().savepoint():
            hook()
    except OUTAGES:
        raise
    except Exception as error:
        log.error("what %s records of an ending raised %s", of, type(error).__name__)
        note_places(log, error)
