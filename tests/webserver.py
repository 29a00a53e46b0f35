"""A real web process on a workspace of its own, without Temporal and a worker, and visitors who talk to it."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from operations.processes.ports import LOOPBACK
from operations.processes.web_server import WebAddress, build_web_argv, is_web_serving
from tests.processes import choose_quiet_port, wait_until
from tests.template import Template
from tests.warm import WarmProcess, get_warm

ROOT = Path(__file__).resolve().parents[1]
PASSWORD = "correct horse battery"
COMMAND_SECONDS = 60.0
TOKEN_FIELD = re.compile(r'name="csrfmiddlewaretoken" value="(\w+)"')

PREPARE = """
import json
from django.utils import timezone
from operations.access.accounts import ensure_operator, set_password
from operations.access.tokens import create_token
user = ensure_operator()
set_password(user, password={password!r})
print(json.dumps(create_token(user, label="tests", now=timezone.now())[1]))
"""


@dataclass(frozen=True, slots=True)
class Web:
    """``token`` is an API token of the operator, whose password is ``PASSWORD``."""

    address: WebAddress
    environment: dict[str, str]
    token: str
    process: WarmProcess
    log: Path

    @property
    def url(self) -> str:
        return self.address.base_url

    def manage(self, *arguments: str) -> str:
        done = get_warm().run("manage.py", *arguments, environment=self.environment, seconds=COMMAND_SECONDS)
        done.check_returncode()
        return done.stdout.strip()

    def visitor(self, **settings: Any) -> httpx.Client:
        """A browser of its own: cookies are kept, redirects are not followed, nobody is signed in."""
        return httpx.Client(base_url=self.url, trust_env=False, timeout=30, **settings)

    def script(self) -> httpx.Client:
        return self.visitor(headers={"Authorization": f"Bearer {self.token}"})

    def operator(self) -> httpx.Client:
        """A browser that is signed in."""
        visitor = self.visitor()
        entered = post_form(visitor, "/sign-in/", to="/sign-in/", username="operator", password=PASSWORD)
        assert entered.status_code == 302, entered.text
        return visitor


@contextmanager
def running_web(home: Path, template: Template | None, **changes: str) -> Iterator[Web]:
    """``changes`` are added to its environment; without a template they name its database."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with template.copied(home) if template else nullcontext(changes["DATABASE_URL"]) as database:
        address = WebAddress(LOOPBACK, choose_quiet_port())
        environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "jobctrl.settings",
            "JOBCTRL_HOME": str(home),
            "JOBCTRL_WEB_ADDRESS": address.netloc,
            "JOBCTRL_TEMPORAL_PORT": "0",
            "SECRET_KEY": "of-a-test",
            "PYTHONPATH": str(ROOT),
            "DATABASE_URL": database,
            **changes,
        }
        token = run_program(PREPARE.format(password=PASSWORD), environment=environment)
        log = home / "web.log"
        with log.open("ab") as output:
            process = get_warm().start(
                *build_web_argv(address)[1:], environment=environment, output=output.fileno(), errors=output.fileno()
            )
        try:
            wait_until(lambda: is_web_serving(address), what=f"the web process serves; its log: {log}", seconds=90)
            yield Web(address, environment, token, process, log)
        finally:
            process.terminate()
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def run_program(program: str, *, environment: dict[str, str]) -> Any:
    done = get_warm().run("-c", program, environment=environment, seconds=COMMAND_SECONDS)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1]) if done.stdout.strip() else None


def read_csrf(page: httpx.Response) -> str:
    found = TOKEN_FIELD.search(page.text)
    assert found, f"no form on {page.request.url} ({page.status_code})"
    return found[1]


def post_form(visitor: httpx.Client, page: str, *, to: str, **fields: str) -> httpx.Response:
    """Open ``page`` and send its form, as a browser does."""
    token = read_csrf(visitor.get(page))
    origin = str(visitor.base_url).rstrip("/")
    return visitor.post(to, data={"csrfmiddlewaretoken": token, **fields}, headers={"Origin": origin})
