"""Shared fixtures. The workspace of a test run is a throw-away folder."""

import os
import tempfile

os.environ.setdefault("JOBCTRL_HOME", tempfile.mkdtemp(prefix="jobctrl-tests-"))
