"""JSON Resume (v1, tolerant of v0) to a ProfileDocument and back. Pure: no database, no network."""

from discovery.profile_import.differences import FieldChange, PartChange, ProfileDifference, compare_profiles
from discovery.profile_import.identity import keep_ids
from discovery.profile_import.problems import Problem, ProfileRefused
from discovery.profile_import.reader import read_profile
from discovery.profile_import.storage import dump_profile, load_profile
from discovery.profile_import.writer import write_json_resume

__all__ = [
    "FieldChange",
    "PartChange",
    "Problem",
    "ProfileDifference",
    "ProfileRefused",
    "compare_profiles",
    "dump_profile",
    "keep_ids",
    "load_profile",
    "read_profile",
    "write_json_resume",
]
