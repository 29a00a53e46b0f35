"""Calling what an app adds to an ending, so that its mistake never keeps a row from ending."""

import logging
from collections.abc import Callable

from django.db import InterfaceError, OperationalError

from operations.database import require_write
from operations.log_lines import note_places

log = logging.getLogger(__name__)

#: The database is gone or busy: nobody's mistake, and nothing to go on from.
OUTAGES = (OperationalError, InterfaceError)


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
