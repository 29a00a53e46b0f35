"""Whoever signs out, or whose token is revoked, hears nothing more."""

from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from tests.template import Template
from tests.webserver import Web, post_form, running_web

pytestmark = [pytest.mark.worker, pytest.mark.sqlite_alone]


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory, template: Template) -> Iterator[Web]:
    with running_web(tmp_path_factory.mktemp("streams") / "home", template) as web:
        yield web


@contextmanager
def listening(client: httpx.Client) -> Iterator[Iterator[bytes]]:
    with client.stream("GET", "/live/", timeout=10) as stream:
        assert stream.status_code == 200
        chunks = stream.iter_raw()
        next(chunks)
        yield chunks


def test_it_ends_the_streams_of_whoever_signs_out(web: Web) -> None:
    operator = web.operator()
    other_tab = web.visitor(cookies=operator.cookies)
    with listening(other_tab) as chunks:
        assert post_form(operator, "/settings/", to="/sign-out/").status_code == 302
        list(chunks)  # ends; a stream that goes on would run into the time limit
    assert other_tab.get("/live/").status_code == 401


def test_it_ends_the_streams_of_a_revoked_token(web: Web) -> None:
    keeper = web.operator()
    with web.script() as script, listening(script) as chunks:
        (row,) = script.get("/v1/auth/tokens").json()["tokens"]
        assert script.delete(f"/v1/auth/tokens/{row['id']}").status_code == 204
        list(chunks)
    assert keeper.get("/").status_code == 200
