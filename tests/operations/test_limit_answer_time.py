"""How long a model's answer is waited for: a setting that would outlast the work around it starts nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.checks import run_checks
from pytest_django import Settings

from operations import policies
from operations.checkup import Verdict
from operations.errors import NotConfigured
from operations.health import check_answer_time
from operations.llm.answer_time import LONGEST_SECONDS, MOST_ANSWERS, read_answer_seconds
from tests.run import ROOT

WRONG = [
    ("401", "longer than the work around it may take"),
    ("inf", "longer than the work around it may take"),
    ("0", "no time to answer"),
    ("-3", "no time to answer"),
    ("nan", "not a number"),
    ("two minutes", "not a number"),
    ("", "not a number"),
]
REMEDY = "Set it to more than 0 and at most 400, or leave it out for 150."


@pytest.mark.parametrize(("given", "reason"), WRONG)
def test_it_refuses_what_no_answer_can_be_waited_for(given: str, reason: str, settings: Settings) -> None:
    settings.JOBCTRL_MODEL_SECONDS = given
    (error,) = [found for found in run_checks(tags=["operations"]) if found.id == "operations.E003"]
    finding = check_answer_time()
    with pytest.raises(NotConfigured) as refused:
        read_answer_seconds()

    assert error.msg.startswith("JOBCTRL_MODEL_SECONDS: ") and reason in error.msg
    assert (finding.verdict, finding.detail, finding.remedy) == (Verdict.FAILED, error.msg, error.hint)
    assert error.hint == REMEDY
    assert refused.value.message == f"{error.msg} {REMEDY}"


@pytest.mark.parametrize(("given", "seconds"), [("150", 150.0), ("0.5", 0.5), ("400", 400.0)])
def test_it_takes_what_fits(given: str, seconds: float, settings: Settings) -> None:
    settings.JOBCTRL_MODEL_SECONDS = given
    assert [found for found in run_checks(tags=["operations"]) if found.id == "operations.E003"] == []
    assert read_answer_seconds() == seconds
    assert check_answer_time().verdict is Verdict.OK


def test_every_answer_of_a_piece_of_work_fits_into_its_activity() -> None:
    shortest = min(policies.STAGE_POLICIES[stage]["start_to_close_timeout"] for stage in ("score", "tailor", "cover"))
    assert 0.9 * shortest.total_seconds() > MOST_ANSWERS * LONGEST_SECONDS


@pytest.mark.parametrize("command", ["runworker", "up"])
def test_nothing_starts_with_it(command: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    environment = {**os.environ, "JOBCTRL_HOME": str(home), "JOBCTRL_MODEL_SECONDS": "3600"}
    told = subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), command],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert told.returncode == 1
    assert "Traceback" not in told.stderr
    assert "JOBCTRL_MODEL_SECONDS: 3600 is longer than the work around it may take." in told.stderr
    assert REMEDY in told.stderr
