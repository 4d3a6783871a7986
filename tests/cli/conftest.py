"""What tests of the command line share with those of the tuning loop."""

from __future__ import annotations

from tuning.conftest import bench

__all__ = ["bench"]
