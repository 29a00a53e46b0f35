"""What an activity raises goes into no log line by its text, at no level: it may quote a posting or a profile."""

import logging

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from operations.worker.interceptor import _translate
from tests.operations.asking import PROFILE, assert_quotes_nothing


def test_a_bug_in_an_activity_is_logged_by_type_and_place(caplog: pytest.LogCaptureFixture) -> None:
    def break_down() -> None:
        raise ValueError(f"invalid line: {PROFILE}")

    with caplog.at_level(logging.DEBUG), pytest.raises(ApplicationError) as failed:
        ActivityEnvironment().run(_translate, break_down, ())
    assert "raised ValueError" in caplog.text and "break_down" in caplog.text
    assert_quotes_nothing(caplog.text + str(failed.value))
