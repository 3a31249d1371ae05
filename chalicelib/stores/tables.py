"""The connection and its limits, the columns and the indexes of documents, and the errors of tables.

A document is an entity of `domain`, stored as JSON text in `body`. What conditions and indexes need are columns:
`revision` (grows with every write), `write_id` (of the last write: it shows that a write whose reply was lost was
ours), `references` (how many others refer to it; changed by `ADD`, never with the body), `closing` (it is being
deleted: no new reference is accepted) and one text column for each group that the store can list.
`infra/decisions/002-documents.md` says why.
"""

import base64
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import cache
from typing import Any, ClassVar

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, UnknownServiceError
from botocore.handlers import add_retry_headers
from botocore.loaders import Loader
from botocore.session import Session
from pynamodb.attributes import (
    Attribute,
    BooleanAttribute,
    NumberAttribute,
    TTLAttribute,
    UnicodeAttribute,
    UTCDateTimeAttribute,
)
from pynamodb.connection import Connection, TableConnection
from pynamodb.constants import (
    BATCH_WRITE_ITEM,
    BINARY,
    DELETE_ITEM,
    PAY_PER_REQUEST_BILLING_MODE,
    PUT_ITEM,
    UPDATE_ITEM,
)
from pynamodb.exceptions import PynamoDBException
from pynamodb.indexes import AllProjection, GlobalSecondaryIndex, IncludeProjection, KeysOnlyProjection
from pynamodb.models import Model

from chalicelib.domain.plans.dry_run import current_plan
from chalicelib.errors import Contention, StoreBusy, StoreRefused, StoreUnavailable
from chalicelib.kit.clock import rfc3339
from chalicelib.settings import settings

LISTING = "listing"
"""The group that every document of a table is in. `Documents.list` reads it."""

ROW = "row"
"""The column of a document as a row of a list: `ConnectorDocuments`."""

BY_ROW = "by_named_row"
"""The index of all that has only that column and the name by which rows are searched."""

CONNECTOR_FIELDS = ("desired_state", "config_hash")
"""The fields that a tick reads of each resource that owns a connector."""

# A request has 20 s: even a call that needs all of its attempts leaves time for the answer.
_LIMITS = {"connect_timeout_seconds": 1, "read_timeout_seconds": 2, "max_retry_attempts": 2, "max_pool_connections": 32}


def meta(name: str) -> type:
    """PynamoDB's `Meta` of one table: on-demand, 1 s to connect, 2 s to read, 3 attempts."""
    table_name = settings().table_prefix + name
    return type("Meta", (), {"table_name": table_name, "billing_mode": PAY_PER_REQUEST_BILLING_MODE, **_LIMITS})


class _LeanModel(Loader):
    """The data of the SDK without what takes it CPU time for each call, and changes nothing of what is sent.

    Without the rules by which it works out the endpoint anew it keeps that with which its client was made. And the
    values of items and the answers are `document`s, in the SDK's words: it passes their JSON on as it is, where it
    would copy it value by value. So bytes have to be `BytesAttribute`.
    """

    def load_service_model(self, service_name: str, type_name: str, api_version: str | None = None) -> Any:
        if type_name == "endpoint-rule-set-1":
            raise UnknownServiceError(service_name=service_name, known_service_names="")
        model = super().load_service_model(service_name, type_name, api_version)
        if type_name == "service-2":
            # The SDK cannot send an input that is a document as a whole.
            inputs = {operation["input"]["shape"] for operation in model["operations"].values()}
            for name, shape in model["shapes"].items():
                if shape["type"] == "structure" and name not in inputs:
                    shape["document"] = True
        return model


class BytesAttribute(Attribute[bytes]):
    """Bytes, as Base64 in DynamoDB's JSON: the SDK does not convert them, see `_LeanModel`."""

    attr_type = BINARY

    def serialize(self, value: bytes) -> str:
        return base64.b64encode(value).decode()

    def deserialize(self, value: str) -> bytes:
        return base64.b64decode(value)


class _GuardedConnection(Connection):
    """One that writes nothing in a dry run, whatever a store forgets. Transactions see to that themselves."""

    @property
    def session(self) -> Session:
        session = super().session
        # The SDK builds its own text anew for each call, which is a sixth of the CPU time that the call takes.
        session.set_default_client_config(Config(user_agent="headgate"))
        session.register_component("data_loader", _LeanModel())
        # Two headers with the number of the attempt, which DynamoDB does not need, and which would be signed.
        session.unregister("request-created", add_retry_headers)  # type: ignore[arg-type]  # its stub is narrower
        return session

    def dispatch(self, operation_name: str, operation_kwargs: dict[str, Any]) -> dict[str, Any]:
        if operation_name in _WRITES and current_plan() is not None:
            raise TypeError("a store would write in a dry run")
        return super().dispatch(operation_name, operation_kwargs)


_WRITES = frozenset({PUT_ITEM, UPDATE_ITEM, DELETE_ITEM, BATCH_WRITE_ITEM})


@cache
def connection() -> Connection:
    """The one connection of this process. A client takes 100 ms of CPU to make, and may be used by all threads."""
    return _GuardedConnection(**_LIMITS)  # type: ignore[arg-type]


class Table(Model):
    """A table on the process's one connection, where PynamoDB would make a client of its own for each table."""

    @classmethod
    def _get_connection(cls) -> TableConnection:
        own, shared = super()._get_connection(), connection()
        if own.connection is not shared:
            with suppress(ValueError):  # another thread was faster, and added the same
                shared.add_meta_table(own.get_meta_table())
            own.connection = shared
        return own


class Document(Table):
    """The columns that all documents share. Concrete tables come from `document_table`."""

    GROUPS: ClassVar[tuple[str, ...]] = ()
    COPIED: ClassVar[tuple[str, ...]] = ()
    SEARCHED: ClassVar[tuple[str, ...]] = ()
    COMPACT: ClassVar[frozenset[str]] = frozenset()

    id = UnicodeAttribute(hash_key=True)
    position = UnicodeAttribute()
    body = UnicodeAttribute()
    revision = NumberAttribute()
    write_id = UnicodeAttribute()
    references = NumberAttribute(default=0)
    closing = BooleanAttribute(null=True)
    expires_at = TTLAttribute(null=True)
    granted_until = UTCDateTimeAttribute(null=True)
    granted_to = UnicodeAttribute(null=True)
    """Of sealed credentials only: see `stores.secrets`."""


def document_table(
    name: str,
    *,
    groups: Sequence[str] = (),
    copied: Sequence[str] = (),
    searched: Sequence[str] = (),
    compact: Mapping[str, Sequence[str]] | None = None,
) -> type[Document]:
    """A table of documents with one index for each group, newest first. `copied` are fields of the entity that have
    columns besides the body, so that they can be read without it; `searched` ones have columns for conditions only,
    and `ROW` among them has an index.
    The index of a group in `compact` has these of them and no body: a group of thousands can be walked in a few calls.
    """
    compact = compact or {}
    columns: dict[str, Any] = {"Meta": meta(name), "__module__": __name__}
    columns |= {"GROUPS": tuple(groups), "COPIED": tuple(copied)}
    columns |= {"SEARCHED": tuple(searched), "COMPACT": frozenset(compact)}
    columns |= {field: UnicodeAttribute(null=True) for field in (*copied, *searched)}
    if ROW in searched:
        columns[BY_ROW] = index_on(LISTING, columns=[ROW, "comparable_name"], name=BY_ROW.removeprefix("by_"))
    for group in (LISTING, *groups):
        columns[group] = UnicodeAttribute(null=True)
        columns[f"by_{group}"] = index_on(group, columns=compact.get(group))
    return type(f"{name.title().replace('-', '')}Table", (Document,), columns)


def position(created_at: datetime, entity_id: str) -> str:
    """The sort key of lists: time of creation, then id."""
    return f"{rfc3339(created_at)}#{entity_id}"


def position_of(row: Any) -> str:
    return str(row.position)


def compress_body(body: bytes) -> str:
    return base64.b64encode(zlib.compress(body)).decode()


def decompress_body(body: str) -> bytes:
    """The JSON of a body, which may be plain."""
    return body.encode() if body.startswith("{") else zlib.decompress(base64.b64decode(body))


def body_size(row: Any) -> int:
    """Bytes of the text in a row's body, which is about what it adds to an answer."""
    return len(row.body.encode())


def index_on(group: str, *, columns: Sequence[str] | None = None, name: str | None = None) -> GlobalSecondaryIndex[Any]:
    """The index of a group, with all columns, or with the keys and these `columns`; `name`: not the group's."""
    some_columns = IncludeProjection(list(columns)) if columns else KeysOnlyProjection()
    projection = AllProjection() if columns is None else some_columns
    name = name or group
    attributes = {
        "Meta": type("Meta", (), {"index_name": f"by_{name}", "projection": projection}),
        group: UnicodeAttribute(hash_key=True),
        "position": UnicodeAttribute(range_key=True),
        "__module__": __name__,
    }
    return type(f"By{name.title().replace('_', '')}", (GlobalSecondaryIndex,), attributes)()  # type: ignore[no-any-return]


def failure_code(error: Exception) -> str | None:
    """The code in the service's answer; None when there was no answer, where PynamoDB's own property fails."""
    cause = error.cause if isinstance(error, PynamoDBException) else error
    answer: dict[str, Any] = getattr(cause, "response", None) or {}
    code: str | None = answer.get("Error", {}).get("Code")
    return code


STORE_ERRORS = (PynamoDBException, BotoCoreError, ClientError)
"""The errors of the client of a table."""

_CONFLICT = {"TransactionConflict", "TransactionConflictException", "TransactionInProgressException"}
THROTTLED = {
    *("ThrottlingException", "ThrottlingError", "ProvisionedThroughputExceededException", "RequestLimitExceeded"),
    "ProvisionedThroughputExceeded",
}

REFUSALS = {
    *("ValidationError", "ValidationException", "ItemCollectionSizeLimitExceeded"),
    "ItemCollectionSizeLimitExceededException",
}
"""Codes of items and of calls that would be refused again: too large, or malformed."""


def unavailable(codes: Iterable[str | None]) -> StoreUnavailable:
    """The error for a call that failed with these codes, of its items or of the whole call; None: without an answer."""
    codes = set(codes)
    if codes & _CONFLICT:
        return Contention()
    return StoreBusy() if codes & THROTTLED else StoreUnavailable("The store did not answer.")


def refused_for_good() -> StoreRefused:
    return StoreRefused("Headgate's store refuses this for good: it may be too large. Nothing was written.")


@contextmanager
def store_errors() -> Iterator[None]:
    """Turns an error of the client into `StoreUnavailable`; `StoreBusy` when the same call may soon succeed;
    `StoreRefused` when it never will.
    """
    try:
        yield
    except STORE_ERRORS as error:
        if failure_code(error) in REFUSALS:
            raise refused_for_good() from error
        raise unavailable([failure_code(error)]) from error


def is_condition_failure(error: Exception) -> bool:
    """Whether DynamoDB refused a single write because its condition did not hold."""
    return failure_code(error) == "ConditionalCheckFailedException"
