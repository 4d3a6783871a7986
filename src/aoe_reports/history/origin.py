"""Who writes into the store: the command, this version, and the user where a CI system or the environment names one."""

from __future__ import annotations

import os

from aoe_reports.model.version import __version__
from aoe_reports.store import Origin

USER_VARIABLES = ("AOE_REPORTS_USER", "GITHUB_ACTOR", "GITLAB_USER_LOGIN", "BUILD_USER_ID", "BUILDKITE_BUILD_CREATOR")
"""Where the environment tells of a user; nobody else is asked."""


def origin_of(command: str) -> Origin:
    """What commits of a command say of where they come from."""
    named = (os.environ.get(name) for name in USER_VARIABLES)
    return Origin(command, __version__, next((name for name in named if name), None))
