"""QWF_TEST_ALL=1: what is tested before a release, and takes too long for every commit."""

from __future__ import annotations

import os

import pytest

THOROUGH = bool(os.environ.get("QWF_TEST_ALL"))
thorough = pytest.mark.skipif(not THOROUGH, reason="only with QWF_TEST_ALL=1")
