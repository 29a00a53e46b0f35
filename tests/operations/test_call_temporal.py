"""Short processes that talk to Temporal, as commands do."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.temporal import TemporalServer

pytestmark = pytest.mark.temporal

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = {
    "a command": (
        "import django; django.setup()\n"
        "from operations.temporal import call_temporal\n"
        "assert call_temporal(lambda client: client.service_client.check_health())"
    ),
    "a health check": (
        "import os\n"
        "from operations.processes.temporal_server import is_serving\n"
        "assert is_serving(os.environ['TEMPORAL_ADDRESS'])"
    ),
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_a_short_process_ends_cleanly_after_its_last_answer(
    server: TemporalServer, program: str, tmp_path: Path
) -> None:
    """Without a pause at exit about every second one is aborted by the SDK's threads."""
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "jobctrl.settings",
        "JOBCTRL_HOME": str(tmp_path),
        "SECRET_KEY": "of-a-test",
        "TEMPORAL_ADDRESS": server.address,
    }
    for _ in range(4):
        pair = [
            subprocess.Popen(
                [sys.executable, "-c", program], cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True
            )
            for _ in range(2)
        ]
        ended = [(process.communicate(timeout=60)[1], process.returncode) for process in pair]
        assert ended == [("", 0), ("", 0)]
