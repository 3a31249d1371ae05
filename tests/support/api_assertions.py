"""Assertions about responses of the API."""

import re
from typing import Any

import httpx

TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\Z")
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")
FAULT = {"location", "type", "message", "allowed", "limit", "did_you_mean", "option"}
"""The fields of a detail of `VALIDATION_FAILED` (wire contract, section 1)."""
UNKNOWN_ID = "00000000-0000-4000-8000-000000000000"


def assert_error(response: httpx.Response, status: int, code: str) -> Any:
    """Asserts an error of this status and code, in the envelope of the contract. Returns its details."""
    assert response.status_code == status, response.text
    assert set(response.json()) == {"error"}
    error = response.json()["error"]
    assert set(error) == {"code", "message", "details"}
    assert error["code"] == code, error
    assert error["message"]
    assert isinstance(error["details"], dict | list)
    return error["details"]


def validation_error(response: httpx.Response, *location: str | int) -> str:
    """Asserts a 422 with exactly one error at this location. Returns the type of that error."""
    details = assert_error(response, 422, "VALIDATION_FAILED")
    types = [detail["type"] for detail in details if detail["location"] == list(location)]
    assert len(types) == 1, details
    assert all(detail["message"] and {"location", "type"} <= set(detail) <= FAULT for detail in details)
    return str(types[0])


def is_timestamp(value: Any) -> bool:
    """RFC 3339, UTC, milliseconds, Z."""
    return isinstance(value, str) and TIMESTAMP.match(value) is not None


def is_uuid(value: Any) -> bool:
    """A lower-case UUID."""
    return isinstance(value, str) and UUID.match(value) is not None
