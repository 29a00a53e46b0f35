"""The API's description: complete, valid, and true of what the API answers, for whoever asks.

A bounded run of schemathesis with a fixed seed; ``SCHEMATHESIS_EXAMPLES=500`` makes it long.
"""

import os
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.management import call_command
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from django.utils import timezone
from hypothesis import HealthCheck, Phase, given, seed
from hypothesis import settings as limits
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.config import GenerationConfig, ProjectConfig, ProjectsConfig, SchemathesisConfig
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from operations.access.accounts import ensure_operator
from operations.access.tokens import create_token
from operations.contracts import WorkflowStart
from operations.models import ApiToken
from operations.processes.ports import choose_free_port
from operations.services.runs import record_dispatched
from operations.services.saved_views import save_view
from tests.operations.cast import record_cast

EXAMPLES = int(os.environ.get("SCHEMATHESIS_EXAMPLES", "12"))
SEED = 20261129
STREAM = "/v1/events/stream"


def breaks_nothing(_context: Any, response: Any, _case: Any) -> None:
    """No 5xx but the documented one: without a worker, what starts or stops work is refused."""
    is_refused = response.status_code == 503 and response.json()["error"] == "worker_runtime_unavailable"
    assert response.status_code < 500 or is_refused, response.text


CHECKS = [
    breaks_nothing,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
]


def load_schema() -> Any:
    from drf_spectacular.generators import SchemaGenerator

    generation = GenerationConfig(with_security_parameters=False)
    config = SchemathesisConfig(projects=ProjectsConfig(default=ProjectConfig(generation=generation)))
    described: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    schema = schemathesis.openapi.from_dict(described, config=config)
    schema.app = get_wsgi_application()
    return schema


SCHEMA = load_schema()
OPERATIONS = {
    found.ok().label: found.ok() for found in SCHEMA.get_all_operations() if not found.ok().label.endswith(STREAM)
}


@pytest.fixture(autouse=True)
def one_connection() -> Iterator[None]:
    """The application is called in process: it must not close the connection that holds the test's transaction."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture
def known(db: None, settings: Any) -> dict[str, Any]:
    """Ids that exist, for parts of paths."""
    settings.TEMPORAL_ADDRESS = f"127.0.0.1:{choose_free_port()}"
    cast = record_cast()
    user = ensure_operator()
    record_dispatched(WorkflowStart("run-a", "run-a", "JobPipelineWorkflow", {"stage": "enrich"}))
    view = save_view(user, page="jobs", name="Good ones", query="minScore=8")
    return {"jobId": str(cast.backend), "runId": "run-a", "viewId": view.pk}


@pytest.fixture
def token(known: dict[str, Any]) -> str:
    row, token = create_token(ensure_operator(), label="tests", now=timezone.now())
    # An id that no request guesses, so that none ends the token that is in use.
    ApiToken.objects.filter(pk=row.pk).update(id=987_654_321)
    return token


def try_operation(label: str, mode: GenerationMode, check: Any, known: dict[str, Any]) -> None:
    operation = OPERATIONS[label]

    @seed(SEED)
    @limits(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode), is_known=st.booleans())
    def run(case: Any, is_known: bool) -> None:
        if is_known:
            case.path_parameters |= {name: known[name] for name in case.path_parameters if name in known}
        check(case)

    try:
        run()
    except Unsatisfiable:
        assert mode is GenerationMode.NEGATIVE
        pytest.skip("it takes nothing that could be wrong")


def test_the_description_is_valid_and_complete(tmp_path: Any) -> None:
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", str(tmp_path / "schema.yml"))
    assert f"GET {STREAM}" in {found.ok().label for found in SCHEMA.get_all_operations()}
    assert set(SCHEMA.raw_schema["paths"][STREAM]["get"]["responses"]["200"]["content"]) == {"text/event-stream"}
    open_to_all = [label for label, found in OPERATIONS.items() if not found.definition.raw.get("security")]
    assert open_to_all == ["GET /v1/health"]


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
@pytest.mark.parametrize("label", OPERATIONS)
def test_it_answers_as_it_says(label: str, mode: GenerationMode, known: dict[str, Any], token: str) -> None:
    def check(case: Any) -> None:
        case.call_and_validate(headers={"Authorization": f"Bearer {token}"}, checks=CHECKS)

    try_operation(label, mode, check, known)


@pytest.mark.parametrize("label", [label for label in OPERATIONS if label != "GET /v1/health"])
def test_it_answers_no_stranger(label: str, known: dict[str, Any]) -> None:
    def check(case: Any) -> None:
        for headers in ({}, {"Authorization": "Bearer jc_wrong"}, {"Authorization": "Basic b3BlcmF0b3I6eA=="}):
            answer = case.call(headers=headers)
            assert answer.status_code == 401, answer.text
            assert set(answer.json()) == {"error", "message"}

    try_operation(label, GenerationMode.POSITIVE, check, known)
