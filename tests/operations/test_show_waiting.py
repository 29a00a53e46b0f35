"""Work that waits for the budget or its provider says so on the list and on its page, until it is taken up again."""

import re
from collections.abc import Callable
from datetime import timedelta
from html import unescape
from uuid import UUID

import pytest
from django.test import Client
from django.utils import timezone

from operations.access.accounts import ensure_operator
from operations.contracts import StageName
from operations.models import JobListProjection
from operations.stage_engine.lifecycle import publish_stage, release_claim
from tests.operations.cast import Cast, ScriptedStage, claim

ENRICH = StageName.ENRICH
Check = Callable[[], None]


@pytest.fixture
def operator(db: None) -> Client:
    client = Client()
    client.force_login(ensure_operator())
    return client


def read(operator: Client, path: str) -> str:
    page = operator.get(path).content.decode().partition("<main")[2]
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


def put_back(job_id: UUID, reason_code: str) -> None:
    release_claim(claim(job_id, ENRICH), reason_code=reason_code)


def test_it_waits_for_the_budget_on_the_list_and_on_its_page(
    operator: Client, cast: Cast, stages: dict[StageName, ScriptedStage], assert_rebuild_matches: Check
) -> None:
    put_back(cast.backend, "budget")

    for path in ("/jobs/", f"/jobs/{cast.backend}/"):
        assert re.search(r"Waits for the budget, resets in (a moment|\d+ (h|min))", read(operator, path)), path
    assert_rebuild_matches()


def test_it_waits_for_its_provider(
    operator: Client, cast: Cast, stages: dict[StageName, ScriptedStage], assert_rebuild_matches: Check
) -> None:
    put_back(cast.backend, "provider_paused")

    assert "Waits for the model provider" in read(operator, "/jobs/")
    assert_rebuild_matches()


def test_it_waits_only_to_be_started_again_once_that_day_is_over(
    operator: Client, cast: Cast, stages: dict[StageName, ScriptedStage], monkeypatch: pytest.MonkeyPatch
) -> None:
    put_back(cast.backend, "budget")
    tomorrow = timezone.now() + timedelta(days=1)
    monkeypatch.setattr("operations.wording.stages.timezone.now", lambda: tomorrow)

    for path in ("/jobs/", f"/jobs/{cast.backend}/"):
        page = read(operator, path)
        assert "Waits to be started again" in page, path
        assert "resets in" not in page, path


def test_it_no_longer_says_so_once_it_was_done(
    operator: Client, cast: Cast, stages: dict[StageName, ScriptedStage], assert_rebuild_matches: Check
) -> None:
    put_back(cast.backend, "budget")
    publish_stage(claim(cast.backend, ENRICH), "result")

    assert "Waits for the budget" not in read(operator, "/jobs/")
    assert JobListProjection.objects.get(job_id=cast.backend).waits_for == ""
    assert_rebuild_matches()
