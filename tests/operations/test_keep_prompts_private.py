"""A stage asks a model that quotes its request back in every way: no page, answer of the API or log line repeats it."""

import logging
from collections.abc import Iterator

import pytest

from operations.contracts import StageName, StageState
from operations.errors import OperationsError
from operations.models import LlmAttempt
from operations.stage_engine import Claim, StageContext, work_job
from tests.modelserver import ModelServer, Raw, Step
from tests.modelwires import Answer, Refused
from tests.operations.admin_pages import list_tables, list_url, row_url, sign_in
from tests.operations.asking import KEY, PROFILE, PROMPT, Verdict, ask, assert_quotes_nothing
from tests.operations.cast import FIRST_RUN, PROFILE_VERSION, Cast, ScriptedStage

pytestmark = [pytest.mark.usefixtures("one_connection"), pytest.mark.sqlite_alone]

QUOTED = f"cannot read {PROMPT} {PROFILE} {KEY}"
WRONG = Answer({"score": QUOTED})
ANSWERS: tuple[tuple[Step, ...], ...] = (
    (Refused(400, QUOTED, QUOTED),),
    (Refused(401, QUOTED),),
    (WRONG, WRONG),
    (Raw(QUOTED.encode()),),
)
PAGES = ("/", "/jobs/", "/jobs/{job}/", "/runs/", "/activity/", "/spend/", "/settings/", "/v1/spend", "/v1/jobs/{job}")


@pytest.fixture(autouse=True)
def _everything_logged(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    with caplog.at_level(logging.DEBUG):
        yield
    assert_quotes_nothing(caplog.text)


@pytest.mark.parametrize("steps", ANSWERS, ids=["refused", "key refused", "wrong types", "no JSON"])
def test_no_page_and_no_line_quotes_what_was_sent(
    steps: tuple[Step, ...], cast: Cast, stages: dict[StageName, ScriptedStage], models: ModelServer
) -> None:
    def ask_for(claim: Claim) -> Verdict:
        if isinstance(ended := ask("openai"), OperationsError):
            raise ended
        return ended

    stages[StageName.ENRICH].script = [ask_for]
    models.script(*steps)
    ended = work_job(cast.backend, StageName.ENRICH, StageContext(FIRST_RUN, PROFILE_VERSION))
    assert ended.report.state in (StageState.FAILED, StageState.PENDING) and ended.report.code

    assert all(PROFILE in str(asked.body) and KEY in str(asked.headers) for asked in models.requests)
    attempt = LlmAttempt.objects.first()
    assert attempt is not None
    operator = sign_in()
    pages = [page.format(job=cast.backend) for page in PAGES]
    for url in [*pages, row_url("operations_llmattempt", attempt.pk), *map(list_url, list_tables())]:
        response = operator.get(url)
        assert response.status_code == 200, url
        assert_quotes_nothing(response.content.decode())
