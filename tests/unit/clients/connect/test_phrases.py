from typing import Any

import pytest

from chalicelib.clients.connect.client import Connect, FieldError
from chalicelib.domain.diagnosis.diagnoses import Diagnosis
from chalicelib.domain.diagnosis.hints import hint_of
from chalicelib.domain.names import ConnectorKind
from chalicelib.errors import Invalid, Unavailable
from tests.support.apps.connect_worker import (
    NAME,
    SECRET,
    VALIDATE,
    Reply,
    Worker,
    refusal,
    validate,
    validated,
)

UNREACHABLE = hint_of(Diagnosis.CONNECTION, ConnectorKind.SOURCE).message


def test_a_good_config_has_no_errors(connect: Connect, worker: Worker) -> None:
    worker.on("PUT", VALIDATE, validated({"name": "a", "value": SECRET, "errors": []}, None, count=0))
    assert validate(connect) == ()
    assert worker.bodies[-1]["name"] == NAME


@pytest.mark.parametrize(
    ("field_name", "text", "sentence"),
    [
        ("topic.prefix", "The 'topic.prefix' value is invalid: A value is required", "A value is required."),
        (
            "tasks.max",
            "Invalid value x for configuration tasks.max: Not a number of type INT",
            "A whole number is expected.",
        ),
        ("snapshot.mode", "Value must be one of initial, always", "The value is not one that this field takes."),
        (
            "slot.name",
            "Valid replication slot name must contain only digits, lowercase characters and underscores",
            "A slot name has lower-case letters, digits and underscores, at most 63 of them.",
        ),
        (
            "database.hostname",
            f'Error while validating connector config: FATAL: password authentication failed for user "{SECRET}"',
            "The source refuses the user name or password. Check them, store the right ones and restart.",
        ),
        (
            "database.hostname",
            "Error while validating connector config: Connection to db:1 refused.",
            UNREACHABLE,
        ),
        (
            "database.hostname",
            f'Error while validating connector config: FATAL: database "{SECRET}" does not exist',
            "The source has no database of this name.",
        ),
        (
            "database.hostname",
            "Connection validation timed out after 5000 ms",
            UNREACHABLE,
        ),
        (
            "producer.override.max.request.size",
            "The 'Allowlist' policy does not allow 'max.request.size' to be overridden in the connector configuration.",
            "The Connect worker's override policy does not allow this setting. Allow it in the worker's configuration.",
        ),
        ("a.b", f"{SECRET} is not what I like", "The connector refuses this value."),
    ],
)
def test_an_error_of_connect_is_replaced_by_our_message(
    connect: Connect, worker: Worker, field_name: str, text: str, sentence: str
) -> None:
    worker.on("PUT", VALIDATE, validated({"name": field_name, "value": SECRET, "errors": [text]}))
    assert validate(connect) == (FieldError(field=field_name, messages=(sentence,)),)


@pytest.mark.parametrize(
    "value",
    [
        {"name": 7, "errors": ["x"]},
        {"name": f"{SECRET} !", "errors": ["x"]},
        {"errors": [7, None, {}]},
        {"name": "config", "errors": [SECRET * 50] * 500},
    ],
)
def test_an_untrusted_error_becomes_one_of_ours(connect: Connect, worker: Worker, value: Any) -> None:
    worker.on("PUT", VALIDATE, validated(value))
    assert validate(connect) == (FieldError(field="config", messages=("The connector refuses this value.",)),)


def test_a_missing_plugin_is_named_as_such(connect: Connect, worker: Worker) -> None:
    worker.on("PUT", VALIDATE, refusal(500, "Failed to find any class that implements Connector"))
    worker.on("GET", "/connector-plugins", Reply(body=[{"class": "x.Other", "type": "source"}]))
    with pytest.raises(Invalid) as raised:
        validate(connect)
    assert raised.value.code == "PLUGIN_MISSING"


def test_a_secret_provider_that_fails_is_named_as_such(connect: Connect, worker: Worker) -> None:
    worker.on("PUT", VALIDATE, refusal(500, f"Headgate gave no answer for secret {SECRET} in 3 attempt(s)"))
    worker.on("GET", "/connector-plugins", Reply(body=[{"class": "x.Source", "type": "source"}]))
    with pytest.raises(Unavailable) as raised:
        validate(connect)
    assert "credentials" in raised.value.message
    assert SECRET not in raised.value.message
