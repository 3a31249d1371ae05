"""The parts of Headgate that read text of others first, and texts that are made to break or to slow them."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st
from pydantic import ValidationError

from chalicelib.api.contract.databases import DatabaseConfig
from chalicelib.api.framework import authentication, inputs
from chalicelib.api.framework.http import HttpRequest
from chalicelib.clients.http.addresses import AddressPolicy, name_refusal
from chalicelib.clients.http.addresses import refusal as address_refusal
from chalicelib.domain.addresses import DatabaseAddress
from chalicelib.domain.audit.record import changes
from chalicelib.domain.credentials import Credentials
from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.diagnosis.classifier import classify
from chalicelib.domain.names import ConnectorKind
from chalicelib.domain.pipeline import Capture
from chalicelib.domain.providers.measured_types.names import without_modifiers
from chalicelib.domain.providers.postgresql.sink_config import jdbc_url
from chalicelib.domain.providers.postgresql.source_config import build_source_config
from chalicelib.domain.source import Source
from chalicelib.domain.table import TableName
from chalicelib.errors import HeadgateError
from chalicelib.kit import strict_json
from chalicelib.kit.hosts import parse_host, parse_url
from chalicelib.kit.log import masked
from chalicelib.kit.masking import Secret
from chalicelib.kit.pages import BadCursor, Signer
from chalicelib.notify.texts import neutralize
from chalicelib.notify.webhook.headers import header_faults
from chalicelib.notify.webhook.sender import webhook_url
from tests.support.entities import make_pipeline

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
_SIGNER = Signer(key=b"k" * 32)
_POLICY = AddressPolicy(allow_private=False, resolve=lambda host: [host])


@dataclass(frozen=True, slots=True)
class Reader:
    """`read` takes a text and may raise `refusals`, and nothing else. `seeds` are texts that it reads well."""

    read: Callable[[str], object]
    seeds: tuple[str, ...]
    refusals: tuple[type[Exception], ...] = ()


def _cookies(text: str) -> object:
    return authentication.sent_cookie({"cookie": text, "host": text, "x-forwarded-proto": text})


def _bearer(text: str) -> object:
    return authentication.require_token({"authorization": text}, Secret("a-token"))


def _headers(text: str) -> object:
    request = HttpRequest(
        method="POST",
        route="/",
        path="/",
        headers={"if-match": text, "idempotency-key": text, "content-type": text, "content-length": text},
        body=b"{}",
    )
    for step in (inputs.check_size, inputs.if_match, inputs.idempotency_key, inputs.check_content_type):
        try:
            step(request)
        except HeadgateError:
            continue
    return None


def _source_config(text: str) -> None:
    """A config of this text in every field of the address has the lines of any other, and only references of ours."""
    config = DatabaseConfig.model_validate({"host": text, "database_name": text, "username": text})
    address = config.to_address(DatabaseProvider.POSTGRESQL)
    built, usual = _built(address), _built(replace(address, host="h", database_name="d", username="u"))
    assert set(built) == set(usual), "other lines"
    assert [key for key in built if "${" in built[key]] == [key for key in usual if "${" in usual[key]]
    assert not any(letter in value for value in built.values() for letter in "\r\n\x00\u2028"), "several lines"
    assert jdbc_url(address).count("?") == 1


def _built(address: DatabaseAddress) -> Mapping[str, str]:
    credentials = Credentials(id="11111111-1111-4111-8111-111111111111", fields={"password": 1})
    identity = {"id": "s", "name": "s", "created_at": NOW, "updated_at": NOW}
    source = Source(**identity, description=None, environment=None, address=address, credentials=credentials)  # type: ignore[arg-type]
    capture = Capture(topic_prefix="shop", tables=(TableName("public", "orders"),))
    return build_source_config(make_pipeline(capture=capture), source)


def _audited(text: str) -> object:
    view = {"name": text, "config": {text: text, "list": [text[:50]] * (len(text) // 50)}}
    difference = changes({"name": "before"}, view)
    return json.dumps(difference)


READERS: Mapping[str, Reader] = {
    "webhook URL": Reader(
        webhook_url, ("https://hooks.example.com:8443/a?b=c", "https://[2001:db8::1]/"), (HeadgateError,)
    ),
    "URL": Reader(parse_url, ("https://xn--mnchen-3ya.de/", "https://user@host/"), (HeadgateError,)),
    "host": Reader(parse_host, ("münchen.de:443", "0x7f.1", "[::ffff:127.0.0.1]:1"), (HeadgateError,)),
    "address policy": Reader(_POLICY, ("127.0.0.1", "::1%lo", "metadata.google.internal"), (HeadgateError,)),
    "name of a host": Reader(name_refusal, ("a.internal", "localhost.")),
    "address": Reader(lambda text: address_refusal(text, allow_loopback=False), ("fe80::1%25eth0", "64:ff9b::7f00:1")),
    "trace of a source": Reader(
        lambda text: classify(text, ConnectorKind.SOURCE), ('Caused by: x\n\tat y\nERROR: "a" Detail: Struct{a=1}',)
    ),
    "trace of a sink": Reader(
        lambda text: classify(text, ConnectorKind.SINK), ("Batch entry 0 insert into 'a' was aborted\nCaused by: b",)
    ),
    "cursor": Reader(
        lambda text: _SIGNER.unsign("list", text, NOW), (_SIGNER.sign("list", "key", NOW), "AA=="), (BadCursor,)
    ),
    "JSON": Reader(
        lambda text: strict_json.loads(text.encode("utf-8", "surrogatepass")),
        ('{"a": [1.5e3, "\\ud83d\\ude00", null]}', "[" * 40, '{"a": 1, "a": 2}', "1" * 1_001),
        (strict_json.NotStrictJson,),
    ),
    "config of a source": Reader(_source_config, ("db.example.com", "a?b", "[::1]"), (HeadgateError, ValidationError)),
    "cookies": Reader(_cookies, ("headgate_session=a; __Host-headgate_session=b", "localhost:8000", "https")),
    "bearer token": Reader(_bearer, ("Bearer a-token", "bearer  x"), (HeadgateError,)),
    "headers": Reader(_headers, ('"3"', "a-key", "application/json; charset=utf-8", "12")),
    "header of a channel": Reader(lambda text: list(header_faults({text: text})), ("X-Key", "Bearer x")),
    "text of a message": Reader(neutralize, ("@here https://x www.y", "a\x1b[2Jb")),
    "type of a column": Reader(without_modifiers, ("numeric(10,2)", "timestamp (3) with time zone")),
    "record of a change": Reader(_audited, ("a",)),
    "line of a log": Reader(lambda text: masked({text: {"a": [text]}}), ("password", "name")),
}
ODD = (
    "\x00\r\n\t\x1b\x7f\x85\u200b\u2028\u202e\u2066\ufeff\ud800\udfff\uff0e\u3002İß"
    "\U000e0001\U0001f600\\\"'`${}[]()<>@:/?#%&=;,.-_ "
)


def texts(reader: Reader) -> st.SearchStrategy[str]:
    """Random text, odd characters, and seeds with something put in, taken out or repeated."""
    odd = st.text(st.one_of(st.sampled_from(ODD), st.characters()), max_size=200)

    def changed(seed: str, at: int, out: int, put: str, times: int) -> str:
        at = at % (len(seed) + 1)
        return (seed[:at] + put + seed[at + out :]) * times

    mutated = st.builds(
        changed,
        st.sampled_from(reader.seeds),
        st.integers(0, 200),
        st.integers(0, 3),
        st.text(st.sampled_from(ODD), max_size=4),
        st.sampled_from((1, 1, 1, 2, 40)),
    )
    return st.one_of(odd, mutated)


def pumped(reader: Reader, length: int) -> list[str]:
    """Long texts: each odd character, common pairs, and each seed, again and again."""
    units = [*ODD, "a", "1", "a.", "a:", "caused by:", '"a" ', "'a'", "xn--", "%2", "[{", '"a":', *reader.seeds]
    return [(unit * (length // len(unit) + 1))[:length] + end for unit in units for end in ("", "!")]


def unexpected(reader: Reader, text: str) -> str | None:
    """The error that must not be raised; None when there is none."""
    try:
        reader.read(text)
    except reader.refusals:
        return None
    except Exception as error:  # noqa: BLE001 - this is what the tests look for
        return f"{type(error).__name__}: {error}"
    return None


def quiet(reader: Reader) -> Callable[[str], Any]:
    """The reader without its refusals, to be measured."""
    return lambda text: unexpected(reader, text)
