"""Storing the candidate's profile: every version is kept, the same content makes no new one, a part keeps its id."""

import hashlib
import json
from dataclasses import dataclass

from django.conf import settings
from django.utils import timezone

from discovery.contracts import ProfileDocument
from discovery.events import ProfileImported, ProfileUpdated
from discovery.models import CandidateProfile
from discovery.profile_import import dump_profile, keep_ids, load_profile, read_profile
from operations.database import writer
from operations.errors import OperationsError
from operations.eventlog import append


class ProfileConflict(OperationsError):
    """The profile was changed meanwhile."""

    code = "conflict"

    def __init__(self, *, base: int, newest: int) -> None:
        self.base, self.newest = base, newest
        super().__init__(
            f"The profile was changed meanwhile: you started from version {base}, the newest is version {newest}. "
            "Nothing was saved. Read the newest version and apply your change to it."
        )


@dataclass(frozen=True, slots=True)
class ImportedProfile:
    version: int
    created: bool
    parts: dict[str, int]


def import_profile(data: bytes | str, *, base_version: int | None = None) -> ImportedProfile:
    """Store a JSON Resume as the newest profile version, or find it unchanged.

    Raises ``ProfileRefused`` naming every field that is wrong, and ``ProfileConflict`` where ``base_version`` is
    given and is not the newest; nothing is stored then.
    Saving a profile starts no work: what was admitted keeps the version it has.
    """
    return _store(read_profile(data), base_version=base_version, is_import=True)


def save_profile(document: ProfileDocument, *, base_version: int) -> ImportedProfile:
    """Store an edited document, made from ``base_version`` (0 = there was none), as the newest version.

    Raises ``ProfileConflict`` where another version was stored meanwhile.
    """
    return _store(document, base_version=base_version, is_import=False)


def count_parts(document: ProfileDocument) -> dict[str, int]:
    return {
        "experience": len(document.experience),
        "bullets": sum(len(item.bullets) for item in document.experience),
        "skills": len(document.skills),
        "education": len(document.education),
        "credentials": len(document.credentials),
    }


def _store(document: ProfileDocument, *, base_version: int | None, is_import: bool) -> ImportedProfile:
    parts = count_parts(document)
    with writer():
        newest = CandidateProfile.objects.order_by("-version").first()
        found = newest.version if newest else 0
        if newest is not None:
            document = keep_ids(document, load_profile(newest.document))
        body = dump_profile(document)
        digest = hashlib.sha256(json.dumps(body, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
        if newest is not None and newest.content_hash == digest:
            return ImportedProfile(newest.version, False, parts)  # a form sent twice is no conflict
        if base_version is not None and base_version != found:
            raise ProfileConflict(base=base_version, newest=found)
        version = found + 1
        CandidateProfile.objects.create(
            tenant_id=settings.TENANT_ID,
            version=version,
            document=body,
            content_hash=digest,
            imported_at=timezone.now(),
        )
        kind = ProfileImported if is_import else ProfileUpdated
        append(kind(version=version, parts=parts))
    return ImportedProfile(version, True, parts)
