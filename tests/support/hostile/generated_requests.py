"""Requests that schemathesis generates from our OpenAPI document, judged by all of its checks.

Over HTTP they go to a running server, in process to the function itself. Its phases: limits of every parameter,
missing and repeated ones, other methods (`coverage`); random valid and invalid values (`fuzzing`); sequences of
requests in which one uses what another one returned (`stateful`).
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any
from unittest.mock import patch
from urllib.parse import urlsplit

import requests
import schemathesis
from requests import PreparedRequest
from requests.adapters import HTTPAdapter
from schemathesis.config import (
    CoveragePhaseConfig,
    ExamplesPhaseConfig,
    FuzzingPhaseConfig,
    GenerationConfig,
    PhasesConfig,
    ProjectConfig,
    ProjectsConfig,
    SchemathesisConfig,
    StatefulPhaseConfig,
)
from schemathesis.engine import Status, events, from_schema
from urllib3 import HTTPHeaderDict, HTTPResponse

from infra.local.app.gateway import Gateway

Json = dict[str, Any]
SEED = 11
ALL_PHASES = ("examples", "coverage", "fuzzing", "stateful")
ENDS_ITS_SESSION = "logout"
_VERSION = re.compile(r'"(0|[1-9][0-9]{0,15})"')
"""The document's pattern of If-Match: schemathesis takes the quotes off some of the values that it makes for it."""
NO_SCHEMA_SAYS = frozenset({
    "cursor",  # only the values of X-Next-Cursor
    "not_readable", "not_visible",  # letters by their Unicode category
    "null_character_not_allowed", "secret_reference_not_allowed", "lone_surrogate_not_allowed",
    "string_too_short",  # after white space was taken off
    "missing", "protocol_without_sasl", "mechanism_without_token", "one_of",  # fields that depend on another one
    "out_of_range", "in_the_past", "too_late",  # a time that depends on the clock
    "not_after_from", "not_later_than_from", "too_long",  # two times among each other
    "nothing_named",  # one of several lists or maps
    "port",  # each of a list's numbers
    "https_required",  # unless the host is this machine
    "not_allowed",  # a setting of the installation
    "bot_token", "chat_id", "signing_secret", "header_value", "header_name", "header_not_allowed",
    "header_repeated", "headers_too_long",  # what a message of a channel is sent with, described in words
    "pem_certificates", "pem_private_key", "not_a_certificate", "several_certificates", "host",  # an inner form
    "characters",  # what the sink of this very destination cannot carry
    "duplicate", "not_together", "one_schema", "topic_collision", "name_needs_quotes",  # names among each other
    "required_for_new_target", "immutable", "kafka_cluster_mismatch", "other_stream_cluster", "compact_without_key",
    "converter_without_schema", "heartbeats_off", "ca_not_deliverable",  # what is stored, or another resource has
    "not_found", "not_granted",  # the anchors that there are; the permissions of a role
    "capability_missing", "other_provider", "not_with_connection",  # what a connection has, or is used with
    "property_not_allowed", "password_too_common",
})  # fmt: skip
"""Why a request that the document allows may be refused all the same."""


@dataclass(kw_only=True)
class Outcome:
    """The result of a run. `faults` name the failed check, its reason and its request; one for each operation."""

    requests: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    faults: dict[str, str] = field(default_factory=dict)

    @property
    def server_errors(self) -> int:
        """Unexpected failures: 502 to 504 say that another system failed, and are documented."""
        return self.statuses[500] + self.statuses[0]

    def add(self, other: "Outcome") -> None:
        self.requests += other.requests
        self.statuses += other.statuses
        self.faults.update(other.faults)

    def as_json(self) -> str:
        return json.dumps([self.requests, list(self.statuses.items()), self.faults])

    @classmethod
    def from_json(cls, text: str) -> "Outcome":
        count, statuses, faults = json.loads(text)
        return cls(requests=count, statuses=Counter(dict(statuses)), faults=faults)


@contextmanager
def in_process(gateway: Gateway) -> Iterator[None]:
    """Requests of the library `requests` call the function of the API instead of a server."""

    def send(adapter: HTTPAdapter, request: PreparedRequest, **_: Any) -> requests.Response:
        parts = urlsplit(str(request.url))
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        headers = {"host": parts.netloc, **{name.lower(): _text(value) for name, value in request.headers.items()}}
        body = request.body or b""
        raw_body = body.encode() if isinstance(body, str) else bytes(body)
        answer = gateway.answer(str(request.method), target, headers, raw_body, "127.0.0.1")
        fields = HTTPHeaderDict()
        for name, value in answer.headers.items():
            for item in value if isinstance(value, tuple) else (value,):
                fields.add(name, str(item))
        raw = HTTPResponse(
            BytesIO(answer.compressed or answer.body.encode()), fields, answer.status, preload_content=False
        )
        return adapter.build_response(request, raw)

    with patch.object(HTTPAdapter, "send", send):
        yield


def _text(value: str | bytes) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else value


def run(
    document: Json,
    *,
    base_url: str,
    sign_in: Callable[[], str],
    examples: int,
    phases: Iterable[str] = ALL_PHASES,
    seed: int = SEED,
    only: str | None = None,
) -> Outcome:
    """Sends the requests and returns the results.

    `sign_in` returns the token of a new session; a request that ends its session gets one of its own. `examples` is how
    many random requests each operation gets, and how many sequences there are. `only`: operations with this tag.
    """
    config = _config(base_url, examples, set(phases), seed)
    schema = schemathesis.openapi.from_dict(document, config=config)
    if only:
        schema = schema.include(tag=only)
    schema.auth(refresh_interval=None)(_session_auth(sign_in))
    outcome = Outcome()
    for event in from_schema(schema).execute():
        if isinstance(event, events.ScenarioFinished):
            _count(event.recorder, outcome)
        elif isinstance(event, events.NonFatalError):
            outcome.faults[f"{event.label} | error"] = str(event.info)
        elif isinstance(event, events.FatalError):
            outcome.faults["fatal error"] = repr(event.exception)
    return outcome


def _session_auth(sign_in: Callable[[], str]) -> type:
    session = sign_in()

    class SessionAuth:
        def get(self, case: Any, _: Any) -> str:
            ends = case.operation.definition.raw.get("operationId") == ENDS_ITS_SESSION
            return sign_in() if ends else session

        def set(self, case: Any, data: str, _: Any) -> None:
            case.headers = {"X-Correlation-ID": "generated", **(case.headers or {})}
            case.cookies = {**(case.cookies or {}), "headgate_session": data}

    return SessionAuth


def _config(base_url: str, examples: int, phases: set[str], seed: int) -> SchemathesisConfig:
    generation = GenerationConfig(max_examples=examples, deterministic=True, no_shrink=True, database="none")
    project = ProjectConfig(
        base_url=base_url,
        continue_on_failure=True,
        request_timeout=60,
        generation=generation,
        phases=PhasesConfig(
            examples=ExamplesPhaseConfig(enabled="examples" in phases),
            coverage=CoveragePhaseConfig(enabled="coverage" in phases, generate_duplicate_query_parameters=True),
            fuzzing=FuzzingPhaseConfig(enabled="fuzzing" in phases),
            stateful=StatefulPhaseConfig(enabled="stateful" in phases),
        ),
    )
    return SchemathesisConfig(seed=seed, projects=ProjectsConfig(default=project))


def _count(recorder: Any, outcome: Outcome) -> None:
    for interaction in recorder.interactions.values():
        outcome.requests += 1
        outcome.statuses[interaction.response.status_code if interaction.response else 0] += 1
    for case_id, checks in recorder.checks.items():
        for check in checks:
            if check.status is not Status.FAILURE or check.failure_info is None:
                continue
            response = recorder.interactions[case_id].response
            if check.name == "positive_data_acceptance" and response is not None and _excused(response):
                continue
            failure, label = check.failure_info.failure, recorder.cases[case_id].value.operation.label
            body = response.content[:500].decode(errors="replace") if response else ""
            text = f"{failure.title}: {failure.message[:500]}\n{body}\n{check.failure_info.code_sample[:1000]}"
            outcome.faults.setdefault(f"{label} | {check.name}", text)


def _excused(response: Any) -> bool:
    """Whether a request that fits the document was refused for a reason that no schema says: the state of what it is
    about, or a rule of `NO_SCHEMA_SAYS`.
    """
    version = response.request.headers.get("If-Match")
    not_as_generated = version is not None and not _VERSION.fullmatch(_text(version))
    if response.status_code in (410, 412) or not_as_generated:
        return True
    error = json.loads(response.content)["error"] if response.status_code == 422 else {"code": "", "details": []}
    details = error["details"] if error["code"] == "VALIDATION_FAILED" else []
    if ["body", "provider"] in [detail["location"] for detail in details]:
        # Which fields there are depends on the provider, that may be left out with a connection only.
        details = [detail for detail in details if detail["location"][:2] != ["body", "config"]]
    rules = {detail["type"] for detail in details}
    return error["code"] not in ("", "VALIDATION_FAILED") or bool(rules and rules <= NO_SCHEMA_SAYS)
