"""Faults in the details of an error, without what they say to people."""

from collections.abc import Mapping
from typing import Any


def places(details: Any) -> list[Mapping[str, Any]]:
    """Where each fault is, and its type. Every fault has a sentence, too."""
    assert all(fault["message"] for fault in details)
    return [{"location": fault["location"], "type": fault["type"]} for fault in details]
