"""The documents on a job's page: every part of them with its source, and files that are gone or damaged."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.test import Client
from pytest_django import Settings

from discovery.services.profiles import import_profile
from jobctrl.home import Home
from materials.models import Artifact, CoverLetter, TailoredResume
from materials.panels import read_documents_panel
from materials.rendering import documents
from materials.rendering.documents import RenderedPdf
from tests.discovery.cast import add_job, work_through
from tests.materials.candidate import SAMPLE
from tests.operations.admin_pages import sign_in

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def home(tmp_path: Path, settings: Settings) -> Path:
    settings.JOBCTRL_HOME = Home(tmp_path / "home")
    settings.JOBCTRL_HOME.create()
    return tmp_path / "home"


@pytest.fixture
def operator(db: None) -> Client:
    return sign_in()


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch) -> UUID:
    """A job with both documents, written for Anaïs and "printed" without a browser."""

    def print_document(document: object, *, style: str) -> RenderedPdf:
        data = b"%PDF-1.7\n" + repr((style, document)).encode()
        return RenderedPdf(data, 1, "", hashlib.sha256(data).hexdigest())

    monkeypatch.setattr(documents, "render_resume", print_document)
    monkeypatch.setattr(documents, "render_letter", print_document)
    import_profile(SAMPLE.read_bytes())
    job_id = add_job()
    work_through(job_id, "enrich", "score", "tailor", "cover", "pdf")
    return job_id


def read(operator: Client, job_id: UUID) -> str:
    return operator.get(f"/jobs/{job_id}/").content.decode()


def find_file(home: Path, kind: str) -> Path:
    return home / "artifacts" / Artifact.objects.get(kind=kind).relative_path


def test_every_part_of_the_resume_says_where_it_comes_from(printed: UUID) -> None:
    panel: dict[str, Any] = read_documents_panel(printed) or {}
    sections = {section["heading"]: section["entries"] for section in panel["resume"]["sections"]}

    assert {"Summary", "Skills", "Experience", "Education", "Languages"} <= set(sections)
    assert sections["Summary"][0]["lines"][0]["source"] == "your summary"
    assert {line["source"] for entry in sections["Skills"] for line in entry["lines"]} == {"your skills"}
    assert {entry["source"] for entry in sections["Education"]} == {"your education"}
    assert {entry["source"] for entry in sections["Languages"]} == {"your languages"}
    for entry in sections["Experience"]:
        for line in entry["lines"]:
            assert entry["title"] in line["source"]


def test_the_page_shows_it_all_without_hovering(printed: UUID, operator: Client) -> None:
    page = read(operator, printed)
    for heading in ("Summary", "Skills", "Experience", "Education", "Languages"):
        assert f"<h4>{heading}</h4>" in page
    assert "from your education" in page
    assert "source unknown" not in page


def test_a_letters_sentence_leads_to_the_fact_that_it_states(printed: UUID, operator: Client) -> None:
    page = read(operator, printed)
    panel: dict[str, Any] = read_documents_panel(printed) or {}
    assert panel["letter"]["sources"]
    for number, source in panel["letter"]["sources"]:
        assert f'href="#letter-source-{number}"' in page
        assert f'id="letter-source-{number}"' in page
        assert source.words
    assert "title=" not in page.split('class="prose"')[1].split("</p>")[0]


def test_the_letter_is_read_against_the_profile_it_was_made_from(printed: UUID) -> None:
    """A later profile, and a resume made from it, take nothing from what the letter stated."""
    before = (read_documents_panel(printed) or {})["letter"]
    resume = TailoredResume.objects.get()
    resume.pk, resume.version, resume.profile_version = None, 2, 99
    resume.save()

    panel: dict[str, Any] = read_documents_panel(printed) or {}

    assert panel["letter"] == before
    (summary, *_) = panel["resume"]["sections"]
    assert summary["entries"][0]["lines"][0]["source"] == "a part of the profile that cannot be found"
    CoverLetter.objects.update(profile_version=99)
    panel = read_documents_panel(printed) or {}
    assert {source.words for _, source in panel["letter"]["sources"]} == {""}


def test_documents_that_are_whole_are_offered_and_nothing_else_is_said(printed: UUID, operator: Client) -> None:
    page = read(operator, printed)
    assert page.count("/content") == 2
    assert "Print the documents again" not in page


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda path: path.unlink(), "Resume (PDF): the file is missing."),
        (lambda path: path.write_bytes(b"something else"), "Resume (PDF): the file was changed on disk."),
    ],
)
def test_a_missing_or_changed_file_is_said_with_the_remedy(
    damage: Callable[[Path], object], said: str, printed: UUID, operator: Client, home: Path
) -> None:
    damage(find_file(home, "resume_pdf"))
    page = read(operator, printed)
    assert said in page
    assert "Print the documents again" in page
    assert page.count("/content") == 1, "the letter is still offered, the resume is not"

    from operations.contracts import StageName
    from operations.services.stages import reset_stages

    assert reset_stages(StageName.PDF, [printed]).reset == (printed,)  # what the button does before it starts a run
    work_through(printed, "pdf", run="run-2")
    page = read(operator, printed)
    assert "Print the documents again" not in page
    assert page.count("/content") == 2
