"""What the web process of a workspace says: to a monitor with a token, and to a person who has signed in."""

import json
import urllib.request
from dataclasses import dataclass
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from tests.worker.workspace import Workspace

ANSWER_SECONDS = 10.0
SIGN_IN = """
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from operations.access.tokens import create_token
user = User.objects.filter(is_superuser=True).first() or User.objects.create_superuser('watcher')
client = Client()
client.force_login(user)
(cookie,) = client.cookies.values()
print(create_token(user, label='watcher', now=timezone.now())[1], f'{cookie.key}={cookie.value}')
"""


@dataclass(frozen=True, slots=True)
class Web:
    """Every method raises ``OSError`` where nothing answers or the answer is no 200."""

    port: int
    token: str
    cookie: str

    def read_json(self, path: str) -> dict[str, Any]:
        body: dict[str, Any] = json.loads(self._get(path, {"Authorization": f"Bearer {self.token}"}))
        return body

    def read_page(self, path: str) -> str:
        return self._get(path, {"Cookie": self.cookie})

    def read_metric(self, name: str) -> float:
        """A gauge without labels."""
        text = self._get("/v1/metrics", {"Authorization": f"Bearer {self.token}"})
        samples = {
            sample.name: sample.value for family in text_string_to_metric_families(text) for sample in family.samples
        }
        return float(samples[name])

    def _get(self, path: str, headers: dict[str, str]) -> str:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", headers=headers)
        with opener.open(request, timeout=ANSWER_SECONDS) as answer:
            text: str = answer.read().decode()
            return text


def sign_in(workspace: Workspace, port: int) -> Web:
    """Past the sign-in page: a token and a session of the workspace's own user."""
    token, cookie = workspace.run_python(SIGN_IN).split()[-2:]
    return Web(port, token, cookie)
