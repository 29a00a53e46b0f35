"""JSON Resume (v1, tolerant of v0) to a ProfileDocument. Pure: no database, no network."""

from discovery.profile_import.problems import Problem, ProfileRefused
from discovery.profile_import.reader import read_profile
from discovery.profile_import.storage import dump_profile, load_profile

__all__ = ["Problem", "ProfileRefused", "dump_profile", "load_profile", "read_profile"]
