import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management.base import CommandError

from discovery.models import CandidateProfile
from tests.commands.calling import call
from tests.discovery.cast import require_shared
from tests.materials.candidate import SAMPLE

pytestmark = pytest.mark.django_db

Check = Callable[[], None]


def test_it_says_what_it_imported(assert_rebuild_matches: Check) -> None:
    first, again = call("import_profile", str(SAMPLE)), call("import_profile", str(SAMPLE))

    assert first.out.startswith("Profile imported: version 1 (") and " bullets, " in first.out
    assert again.out.startswith("Profile unchanged: version 1 (")
    assert CandidateProfile.objects.count() == 1
    assert_rebuild_matches()


def test_it_prints_one_json_line(assert_rebuild_matches: Check) -> None:
    printed = call("import_profile", str(require_shared("resume/jsonresume-new-grad.json")), "--json")

    body = json.loads(printed.out)
    assert (body["version"], body["created"]) == (1, True)
    assert body["experience"] >= 2 and body["skills"] > 0
    assert_rebuild_matches()


def test_it_reads_standard_input(monkeypatch: pytest.MonkeyPatch, assert_rebuild_matches: Check) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SAMPLE.read_bytes())))

    assert call("import_profile", "-").out.startswith("Profile imported: version 1")
    assert_rebuild_matches()


def test_it_names_every_problem_with_its_remedy_and_changes_nothing(assert_rebuild_matches: Check) -> None:
    with pytest.raises(CommandError) as refused:
        call("import_profile", str(require_shared("resume/jrs-empty.json")))

    lines = str(refused.value).splitlines()
    assert lines[0] == "The profile was not imported; nothing was changed."
    assert any(line.startswith("  basics.name: ") for line in lines)
    assert not CandidateProfile.objects.exists()
    assert_rebuild_matches()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"not json", "  file: This is not JSON"),
        (b'{"a": "' + b"x" * 1_100_000 + b'"}', "  file: The file is larger than 1 MB."),
    ],
)
def test_it_explains_a_file_that_is_no_resume(
    content: bytes, message: str, tmp_path: Path, assert_rebuild_matches: Check
) -> None:
    path = tmp_path / "resume.json"
    path.write_bytes(content)

    with pytest.raises(CommandError) as refused:
        call("import_profile", str(path))

    assert message in str(refused.value)
    assert_rebuild_matches()


def test_it_explains_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be read: No such file or directory"):
        call("import_profile", str(tmp_path / "nowhere.json"))
    with pytest.raises(CommandError, match="cannot be read: Is a directory"):
        call("import_profile", str(tmp_path))
