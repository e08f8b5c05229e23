"""What all tests share."""

from __future__ import annotations

from hypothesis import settings

# A busy machine is no failure of the code: examples have no deadline.
settings.register_profile("prefstudy", deadline=None)
settings.load_profile("prefstudy")
