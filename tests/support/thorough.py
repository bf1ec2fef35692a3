"""QWF_TEST_ALL=1: what is tested before a release, and takes too long for every commit."""

from __future__ import annotations

import os

THOROUGH = bool(os.environ.get("QWF_TEST_ALL"))
