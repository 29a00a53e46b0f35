"""System checks that refuse a wrong configuration."""

import sys
from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.core.checks import CheckMessage, Error
from django.db import connection

from operations.contracts import STAGE_AFTER, StageName
from operations.llm.answer_time import REMEDY, find_fault
from operations.stage_engine import list_stages

TAG = "operations"


def check_guards(app_configs: Sequence[AppConfig] | None, databases: Any = None, **_: Any) -> list[CheckMessage]:
    """``operations.E001``: the event log's guards are missing. Migrating is not refused: it brings them."""
    from operations.eventlog.guards import list_missing_guards

    if sys.argv[1:2] == ["migrate"]:
        return []
    if not databases or "job_events" not in connection.introspection.table_names():
        return []
    missing = list_missing_guards()
    if not missing:
        return []
    return [
        Error(
            f"The event log is not protected: {', '.join(missing)}.",
            hint="Run: manage.py migrate",
            id="operations.E001",
        )
    ]


def check_stages(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """``operations.E002``: a stage of preparation has no implementation."""
    wanted = [stage for stage in STAGE_AFTER if stage is not StageName.APPLY]
    present = {stage.name for stage in list_stages()}
    return [
        Error(f"No app implements the stage {stage}.", hint="Declare it in an app's stages.py.", id="operations.E002")
        for stage in wanted
        if stage not in present
    ]


def check_answer_seconds(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """``operations.E003``: a model would be waited for without end, or not at all."""
    fault = find_fault()
    return [Error(fault, hint=REMEDY, id="operations.E003")] if fault else []
