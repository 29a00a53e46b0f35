"""Importing the candidate's profile. Every version is kept; the same content makes no new one."""

import hashlib
import json
from dataclasses import dataclass

from django.conf import settings
from django.utils import timezone

from discovery.events import ProfileImported
from discovery.models import CandidateProfile
from discovery.profile_import import dump_profile, read_profile
from operations.database import writer
from operations.eventlog import append


@dataclass(frozen=True, slots=True)
class ImportedProfile:
    version: int
    created: bool
    parts: dict[str, int]


def import_profile(data: bytes) -> ImportedProfile:
    """Store a JSON Resume as the newest profile version, or find it unchanged.

    Raises ``ProfileRefused`` naming every field that is wrong; nothing is stored then.
    Saving a profile starts no work: what was admitted keeps the version it has.
    """
    document = read_profile(data)
    body = dump_profile(document)
    digest = hashlib.sha256(json.dumps(body, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
    parts = {
        "experience": len(document.experience),
        "bullets": sum(len(item.bullets) for item in document.experience),
        "skills": len(document.skills),
        "education": len(document.education),
        "credentials": len(document.credentials),
    }
    with writer():
        newest = CandidateProfile.objects.order_by("-version").first()
        if newest is not None and newest.content_hash == digest:
            return ImportedProfile(newest.version, False, parts)
        version = newest.version + 1 if newest else 1
        CandidateProfile.objects.create(
            tenant_id=settings.TENANT_ID,
            version=version,
            document=body,
            content_hash=digest,
            imported_at=timezone.now(),
        )
        append(ProfileImported(version=version, parts=parts))
    return ImportedProfile(version, True, parts)
