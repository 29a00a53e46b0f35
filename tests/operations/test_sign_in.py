"""Signing in and out, as a browser does it, and the first sign-in of a fresh workspace."""

import re
import threading
from datetime import timedelta
from functools import partial

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from operations.access.accounts import ensure_operator, set_password
from operations.access.actors import find_actor
from operations.access.links import LIFETIME, create_link
from operations.access.middleware import choose_local_path
from operations.models import SignInLink
from operations.views.sign_in import describe_wait
from tests.operations.databases import SharedDatabase

PASSWORD = "correct horse battery"
BASE = "http://127.0.0.1:8420"


@pytest.fixture(autouse=True)
def _quick_passwords(settings: Settings) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def visitor(db: None) -> Client:
    """CSRF is checked, as for a real one."""
    return Client(enforce_csrf_checks=True)


@pytest.fixture
def operator(db: None) -> User:
    user = ensure_operator()
    set_password(user, password=PASSWORD)
    return user


def make_link() -> str:
    return create_link(BASE, now=timezone.now()).removeprefix(BASE)


def open_form(visitor: Client, path: str = "/sign-in/") -> dict[str, str]:
    """The hidden fields of the page's form."""
    text = visitor.get(path).content.decode()
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', text))


def is_signed_in(visitor: Client) -> bool:
    return visitor.get("/admin/").status_code == 200


def test_opening_a_link_does_not_use_it_up(visitor: Client) -> None:
    link = make_link()
    for _ in range(3):
        page = visitor.get(link)
        assert page.status_code == 200
    assert visitor.head(link).status_code == 200
    assert not is_signed_in(visitor)
    assert page["Referrer-Policy"] == "strict-origin"
    assert page["Cache-Control"] == "no-store"
    assert "<form" in page.content.decode()

    entered = visitor.post("/sign-in/", open_form(visitor, link))
    assert (entered.status_code, entered["Location"]) == (302, "/")
    assert is_signed_in(visitor)


def test_the_pages_button_is_all_it_takes_on_a_fresh_workspace(visitor: Client) -> None:
    assert not User.objects.exists()
    visitor.post("/sign-in/", open_form(visitor, make_link()))
    assert User.objects.get().username == "operator"
    assert is_signed_in(visitor)


def test_a_used_link_says_how_to_get_another(visitor: Client) -> None:
    link = make_link()
    visitor.post("/sign-in/", open_form(visitor, link))
    other = Client(enforce_csrf_checks=True)
    refused = other.post("/sign-in/", open_form(other, link))
    assert refused.status_code == 403
    assert "manage.py sign_in_link" in refused.content.decode()
    assert not is_signed_in(other)


def test_an_old_link_is_refused(visitor: Client) -> None:
    link = make_link()
    SignInLink.objects.update(expires_at=timezone.now())
    assert visitor.post("/sign-in/", open_form(visitor, link)).status_code == 403
    assert timedelta(minutes=5) <= LIFETIME <= timedelta(minutes=15)


def test_of_two_browsers_with_one_link_one_gets_in(shared: SharedDatabase) -> None:
    ensure_operator()
    link = make_link()
    visitors = [Client(enforce_csrf_checks=True) for _ in range(2)]
    forms = [open_form(visitor, link) for visitor in visitors]
    gate = threading.Barrier(2)

    def enter(number: int) -> int:
        gate.wait(10)
        return visitors[number].post("/sign-in/", forms[number]).status_code

    tries = [shared.start(partial(enter, number)) for number in range(2)]
    assert sorted(attempt.result() for attempt in tries) == [302, 403]
    assert sorted(is_signed_in(visitor) for visitor in visitors) == [False, True]


def test_the_password_form_shows_once_there_is_a_password(visitor: Client) -> None:
    ensure_operator()
    assert 'type="password"' not in visitor.get("/sign-in/").content.decode()
    set_password(User.objects.get(), password=PASSWORD)
    assert 'type="password"' in visitor.get("/sign-in/").content.decode()


def test_a_password_signs_in_and_leads_on(visitor: Client, operator: User) -> None:
    form = open_form(visitor, "/sign-in/?next=/jobs/%3Fstate%3Dfailed")
    entered = visitor.post("/sign-in/", {**form, "username": "operator", "password": PASSWORD})
    assert (entered.status_code, entered["Location"]) == (302, "/jobs/?state=failed")
    assert is_signed_in(visitor)
    assert visitor.get("/sign-in/?next=/runs/")["Location"] == "/runs/", "there is nothing left to do there"


@pytest.mark.parametrize(
    "fields",
    [
        {"username": "operator", "password": "wrong"},
        {"username": "operator", "password": ""},
        {"username": "nobody", "password": PASSWORD},
        {"username": "operator\0", "password": PASSWORD},
        {"username": "x" * 100_000, "password": "y" * 100_000},
        {"username": "<script>alert(1)</script>", "password": "' OR 1=1 --"},
        {"username": "operator"},
        {"token": ""},
        {"token": "x" * 100_000},
        {},
    ],
)
def test_a_wrong_answer_is_refused_in_words(visitor: Client, operator: User, fields: dict[str, str]) -> None:
    refused = visitor.post("/sign-in/", {**open_form(visitor), **fields})
    assert refused.status_code in (400, 403)
    text = refused.content.decode()
    assert 'role="alert"' in text
    assert "<script>alert" not in text
    assert PASSWORD not in text
    assert not is_signed_in(visitor)


def test_it_cannot_be_used_by_another_site(visitor: Client, operator: User) -> None:
    fields = {"username": "operator", "password": PASSWORD}
    assert visitor.post("/sign-in/", fields).status_code == 403
    form = {**open_form(visitor), **fields}
    assert visitor.post("/sign-in/", form, headers={"Origin": "http://evil.test"}).status_code == 403
    assert not is_signed_in(visitor)


def test_guessing_is_slowed_down_and_says_for_how_long(visitor: Client, operator: User) -> None:
    def attempt(password: str) -> tuple[int, str, str]:
        answer = visitor.post("/sign-in/", {**open_form(visitor), "username": "operator", "password": password})
        return answer.status_code, answer.get("Retry-After", ""), answer.content.decode()

    assert [attempt(f"guess {number}")[0] for number in range(5)] == [403] * 5
    status, wait, text = attempt(PASSWORD)
    assert status == 429
    assert 50 <= int(wait) <= 60
    assert "Try again in" in text
    assert not is_signed_in(visitor)
    visitor.post("/sign-in/", open_form(visitor, make_link()))
    assert is_signed_in(visitor), "the operator is not locked out: a link still works"


def test_the_session_is_a_new_one_after_signing_in(visitor: Client, operator: User) -> None:
    from django.conf import settings

    planted = visitor.session
    planted["planted"] = True
    planted.save()
    visitor.cookies[settings.SESSION_COOKIE_NAME] = planted.session_key or ""
    secret = visitor.cookies.get(settings.CSRF_COOKIE_NAME)
    visitor.post("/sign-in/", open_form(visitor, make_link()))
    cookie = visitor.cookies[settings.SESSION_COOKIE_NAME]
    assert cookie.value != planted.session_key
    assert not Session.objects.filter(pk=planted.session_key).exists()
    assert visitor.cookies[settings.CSRF_COOKIE_NAME] != secret
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"
    assert cookie["max-age"] == 14 * 24 * 60 * 60


def test_two_workspaces_do_not_share_cookies() -> None:
    from django.conf import settings

    assert re.fullmatch(r"jobctrl_session_[0-9a-f]{8}", settings.SESSION_COOKIE_NAME)
    assert re.fullmatch(r"jobctrl_csrf_[0-9a-f]{8}", settings.CSRF_COOKIE_NAME)


def test_a_session_ends_after_two_idle_weeks_and_use_moves_that_on(visitor: Client, operator: User) -> None:
    visitor.post("/sign-in/", open_form(visitor, make_link()))
    assert is_signed_in(visitor)

    def age(days: float) -> None:
        """As if the session had been used last that many days ago."""
        row = Session.objects.get()
        stored = visitor.session
        stored["renewed_at"] -= int(days * 86_400)
        row.session_data = stored.encode(dict(stored.items()))
        row.expire_date -= timedelta(days=days)
        row.save()

    age(13)
    assert is_signed_in(visitor)
    assert Session.objects.get().expire_date > timezone.now() + timedelta(days=13)
    before = Session.objects.get().expire_date
    assert is_signed_in(visitor)
    assert Session.objects.get().expire_date == before, "it is not written on each request"
    age(14.01)
    assert not is_signed_in(visitor)
    assert visitor.get("/jobs/")["Location"] == "/sign-in/?next=%2Fjobs%2F"


def test_signing_out_ends_the_session(visitor: Client, operator: User) -> None:
    from django.conf import settings

    visitor.post("/sign-in/", open_form(visitor, make_link()))
    stolen = visitor.cookies[settings.SESSION_COOKIE_NAME].value
    assert visitor.get("/sign-out/").status_code == 405
    assert visitor.post("/sign-out/").status_code == 403
    form = re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', visitor.get("/admin/").content.decode())
    left = visitor.post("/sign-out/", {"csrfmiddlewaretoken": form[0]}, follow=True)
    assert left.redirect_chain[0][0] == "/sign-in/"
    assert "You are signed out." in left.content.decode()
    assert not is_signed_in(visitor)
    thief = Client()
    thief.cookies[settings.SESSION_COOKIE_NAME] = stolen
    assert not is_signed_in(thief)


def test_a_disabled_user_is_out_at_once(visitor: Client, operator: User) -> None:
    visitor.post("/sign-in/", open_form(visitor, make_link()))
    User.objects.update(is_active=False)
    assert visitor.get("/v1/nowhere").status_code == 401


def test_a_new_password_ends_other_sessions(visitor: Client, operator: User) -> None:
    visitor.post("/sign-in/", open_form(visitor, make_link()))
    set_password(operator, password="another long password")
    assert not is_signed_in(visitor)


@pytest.mark.parametrize(
    ("target", "chosen"),
    [
        ("/jobs/?q=a&b=c#d", "/jobs/?q=a&b=c#d"),
        ("/", "/"),
        ("", "/"),
        ("jobs/", "/"),
        ("//evil.test/", "/"),
        ("/\\evil.test/", "/"),
        ("\\\\evil.test", "/"),
        ("///evil.test", "/"),
        ("/\t/evil.test", "/"),
        ("http://evil.test/", "/"),
        ("http:///evil.test", "/"),
        ("javascript:alert(1)", "/"),
        (" /jobs/", "/"),
        ("/jobs/\r\nSet-Cookie: a=b", "/"),
        ("/" + "x" * 5000, "/"),
    ],
)
def test_it_leads_to_this_site_only(target: str, chosen: str) -> None:
    assert choose_local_path(target) == chosen


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(1, "1 second"), (59, "59 seconds"), (60, "1 minute"), (61, "2 minutes"), (3600, "60 minutes")],
)
def test_it_says_how_long_to_wait(seconds: int, words: str) -> None:
    assert describe_wait(seconds) == words


def test_nobody_is_an_actor_on_the_open_pages(visitor: Client, operator: User) -> None:
    assert find_actor(visitor.get("/sign-in/").wsgi_request) is None
    visitor.post("/sign-in/", open_form(visitor, make_link()))
    actor = find_actor(visitor.get("/admin/").wsgi_request)
    assert actor is not None
    assert (actor.name, actor.is_token) == ("operator", False)
