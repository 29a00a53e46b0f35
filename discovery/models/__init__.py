"""Tables of discovery; all canonical."""

from discovery.models.jobs import DuplicateCandidate, Job, JobSourceObservation, PostingContentSnapshot
from discovery.models.profiles import CandidateProfile
from discovery.models.sources import DiscoveryRun, DiscoveryRunSource, SourceRegistryEntry

__all__ = [
    "CandidateProfile",
    "DiscoveryRun",
    "DiscoveryRunSource",
    "DuplicateCandidate",
    "Job",
    "JobSourceObservation",
    "PostingContentSnapshot",
    "SourceRegistryEntry",
]
