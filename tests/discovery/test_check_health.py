"""Doctor's checks of the profile, the sources and what may be fetched."""

from pathlib import Path

from pytest_django import Settings

from discovery import health
from discovery.models import SourceRegistryEntry
from discovery.services.profiles import import_profile
from discovery.services.sources import record_source_state, register_bundled_sources, set_source_enabled
from operations.checkup import Finding

SAMPLE = Path(health.__file__).with_name("sample_profile.json")


def tell(finding: Finding) -> tuple[str, str, str]:
    return finding.verdict.value, finding.detail, finding.remedy


def test_a_profile_is_needed(db: None) -> None:
    assert tell(health.check_profile()) == ("warning", "none was imported yet", "Run: manage.py import_profile FILE")
    import_profile(SAMPLE.read_bytes())
    assert tell(health.check_profile()) == ("ok", "version 1", "")


def test_a_source_must_be_enabled_and_have_answered(db: None) -> None:
    assert tell(health.check_sources()) == ("warning", "none is enabled", "Run: manage.py add_source KIND BOARD")
    first, second, *others = register_bundled_sources()
    assert tell(health.check_sources()) == ("ok", f"{len(others) + 2} enabled", "")

    record_source_state(first, state="failed", error_code="HTTP_404")
    record_source_state(second, state="failed", error_code="HTTP_404")
    set_source_enabled(second, enabled=False)
    assert tell(health.check_sources()) == (
        "warning", f"failed when last read: {first}", "Check the board's token, or disable the source.",
    )  # fmt: skip

    for source in SourceRegistryEntry.objects.values_list("id", flat=True):
        set_source_enabled(source, enabled=False)
    assert health.check_sources().detail == "none is enabled"


def test_an_exception_to_public_addresses_is_named(settings: Settings) -> None:
    settings.JOBCTRL_ALLOW_PRIVATE_HOSTS = []
    assert tell(health.check_private_hosts()) == ("ok", "only public addresses are fetched", "")
    settings.JOBCTRL_ALLOW_PRIVATE_HOSTS = ["jobs.intern", "10.0.0.9"]
    verdict, detail, remedy = tell(health.check_private_hosts())
    assert (verdict, detail) == ("warning", "jobs.intern, 10.0.0.9 may be fetched although private")
    assert remedy == "Remove JOBCTRL_ALLOW_PRIVATE_HOSTS unless a board of yours needs it."
