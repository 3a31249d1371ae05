"""Plants a secret in a channel, in the way a programmer would by mistake, and looks whether the search finds it."""

import json
import secrets
import time
from collections.abc import Callable, Mapping
from typing import Any

from chalicelib.wiring import PUBLIC_RESULTS_COUNT
from tests.security.leaks.scenario import read_metrics, shown
from tests.support.apps.output_recorder import OutputRecorder
from tests.support.hostile.leaks import find_leaks

CHANNELS: Mapping[str, str] = {
    "log": "log",
    "log at DEBUG": "log",
    "log of a library": "log",
    "audit": "audit",
    "table": "table",
    "queue": "queue",
    "connector": "connector",
    "response body": "response body",
    "response headers": "response headers",
    "metrics": "metrics",
    "OpenAPI document": "OpenAPI document",
    "documentation": "documentation",
    "exception": "exception",
    "outbound HTTP": "outbound HTTP",
    "outbound kms": "outbound kms",
    "outbound Kafka": "outbound Kafka",
    "outbound PostgreSQL": "outbound PostgreSQL",
    "state folder": "state folder",
}
"""Where a leak can be planted, and the channel in which it then has to be found."""


def found_when_planted(recorder: OutputRecorder, place: str) -> bool:
    """Whether the search finds a secret that was planted there, in its channel."""
    planted, recorded = secrets.token_urlsafe(24), len(recorder.outputs)
    plant = _OUTSIDE.get(place)
    if plant:
        plant(recorder, planted)
    else:
        recorder.run_command("plant", channel=place, text=planted)
    if place in _SHOWN_BY:
        _SHOWN_BY[place](recorder)
    recorder.run_command("remove planted")
    outputs = [output for output in recorder.everything() if output.channel == CHANNELS[place]]
    del recorder.outputs[recorded:]
    return bool(find_leaks({"planted": planted}, outputs))


def _in_a_table(recorder: OutputRecorder, text: str) -> None:
    recorder.run_command("corrupt", id=recorder.ids["source"], text=json.dumps({"x": text}))


def _in_a_connector(recorder: OutputRecorder, text: str) -> None:
    recorder.doubles.connect_double.preload([f"planted-{text[:4]}"], config={"database.password": text})


def _in_a_body(recorder: OutputRecorder, text: str) -> None:
    body = {**shown(recorder, f"/sources/{recorder.ids['plain source']}"), "credentials": {}}
    recorder.post_ok("/sources", {**body, "name": f"leaky {text[:4]}", "description": text})


def _to_a_database(recorder: OutputRecorder, text: str) -> None:
    body = shown(recorder, f"/sources/{recorder.ids['plain source']}")
    config = {**body["config"], "username": text}
    without_name = {"provider": body["provider"], "config": config, "credentials": {"password": "x"}}
    recorder.post_ok("/destinations/test-connection", without_name, 200)


def _to_kafka(recorder: OutputRecorder, text: str) -> None:
    recorder.post_ok("/stream/clusters", {
        "name": f"leaky {text[:4]}", "bootstrap_servers": f"127.0.0.1:{recorder.kafka.port}",
        "security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "PLAIN", "username": text,
        "credentials": {"password": "x"},
    })  # fmt: skip


def _read_newer_metrics(recorder: OutputRecorder) -> None:
    """Newer ones than the last result, which is shown again for some seconds."""
    time.sleep(PUBLIC_RESULTS_COUNT.total_seconds())
    read_metrics(recorder)


def _in_a_file(recorder: OutputRecorder, text: str) -> None:
    (recorder.state / "planted").write_text(text)


_OUTSIDE: Mapping[str, Callable[[OutputRecorder, str], Any]] = {
    "table": _in_a_table,
    "connector": _in_a_connector,
    "response body": _in_a_body,
    "outbound PostgreSQL": _to_a_database,
    "outbound Kafka": _to_kafka,
    "state folder": _in_a_file,
}
_SHOWN_BY: Mapping[str, Callable[[OutputRecorder], Any]] = {
    "response headers": lambda recorder: recorder.call("GET", "/pipelines"),
    "metrics": _read_newer_metrics,
    "OpenAPI document": lambda recorder: recorder.call("GET", "/openapi.json"),
    "documentation": lambda recorder: recorder.call("GET", "/docs"),
    "exception": lambda recorder: recorder.run_command("fire", schedule="dispatch"),
}
"""Some mistakes show when a request is made."""
