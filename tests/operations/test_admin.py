"""The operator's window: what it shows, what it refuses, and what its actions leave behind."""

from collections.abc import Callable
from uuid import uuid4

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import Group, Permission, User
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from operations.access.tokens import create_token
from operations.admin_site import GROUPS
from operations.contracts import RunStatus, StageName, StageState, WorkflowStart
from operations.database import writer
from operations.eventlog import append, append_marker
from operations.events import SettingsChanged
from operations.folding.engine import FAILING, flag_app
from operations.models import (
    ApiToken,
    JobEventRow,
    JobListProjection,
    JobStageState,
    ProjectionWatermark,
    WorkflowRunProjection,
)
from operations.services.runs import record_not_found, record_started
from operations.stage_engine import settle_failure
from tests.operations.admin_pages import (
    act,
    list_inline_parts,
    list_tables,
    list_url,
    name_table,
    read_messages,
    row_url,
    sign_in,
)
from tests.operations.cast import FIRST_RUN, Cast, ScriptedStage, claim, get_row
from tests.operations.shadow import SECRET, ShadowApp

SEARCHED = ("operations_pipelinestepprojection", "discovery_job", "discovery_sourceregistryentry")
OURS = ("operations", "discovery", "scoring", "materials", "apply", "outreach")
TABLES = {name_table(table): table for table in list_tables()}
Rebuilt = Callable[[], None]


@pytest.fixture
def operator(db: None) -> Client:
    return sign_in()


def test_it_has_every_table_of_every_app() -> None:
    models = [model for app in OURS for model in apps.get_app_config(app).get_models()]
    assert [model for model in models if model not in admin.site._registry] == []
    assert [name for name, table in TABLES.items() if table.group not in GROUPS] == []


def test_it_groups_the_tables_as_the_persistence_map_does(operator: Client) -> None:
    page = operator.get("/admin/")
    groups = {app["name"]: [table["object_name"] for table in app["models"]] for app in page.context["app_list"]}
    assert list(groups) == [group for group in GROUPS if group in groups]
    assert {"Discovery", "Enrichment", "Scoring", "Materials", "Spend", "Runtime", "Access"} <= set(groups)
    assert "PostingContentSnapshot" in groups["Enrichment"]
    assert {"JobEventRow", "JobStageState", "ProjectionWatermark"} <= set(groups["Orchestration / read model"])
    assert not {Group, Permission} & set(admin.site._registry)
    assert "JobCtrl operator" in page.content.decode()


def test_it_asks_strangers_to_sign_in_where_everybody_does(db: None) -> None:
    for path in ("/admin/", "/admin/login/", list_url("operations_jobeventrow")):
        answer = Client().get(path)
        assert (answer.status_code, answer["Location"].split("?")[0]) == (302, "/sign-in/")


def test_it_shows_nothing_to_a_user_who_is_no_operator(db: None) -> None:
    guest = Client()
    guest.force_login(User.objects.create_user("guest"))
    assert guest.get("/admin/", follow=True).status_code == 403


@pytest.mark.parametrize("name", TABLES)
def test_every_list_and_row_opens_and_nothing_can_be_edited(name: str, operator: Client, cast: Cast) -> None:
    with writer():
        append_marker("StageQueued", job_id=cast.sales, body={})
    create_token(User.objects.get(), label="laptop", now=timezone.now())
    page = operator.get(list_url(name))
    assert page.status_code == 200
    assert list_inline_parts(page.content.decode()) == []
    row = TABLES[name].model._default_manager.first()
    if row is None:
        return
    shown = operator.get(row_url(name, row.pk))
    text = shown.content.decode()
    assert shown.status_code == 200
    assert list_inline_parts(text) == []
    assert 'name="_save"' not in text
    assert operator.post(row_url(name, row.pk), {"tenant_id": "other"}).status_code == 403
    assert operator.post(f"{list_url(name)}add/", {}).status_code in (302, 404)
    assert operator.post(f"{list_url(name)}{row.pk}/delete/", {"post": "yes"}).status_code in (302, 404)
    assert act(operator, name, "delete_selected", row.pk, post="yes").status_code == 200
    assert TABLES[name].model._default_manager.filter(pk=row.pk).exists()


def test_it_links_a_job_to_all_that_belongs_to_it(operator: Client, cast: Cast) -> None:
    text = operator.get(row_url("discovery_job", cast.sales)).content.decode()
    for table in (
        "operations_jobeventrow",
        "operations_jobstagestate",
        "operations_discoveryexecutionjob",
        "operations_workflowrunprojection",
        "discovery_postingcontentsnapshot",
        "scoring_jobscore",
        "materials_tailoredresume",
        "materials_artifact",
    ):
        assert f'href="{list_url(table)}?job_id={cast.sales}"' in text
        listed = operator.get(list_url(table), {"job_id": str(cast.sales)})
        assert listed.status_code == 200
    events = operator.get(list_url("operations_jobeventrow"), {"job_id": str(cast.sales)}).context["cl"].result_list
    assert {event.job_id for event in events} == {cast.sales}
    assert f"/jobs/{cast.sales}/" in text


def test_a_text_in_a_payload_stays_text(operator: Client, db: None) -> None:
    with writer():
        event = append(SettingsChanged(keys=("<script>alert(1)</script>",), actor="</pre><b>"))
    assert event is not None
    text = operator.get(row_url("operations_jobeventrow", event.id)).content.decode()
    assert "&lt;script&gt;alert(1)" in text
    assert "<script>alert" not in text
    assert "</pre><b>" not in text
    assert "{\n  &quot;keys&quot;: [\n" in text


def test_hashes_of_secrets_are_not_shown(operator: Client) -> None:
    row, _ = create_token(User.objects.get(), label="laptop", now=timezone.now())
    text = operator.get(row_url("operations_apitoken", row.pk)).content.decode()
    assert "laptop" in text
    assert row.token_hash not in text
    assert "password" not in operator.get(row_url("auth_user", User.objects.get().pk)).content.decode()


# --- search ------------------------------------------------------------------------------------


def search(operator: Client, name: str, term: str) -> list[object]:
    return [row.pk for row in operator.get(list_url(name), {"q": term}).context["cl"].result_list]


def test_it_finds_events_by_their_id_their_job_and_their_type(operator: Client, cast: Cast) -> None:
    of_job = list(JobEventRow.objects.filter(job_id=cast.sales).order_by("-id").values_list("pk", flat=True))
    table = "operations_jobeventrow"
    assert search(operator, table, str(of_job[0])) == [of_job[0]]
    assert search(operator, table, str(cast.sales)) == of_job
    assert search(operator, table, str(cast.sales)[:10]) == of_job
    assert len(search(operator, table, "JobDiscovered")) == 4
    assert len(operator.get(list_url(table), {"type": "JobDiscovered"}).context["cl"].result_list) == 4


def test_it_finds_a_run_by_how_its_id_begins(operator: Client, db: None) -> None:
    record_started(WorkflowStart("discover-local", "01a2-first", "DiscoverWorkflow", {}))
    record_started(WorkflowStart("prep-1", "01b3-second", "JobPreparationWorkflow", {}))
    table = "operations_workflowrunprojection"
    assert search(operator, table, "01a2") == ["01a2-first"]
    assert search(operator, table, "01b3-second") == ["01b3-second"]
    assert search(operator, table, "discover-local") == ["01a2-first"]
    assert search(operator, table, "JobPreparationWorkflow") == ["01b3-second"]
    assert search(operator, table, "a2-f") == [], "only beginnings are looked up"


@pytest.mark.parametrize(
    "term",
    ["nothing", "' OR 1=1 --", "%", "_" * 300, "x" * 5000, "9" * 40, "1" * 19, "zzzz", "-" * 36, "𝟙", "é"],
)
def test_it_finds_nothing_by_a_hostile_text(term: str, operator: Client, cast: Cast) -> None:
    for name in SEARCHED:
        assert operator.get(list_url(name), {"q": term}).status_code == 200
    assert search(operator, "operations_jobeventrow", term) == []


@pytest.mark.parametrize(
    "query", ["job_id=none", "job_id=", "p=WzFd-", "p=9", "p=WyJ4Il0", "q=%00", "id=x", "run_id=%00", "p=" + "x" * 3000]
)
def test_a_list_asked_for_wrongly_starts_afresh(query: str, operator: Client, cast: Cast) -> None:
    page = operator.get(f"{list_url('operations_jobeventrow')}?{query}", follow=True)
    assert page.status_code == 200


@pytest.mark.parametrize(
    "query", ["payload__icontains=a", "error_message__contains=x", "recorded_at__year=2026", "o=2"]
)
def test_it_does_not_filter_by_what_has_no_index(query: str, operator: Client, cast: Cast) -> None:
    page = operator.get(f"{list_url('operations_jobeventrow')}?{query}")
    assert page.status_code == (200 if query.startswith("o=") else 400)


# --- actions -----------------------------------------------------------------------------------


def test_it_resets_stages_once_asked(
    operator: Client, cast: Cast, stages: dict[StageName, ScriptedStage], assert_rebuild_matches: Rebuilt
) -> None:
    settle_failure(claim(cast.sales, StageName.ENRICH), code="NO_CONTENT", message="", retryable=False)
    row = get_row(cast.sales, StageName.ENRICH)
    table = "operations_jobstagestate"
    asked = act(operator, table, "reset_stage", row.pk)
    assert "Reset these stages?" in asked.content.decode()
    assert str(cast.sales) in asked.content.decode()
    assert get_row(cast.sales, StageName.ENRICH).state == StageState.FAILED
    done = act(operator, table, "reset_stage", row.pk, confirmed="yes")
    assert read_messages(done) == ["Reset stage: 1 job."]
    assert get_row(cast.sales, StageName.ENRICH).state == StageState.PENDING
    reset = JobEventRow.objects.filter(event_type="StageReset", payload__stage="enrich").get()
    assert reset.payload["reasonCode"] == "operator"
    assert_rebuild_matches()


def test_it_leaves_a_running_stage_alone(operator: Client, cast: Cast, stages: dict[StageName, ScriptedStage]) -> None:
    claim(cast.sales, StageName.ENRICH)
    row = get_row(cast.sales, StageName.ENRICH)
    done = act(operator, "operations_jobstagestate", "reset_stage", row.pk, confirmed="yes")
    assert "1 job left as before" in read_messages(done)[0]
    assert get_row(cast.sales, StageName.ENRICH).state == StageState.RUNNING


def test_it_releases_a_stage_from_a_run_that_cannot_be_found_once_asked(
    operator: Client, cast: Cast, stages: dict[StageName, ScriptedStage], assert_rebuild_matches: Rebuilt
) -> None:
    record_started(WorkflowStart(FIRST_RUN.workflow_id, FIRST_RUN.run_id, "JobPreparationWorkflow", {}))
    claim(cast.sales, StageName.ENRICH)
    row, table = get_row(cast.sales, StageName.ENRICH), "operations_jobstagestate"
    asked = act(operator, table, "release_stage", row.pk)
    assert "Release these stages?" in asked.content.decode()
    refused = act(operator, table, "release_stage", row.pk, confirmed="yes")
    assert read_messages(refused) == [
        "1 job left as before: its run is still at work. Cancel that run, or wait until it has ended."
    ]
    assert get_row(cast.sales, StageName.ENRICH).state == StageState.RUNNING

    record_not_found(FIRST_RUN.run_id, FIRST_RUN.workflow_id, "JobPreparationWorkflow", episode=1)
    done = act(operator, table, "release_stage", row.pk, confirmed="yes")
    assert read_messages(done) == ["Release stage: 1 job."]
    assert get_row(cast.sales, StageName.ENRICH).state == StageState.PENDING
    audit = JobEventRow.objects.get(event_type="StageReleased")
    assert (audit.job_id, audit.payload["actor"]) == (cast.sales, "operator")
    again = act(operator, table, "release_stage", row.pk, confirmed="yes")
    assert read_messages(again) == ["1 job left as before: no run holds it. Reload the page to see where it stands."]
    assert_rebuild_matches()


def test_a_run_that_has_ended_or_cannot_be_reached_is_not_canceled(
    operator: Client, settings: Settings, assert_rebuild_matches: Rebuilt
) -> None:
    settings.TEMPORAL_ADDRESS = "127.0.0.1:9"
    record_started(WorkflowStart("prep-1", "run-open", "JobPreparationWorkflow", {}))
    table = "operations_workflowrunprojection"
    asked = act(operator, table, "cancel_runs", "run-open")
    assert "Cancel these runs?" in asked.content.decode()
    refused = act(operator, table, "cancel_runs", "run-open", confirmed="yes")
    assert len(read_messages(refused)) == 1
    assert "prep-1" in read_messages(refused)[0]
    assert not WorkflowRunProjection.objects.get().cancel_requested
    assert WorkflowRunProjection.objects.get().status == RunStatus.IN_PROGRESS
    assert_rebuild_matches()


def test_it_rebuilds_an_apps_projections_and_says_what_was_wrong(
    operator: Client, cast: Cast, assert_rebuild_matches: Rebuilt
) -> None:
    JobListProjection.objects.filter(job_id=cast.sales).update(title="tampered")
    JobListProjection.objects.filter(job_id=cast.data).delete()
    table = "operations_projectionwatermark"
    asked = act(operator, table, "rebuild", "operations")
    assert "Rebuild these projections?" in asked.content.decode()
    assert JobListProjection.objects.filter(title="tampered").exists()
    done = act(operator, table, "rebuild", "operations", confirmed="yes")
    (report,) = read_messages(done)
    assert "job_list_projections: 3 rows; 1 missing, 1 differing, 0 superfluous" in report
    assert "job_detail_projections: 4 rows, as the log says" in report
    assert "Now: live" in report
    audit = JobEventRow.objects.get(event_type="ProjectionsRebuilt")
    assert not audit.typed
    assert (audit.payload["app"], audit.payload["actor"]) == ("operations", "operator")
    assert audit.payload["wrongBefore"]["job_list_projections"] == 2
    assert_rebuild_matches()


def test_a_rebuild_that_a_fold_refuses_is_told_and_throws_nothing_away(operator: Client, shadow: ShadowApp) -> None:
    shadow.write("good", "bad")
    shadow.trouble = "fold"
    done = act(operator, "operations_projectionwatermark", "rebuild", "shadow", confirmed="yes")
    assert done.status_code == 200
    (refused,) = read_messages(done)
    assert "A fold refuses event" in refused
    assert "shadow_counters:SettingsChanged:ValueError" in refused
    assert SECRET not in done.content.decode()
    assert shadow.read() == {"good": 1, "bad": 1}
    assert not JobEventRow.objects.filter(event_type="ProjectionsRebuilt").exists()


def test_it_catches_up_a_flagged_app(operator: Client, cast: Cast, assert_rebuild_matches: Rebuilt) -> None:
    flag_app("operations", state=FAILING, error_code="job_list_projections:JobHidden:KeyError", failed_event_id=1)
    with writer():
        append(SettingsChanged(keys=("score_threshold",), actor="operator"))
    done = act(operator, "operations_projectionwatermark", "catch_up", "operations")
    assert "Now: live" in read_messages(done)[0]
    assert ProjectionWatermark.objects.get(app="operations").state == "live"
    assert JobEventRow.objects.get(event_type="ProjectionsCaughtUp").payload["actor"] == "operator"
    assert_rebuild_matches()


def test_it_revokes_a_token_once(operator: Client) -> None:
    row, token = create_token(User.objects.get(), label="laptop", now=timezone.now())
    assert "Revoke these tokens?" in act(operator, "operations_apitoken", "revoke", row.pk).content.decode()
    assert ApiToken.objects.get().revoked_at is None
    done = act(operator, "operations_apitoken", "revoke", row.pk, confirmed="yes")
    assert read_messages(done) == ["Revoked: 1."]
    assert Client().get("/v1/jobs", headers={"Authorization": f"Bearer {token}"}).status_code == 401
    again = act(operator, "operations_apitoken", "revoke", row.pk, confirmed="yes")
    assert "it was revoked before" in read_messages(again)[0]
    assert JobEventRow.objects.get(event_type="ApiTokenRevoked").payload["label"] == "laptop"


def test_it_takes_200_rows_at_once_and_no_more(operator: Client, cast: Cast) -> None:
    for _ in range(50):
        JobStageState.objects.bulk_create(
            JobStageState(job_id=uuid4(), stage=StageName.SCORE, state=StageState.FAILED, updated_at=timezone.now())
            for _ in range(5)
        )
    first = JobStageState.objects.order_by("id")[0]
    done = act(operator, "operations_jobstagestate", "reset_stage", first.pk, select_across="1", confirmed="yes")
    assert "At most 200 rows" in read_messages(done)[0]
    assert not JobEventRow.objects.filter(event_type="StageReset").exists()
