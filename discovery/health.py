"""Discovery's doctor checks."""

from django.conf import settings

from discovery.models import SourceRegistryEntry
from discovery.queries import find_newest_profile_version
from operations.checkup import Finding, health_check, ok, warn


@health_check("profile")
def check_profile() -> Finding:
    version = find_newest_profile_version()
    if not version:
        return warn("none was imported yet", "Run: manage.py import_profile FILE")
    return ok(f"version {version}")


@health_check("sources")
def check_sources() -> Finding:
    enabled = SourceRegistryEntry.objects.filter(enabled=True).count()
    if not enabled:
        return warn("none is enabled", "Run: manage.py add_source KIND BOARD")
    failing = list(SourceRegistryEntry.objects.filter(enabled=True, state="failed").values_list("id", flat=True)[:5])
    if failing:
        return warn(f"failed when last read: {', '.join(failing)}", "Check the board's token, or disable the source.")
    return ok(f"{enabled} enabled")


@health_check("private hosts")
def check_private_hosts() -> Finding:
    excepted = settings.JOBCTRL_ALLOW_PRIVATE_HOSTS
    if excepted:
        return warn(
            f"{', '.join(excepted)} may be fetched although private",
            "Remove JOBCTRL_ALLOW_PRIVATE_HOSTS unless a board of yours needs it.",
        )
    return ok("only public addresses are fetched")
