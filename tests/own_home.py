"""A pytest plugin, loaded before the settings are: each of several test processes has a workspace of its own."""

import os

if worker := os.environ.get("PYTEST_XDIST_WORKER"):
    os.environ["JOBCTRL_HOME"] = f"{os.environ['JOBCTRL_HOME']}-{worker}"
