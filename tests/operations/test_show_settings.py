"""The settings page: every declared setting, the password, and the tokens."""

import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from operations.access.accounts import ensure_operator, set_password
from operations.access.tokens import list_tokens
from operations.models import ApiToken, JobEventRow, StoredSetting
from operations.settings_store import (
    Choice,
    Setting,
    check_boolean,
    check_integer,
    get_setting,
    list_settings,
)
from operations.views import settings_form
from operations.views.settings_form import build_groups, list_changes

pytestmark = pytest.mark.django_db

Check = Callable[[], None]

PASSWORD = "correct horse battery"


@pytest.fixture(autouse=True)
def _quick_passwords(settings: Settings) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def user() -> User:
    return ensure_operator()


@pytest.fixture
def operator(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def read(response: Any) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", response.content.decode())).split())


def find_value(response: Any, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', response.content.decode())
    assert found, name
    return unescape(found[1])


# --- settings ----------------------------------------------------------------------------------


def test_it_shows_every_declared_setting_with_its_range_and_effect(operator: Client) -> None:
    page = operator.get("/settings/")

    assert page.status_code == 200
    for setting in list_settings():
        assert setting.label in read(page), setting.key
        assert setting.group != "Other", setting.key
    assert "1 to 64 · default 4 · once the worker was restarted" in read(page)
    assert 'type="number" name="min_fit_score" value="7" required min="1" max="10" step="1"' in page.content.decode()
    assert find_value(page, "daily_budget_usd") == "25"


def test_it_answers_its_live_part_alone_and_leaves_the_message_for_the_page(operator: Client) -> None:
    operator.post("/settings/", {"group": "Scoring", "min_fit_score": "6"})

    part = operator.get("/settings/?fragment=groups")

    assert part.content.decode().lstrip().startswith('<div id="settings" data-region="settings"')
    assert find_value(part, "min_fit_score") == "6"
    assert "Saved: Lowest score that is prepared." in read(operator.get("/settings/"))


def test_it_saves_a_group_and_says_when_it_counts_and_who_did_it(
    operator: Client, assert_rebuild_matches: Check
) -> None:
    page = operator.post(
        "/settings/", {"group": "Discovery", "max_parallel_families": "2", "results_per_board": "50"}, follow=True
    )

    assert "Saved: Source families crawled at once. It counts from the next run on." in read(page)
    assert re.search(r"changed just now by operator", read(page))
    assert get_setting("max_parallel_families") == 2
    assert JobEventRow.objects.get().payload["keys"] == ["max_parallel_families"]
    assert_rebuild_matches()


def test_it_says_that_the_worker_must_be_restarted(operator: Client) -> None:
    page = operator.post("/settings/", {"group": "Worker", "worker_activity_slots": "8"}, follow=True)

    assert "The worker still works with the old value: restart it" in read(page)


def test_it_saves_nothing_of_a_group_with_a_refused_value_and_keeps_what_was_typed(operator: Client) -> None:
    page = operator.post(
        "/settings/", {"group": "Discovery", "max_parallel_families": "3", "results_per_board": "9999"}
    )

    assert page.status_code == 400
    assert "Nothing of this group was saved" in read(page)
    html = page.content.decode()
    assert '<p class="error" id="results_per_board-error">9999 is out of range; allowed: 1 to 500.</p>' in html
    assert (find_value(page, "max_parallel_families"), find_value(page, "results_per_board")) == ("3", "9999")
    assert find_value(page, "min_fit_score") == "7"
    assert not StoredSetting.objects.exists() and not JobEventRow.objects.exists()


@pytest.mark.parametrize(
    ("typed", "reason"),
    [
        ("", "It is empty; allowed: 1 to 10."),
        ("seven", "&#x27;seven&#x27; is not a whole number"),
        ("7.5", "is not a whole number"),
        ("0", "0 is out of range"),
        ("9" * 5000, "is not a whole number"),
        ("<script>", "is not a whole number"),
    ],
)
def test_it_refuses_what_is_no_score(operator: Client, typed: str, reason: str) -> None:
    page = operator.post("/settings/", {"group": "Scoring", "min_fit_score": typed})

    assert page.status_code == 400
    assert reason in page.content.decode()
    assert "<script>" not in page.content.decode().partition('id="settings"')[2]
    assert get_setting("min_fit_score") == 7


@pytest.mark.parametrize(("typed", "stored"), [("0", 0.0), ("12.50", 12.5), ("25", 25.0)])
def test_it_takes_an_amount(operator: Client, typed: str, stored: float) -> None:
    operator.post("/settings/", {"group": "Money", "daily_budget_usd": typed})

    assert get_setting("daily_budget_usd") == stored


def test_it_takes_a_limit_of_tokens_for_each_lane(operator: Client) -> None:
    form = {
        "group": "Money",
        "daily_budget_usd": "25",
        "lane_token_limits-score": "200000",
        "lane_token_limits-tailor": "",
    }
    operator.post("/settings/", form)

    assert get_setting("lane_token_limits") == {"score": 200_000}
    assert 'name="lane_token_limits-score" value="200000"' in operator.get("/settings/").content.decode()


def test_it_refuses_a_limit_that_is_no_number_and_keeps_what_was_typed(operator: Client) -> None:
    page = operator.post("/settings/", {"group": "Money", "daily_budget_usd": "25", "lane_token_limits-score": "many"})

    assert page.status_code == 400
    assert "is not a number of tokens for score" in read(page)
    assert 'value="many"' in page.content.decode()


def test_it_takes_an_engine_and_its_model_lane_by_lane(operator: Client, settings: Settings) -> None:
    settings.ANTHROPIC_API_KEY = "sk-canary"
    form = {"group": "Engines", "structured_output": "tool", "provider-score": "anthropic", "model-score": " claude-x "}
    page = operator.post("/settings/", form, follow=True)

    assert (get_setting("provider"), get_setting("model")) == ({"score": "anthropic"}, {"score": "claude-x"})
    assert "sk-canary" not in page.content.decode()
    assert "Not ready yet" not in read(page)


def test_it_offers_only_providers_that_are_set_up_and_says_what_is_missing(operator: Client) -> None:
    offered = operator.get("/settings/").content.decode()
    form = {"group": "Engines", "structured_output": "tool", "provider-score": "google"}
    page = operator.post("/settings/", form, follow=True)

    assert '<option value="google" disabled>Google (not set up)</option>' in offered
    assert "Not ready yet: scoring. Name a model" in read(page)
    assert '<option value="google" selected>' in page.content.decode()


@pytest.mark.parametrize("typed", ["-1", "nan", "inf", "1e999", "a lot"])
def test_it_refuses_what_is_no_amount(operator: Client, typed: str) -> None:
    assert operator.post("/settings/", {"group": "Money", "daily_budget_usd": typed}).status_code == 400
    assert get_setting("daily_budget_usd") == 25.0


def test_it_stores_nothing_where_nothing_was_changed(operator: Client) -> None:
    for form in ({"group": "Scoring", "min_fit_score": "7"}, {"group": "No such group"}, {}):
        assert "Nothing was changed." in read(operator.post("/settings/", form, follow=True))
    assert not StoredSetting.objects.exists()


def test_it_chooses_an_engine_for_each_lane(operator: Client) -> None:
    page = operator.get("/settings/")
    assert 'name="provider-analysis"' in page.content.decode()
    assert "Writing cover letters The built-in engine; no other works here yet." in read(page)
    assert 'name="provider-cover"' not in page.content.decode()

    refused = operator.post("/settings/", {"group": "Engines", "provider-cover": "oracle"})

    assert refused.status_code == 400
    assert "is not a provider for cover" in read(refused)
    assert get_setting("provider") == {}


def test_it_says_where_no_model_can_do_the_work_yet(operator: Client) -> None:
    refused = operator.post("/settings/", {"group": "Engines", "provider-cover": "openai"})

    assert refused.status_code == 400
    assert "Cover has only builtin so far" in read(refused)
    assert get_setting("provider") == {}


def test_it_types_switches_choices_and_anything_else(monkeypatch: pytest.MonkeyPatch) -> None:
    declared = [
        Setting("switch", False, check_boolean, "on or off", label="Switch", group="New"),
        Setting("mode", "a", Choice(("a", "b")), "a or b", label="Mode", group="New"),
        Setting("limits", {}, lambda value: value, "an object", label="Limits", group="New"),
        Setting("count", 1, check_integer(1, 2), "1 to 2", label="Count", group="New"),
    ]
    monkeypatch.setattr(settings_form, "list_settings", lambda: declared)
    monkeypatch.setattr(settings_form, "get_setting", lambda key: next(s.default for s in declared if s.key == key))

    (group,) = build_groups()
    assert [field.kind for field in group.fields] == ["yes-no", "choice", "json", "whole"]
    assert [field.default for field in group.fields] == ["off", "a", "{}", "1"]
    typed = {"switch": "yes", "mode": "b", "limits": '{"score": 5}', "count": "1"}
    assert list_changes("New", typed) == {"switch": True, "mode": "b", "limits": {"score": 5}}


# --- the password ------------------------------------------------------------------------------


def set_form(**fields: str) -> dict[str, str]:
    return {"new": PASSWORD, "again": PASSWORD} | fields


def test_it_sets_a_first_password_and_keeps_this_session(operator: Client, user: User) -> None:
    assert "There is none" in read(operator.get("/settings/"))

    page = operator.post("/settings/password/", set_form(), follow=True)

    assert "The password is set" in read(page) and "Current password" in read(page)
    user.refresh_from_db()
    assert user.check_password(PASSWORD)


def test_it_asks_for_the_current_one_and_ends_other_sessions(operator: Client, user: User) -> None:
    set_password(user, password=PASSWORD)
    operator.force_login(user)
    elsewhere = Client()
    elsewhere.force_login(user)

    form = {"new": "another long secret", "again": "another long secret"}
    refused = operator.post("/settings/password/", form | {"current": "wrong"})
    assert refused.status_code == 400 and "This is not the current password" in read(refused)
    assert elsewhere.get("/settings/").status_code == 200
    operator.post("/settings/password/", form | {"current": PASSWORD})

    assert operator.get("/settings/").status_code == 200
    assert elsewhere.get("/settings/").status_code == 302


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"new": "aB3$xyz", "again": "aB3$xyz"}, "too short"),
        ({"new": "password1234", "again": "password1234"}, "too common"),
        ({"again": "something else"}, "The two are not the same"),
        ({"new": "", "again": ""}, "Type a new password"),
        ({"new": "x" * 2000, "again": "x" * 2000}, "Type a new password"),
    ],
)
def test_it_says_what_is_wrong_with_a_password(
    operator: Client, user: User, fields: dict[str, str], reason: str
) -> None:
    page = operator.post("/settings/password/", set_form(**fields))

    assert page.status_code == 400
    assert reason in read(page)
    user.refresh_from_db()
    assert not user.has_usable_password()
    assert fields.get("new") in (None, "") or fields["new"] not in page.content.decode()


def test_it_slows_guessing_down(operator: Client, user: User) -> None:
    set_password(user, password=PASSWORD)
    operator.force_login(user)
    for _ in range(5):
        operator.post("/settings/password/", set_form(current="wrong"))

    page = operator.post("/settings/password/", set_form(current=PASSWORD))

    assert page.status_code == 400 and "Too many failed attempts. Try again in 1 minute" in read(page)


# --- tokens ------------------------------------------------------------------------------------


def test_it_shows_a_new_token_once(operator: Client, user: User) -> None:
    page = operator.post("/settings/tokens/", {"label": "Backup script"})

    found = re.search(r"jc_[A-Za-z0-9_-]{43}", page.content.decode())
    assert found and page.headers["Cache-Control"] == "no-store"
    assert Client(headers={"Authorization": f"Bearer {found[0]}"}).get("/v1/settings").status_code == 200
    again = operator.get("/settings/")
    assert "Backup script" in read(again) and found[0][-4:] in read(again) and "last used just now" in read(again)
    assert found[0] not in again.content.decode()
    assert 'data-region="settings"' not in page.content.decode()


@pytest.mark.parametrize("label", ["", "   ", "x" * 81, "a\x00b", "a\nb"])
def test_it_refuses_a_token_without_a_plain_name(operator: Client, label: str) -> None:
    page = operator.post("/settings/tokens/", {"label": label})

    assert page.status_code == 400 and "up to 80 plain characters" in read(page)
    assert not ApiToken.objects.exists()


def test_it_asks_once_before_it_revokes(operator: Client, user: User) -> None:
    operator.post("/settings/tokens/", {"label": "Old"})
    (token,) = list_tokens(user)

    asked = operator.post("/settings/tokens/revoke/", {"id": token.pk})
    assert "Revoke this token?" in read(asked) and list_tokens(user)
    page = operator.post("/settings/tokens/revoke/", {"id": token.pk, "confirmed": "yes"}, follow=True)

    assert "The token was revoked." in read(page)
    assert not list_tokens(user)


@pytest.mark.parametrize("number", ["", "0", "99", "-1", "x", "9" * 40])
def test_it_revokes_no_token_of_another(operator: Client, user: User, number: str) -> None:
    other = User.objects.create_user("other")
    ApiToken.objects.create(pk=99, token_hash="x", hint="x", label="theirs", user=other, created_at="2026-01-01T00:00Z")

    page = operator.post("/settings/tokens/revoke/", {"id": number, "confirmed": "yes"}, follow=True)

    assert "no such token" in read(page)
    assert ApiToken.objects.get().revoked_at is None
