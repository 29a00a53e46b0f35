"""The lines of the logs, and what a worker shows of itself."""

import json
import logging
import socket
import sys
from typing import Any
from uuid import uuid4

import pytest
from temporalio import activity
from temporalio.runtime import Runtime
from temporalio.testing import ActivityEnvironment

from operations.checkup import Verdict
from operations.errors import NotConfigured
from operations.health import check_tracing
from operations.log_lines import AddIds, JsonLines, TextLines, working_on
from operations.processes.ports import choose_free_port
from operations.worker.telemetry import build_tracing, serve_sdk_metrics


def write(formatter: logging.Formatter, message: str, *args: object, error: BaseException | None = None) -> str:
    info = None if error is None else (type(error), error, error.__traceback__)
    record = logging.LogRecord("operations.some", logging.WARNING, __file__, 1, message, args, info)
    assert AddIds().filter(record)
    return formatter.format(record)


@activity.defn(name="score_job")
def log_inside(formatter: logging.Formatter, job_id: str) -> str:
    with working_on(job_id):
        return write(formatter, "scored %d", 8)


def test_a_json_line_names_the_workflow_the_run_the_job_and_the_activity() -> None:
    job_id = str(uuid4())
    body = json.loads(ActivityEnvironment().run(log_inside, JsonLines(), job_id))

    info = ActivityEnvironment().info
    assert body.pop("time").endswith("+00:00")
    assert body == {
        "level": "WARNING",
        "logger": "operations.some",
        "message": "scored 8",
        "workflow_id": info.workflow_id,
        "run_id": info.workflow_run_id,
        "job_id": job_id,
        "activity_type": info.activity_type,
    }


def test_a_text_line_has_the_same_ids_and_none_outside_of_work() -> None:
    job_id = str(uuid4())
    inside = ActivityEnvironment().run(log_inside, TextLines(), job_id)

    info = ActivityEnvironment().info
    assert inside.endswith(
        f"WARNING operations.some scored 8 [workflow={info.workflow_id} run={info.workflow_run_id} job={job_id} "
        f"activity={info.activity_type}]"
    )
    assert write(TextLines(), "idle").endswith("WARNING operations.some idle")
    assert json.loads(write(JsonLines(), "idle")).keys() == {"time", "level", "logger", "message"}


def test_a_json_line_keeps_the_text_of_an_exception_out() -> None:
    try:
        raise ValueError("Mara Lindqvist, 1984")
    except ValueError as error:
        line = write(JsonLines(), "it failed", error=error)

    assert "\n" not in line
    assert "Mara" not in line
    assert json.loads(line)["exception"].startswith("ValueError\n")
    assert "test_write_log_lines.py" in line


def test_an_address_that_is_taken_is_refused_with_the_remedy(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Runtime, "set_default", lambda _: pytest.fail("no runtime may be installed"))
    with socket.create_server(("127.0.0.1", choose_free_port())) as taken:
        settings.JOBCTRL_WORKER_METRICS_ADDRESS = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(NotConfigured, match="JOBCTRL_WORKER_METRICS_ADDRESS: nothing can listen on"):
            serve_sdk_metrics()
    settings.JOBCTRL_WORKER_METRICS_ADDRESS = "nonsense"
    with pytest.raises(NotConfigured):
        serve_sdk_metrics()


def test_doctor_says_what_tracing_needs(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.OTEL_EXPORTER_OTLP_ENDPOINT = ""
    assert check_tracing().verdict is Verdict.OK
    assert build_tracing() == []
    for name in [name for name in sys.modules if name.split(".")[0] == "opentelemetry"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    settings.OTEL_EXPORTER_OTLP_ENDPOINT = "http://127.0.0.1:4318"

    assert build_tracing() == []
    finding = check_tracing()
    assert finding.verdict is Verdict.WARNING
    assert finding.remedy == "Run: pip install opentelemetry-sdk opentelemetry-exporter-otlp-proto-http"
