"""API tokens and sign-in links as rows: what is kept of them, and when they stop working."""

from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import User

from operations.access.accounts import OPERATOR, can_use_password, ensure_operator, set_password
from operations.access.links import LIFETIME, consume_link, create_link
from operations.access.throttle import (
    FAILURES,
    FORGOTTEN_AFTER,
    LONGEST_WAIT,
    Standing,
    count_failure,
    forgive,
    reserve_attempt,
)
from operations.access.tokens import create_token, find_token, list_tokens, revoke_token
from operations.models import ApiToken, SignInLink, SignInThrottle
from tests.operations.databases import SharedDatabase

NOW = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)


@pytest.fixture
def operator(db: None) -> User:
    return ensure_operator()


def read_token(link: str) -> str:
    return link.partition("token=")[2].partition("&")[0]


def test_it_makes_one_operator_who_has_no_password_yet(operator: User) -> None:
    assert ensure_operator().pk == operator.pk
    assert (operator.username, operator.is_superuser, operator.has_usable_password()) == (OPERATOR, True, False)
    assert not can_use_password()
    set_password(operator, password="correct horse battery")
    assert can_use_password()
    assert ensure_operator().has_usable_password()


def test_it_shows_a_token_once_and_stores_its_hash(operator: User) -> None:
    row, token = create_token(operator, label="  backup script ", now=NOW)

    assert token.startswith("jc_")
    assert len(token) == len("jc_") + 43
    stored = ApiToken.objects.values().get(pk=row.pk)
    assert token not in str(stored)
    assert (stored["label"], stored["hint"]) == ("backup script", token[-4:])
    found = find_token(token, now=NOW)
    assert found is not None
    assert found.user == operator


@pytest.mark.parametrize(
    "wrong", ["", "jc_", "jc_" + "a" * 43, "a" * 46, "jc_" + "a" * 10_000, "jc_\ud800" + "a" * 42, "jc_\0" + "a" * 42]
)
def test_it_knows_no_other_token(operator: User, wrong: str) -> None:
    create_token(operator, label="mine", now=NOW)
    assert find_token(wrong, now=NOW) is None


def test_a_revoked_token_stops_at_once(operator: User) -> None:
    row, token = create_token(operator, label="mine", now=NOW)
    other = User.objects.create_user("other")

    assert not revoke_token(row.pk, user=other, now=NOW)
    assert find_token(token, now=NOW) is not None
    assert revoke_token(row.pk, user=operator, now=NOW)
    assert find_token(token, now=NOW) is None
    assert list_tokens(operator) == []
    assert not revoke_token(row.pk, user=operator, now=NOW)


def test_a_token_ends_with_its_user(operator: User) -> None:
    _, token = create_token(operator, label="mine", now=NOW)
    User.objects.filter(pk=operator.pk).update(is_active=False)
    assert find_token(token, now=NOW) is None


def test_it_notes_a_use_at_most_once_a_minute(operator: User) -> None:
    row, token = create_token(operator, label="mine", now=NOW)

    def use(seconds: int) -> datetime | None:
        find_token(token, now=NOW + timedelta(seconds=seconds))
        return ApiToken.objects.get(pk=row.pk).last_used_at

    assert use(0) == NOW
    assert use(59) == NOW
    assert use(60) == NOW + timedelta(seconds=60)


def test_a_link_works_once_and_only_its_hash_is_kept(db: None) -> None:
    link = create_link("http://127.0.0.1:8420", now=NOW)
    token = read_token(link)

    assert link == f"http://127.0.0.1:8420/sign-in/?token={token}"
    assert token not in str(list(SignInLink.objects.values()))
    assert consume_link(token, now=NOW + timedelta(minutes=9))
    assert not consume_link(token, now=NOW + timedelta(minutes=9))


@pytest.mark.parametrize("wrong", ["", "x", "a" * 43, "\ud800" * 43, "%" * 100_000])
def test_no_other_link_works(db: None, wrong: str) -> None:
    create_link("http://127.0.0.1:8420", now=NOW)
    assert not consume_link(wrong, now=NOW)


def test_a_link_ends_after_ten_minutes(db: None) -> None:
    token = read_token(create_link("http://127.0.0.1:8420", now=NOW))
    assert not consume_link(token, now=NOW + LIFETIME)


def test_old_links_are_forgotten(db: None) -> None:
    create_link("http://127.0.0.1:8420", now=NOW)
    create_link("http://127.0.0.1:8420", now=NOW + timedelta(days=2))
    assert SignInLink.objects.count() == 1


def test_of_eight_users_of_one_link_one_gets_in(shared: SharedDatabase) -> None:
    token = read_token(create_link("http://127.0.0.1:8420", now=NOW))
    attempts = [shared.start(lambda: consume_link(token, now=NOW)) for _ in range(8)]
    assert sorted(attempt.result() for attempt in attempts) == [False] * 7 + [True]


# --- the throttle ------------------------------------------------------------------------------


def fail_often(standing: Standing, times: int, *, every: timedelta, since: datetime) -> Standing:
    for number in range(times):
        standing = count_failure(standing, now=since + every * number)
    return standing


@pytest.mark.parametrize(("level", "minutes"), [(0, 1), (1, 2), (2, 4), (5, 32), (6, 60), (7, 60), (10_000, 60)])
def test_each_wait_is_twice_the_last(level: int, minutes: int) -> None:
    after = count_failure(Standing(FAILURES - 1, level, NOW), now=NOW)
    assert after.blocked_until == NOW + timedelta(minutes=minutes)
    assert after.level == level + 1


def test_slow_failures_are_nobodys_attack() -> None:
    after = fail_often(Standing(0, 0, NOW), 50, every=timedelta(seconds=20), since=NOW)
    assert after.blocked_until is None


def test_a_day_of_peace_is_a_fresh_start() -> None:
    later = NOW + FORGOTTEN_AFTER + timedelta(seconds=1)
    after = fail_often(Standing(0, 9, NOW), FAILURES, every=timedelta(seconds=1), since=later)
    assert after.blocked_until is not None
    assert after.blocked_until - later < LONGEST_WAIT / 10


def test_it_counts_address_and_account_apart(db: None) -> None:
    def attempt(address: str, account: str, *, after: int = 0) -> int:
        return reserve_attempt(address=address, account=account, now=NOW + timedelta(seconds=after))

    assert [attempt("10.0.0.1", "operator") for _ in range(5)] == [0] * 5
    assert attempt("10.0.0.1", "operator") == 60
    assert attempt("10.0.0.2", "Operator") == 60, "the account is the same from elsewhere"
    assert attempt("10.0.0.1", "somebody") == 60, "the address is the same for another account"
    assert attempt("10.0.0.2", "somebody") == 0
    assert attempt("10.0.0.1", "operator", after=60) == 0, "the wait is over"
    assert not SignInThrottle.objects.filter(key_hash__contains="operator").exists()


def test_the_right_password_wipes_the_slate(db: None) -> None:
    for _ in range(4):
        reserve_attempt(address="10.0.0.1", account="operator", now=NOW)
    forgive(address="10.0.0.1", account="operator")
    assert [reserve_attempt(address="10.0.0.1", account="operator", now=NOW) for _ in range(5)] == [0] * 5


def test_attempts_made_at_once_do_not_slip_through(shared: SharedDatabase) -> None:
    attempts = [
        shared.start(lambda: reserve_attempt(address="10.0.0.1", account="operator", now=NOW)) for _ in range(12)
    ]
    assert sorted(attempt.result() for attempt in attempts) == [0] * FAILURES + [60] * 7
