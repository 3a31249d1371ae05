"""Entities of tests that need one without an app: each with ordinary values where a test names none."""

from datetime import UTC, datetime
from typing import Any

from chalicelib.domain.access import Role
from chalicelib.domain.accounts.user import User
from chalicelib.domain.addresses import DatabaseAddress
from chalicelib.domain.alerts.channel import Channel, ChannelProvider
from chalicelib.domain.alerts.rule import AlertRule
from chalicelib.domain.credentials import Credentials
from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.delivery import Delivery, Writing
from chalicelib.domain.pipeline import Capture, Pipeline
from chalicelib.domain.source import Source
from chalicelib.domain.table import SourceTable, TableName
from chalicelib.kit.ids import id_from, new_id
from chalicelib.stores.documents import Documents
from chalicelib.stores.transaction import Transaction

ORDERS = TableName("shop", "orders")
NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)


def make_pipeline(**fields: Any) -> Pipeline:
    """A draft over one table of a PostgreSQL source."""
    return Pipeline(
        **{
            "id": "0a1b2c3d-0000-4000-8000-00000000ffff",
            "name": "p",
            "source_id": "s",
            "provider": DatabaseProvider.POSTGRESQL,
            "stream_cluster_id": "k",
            "connect_cluster_id": "c",
            "capture": Capture(topic_prefix="p", tables=(ORDERS,)),
            "created_at": NOW,
            "updated_at": NOW,
            **fields,
        }
    )


def make_delivery(writing: Writing, **fields: Any) -> Delivery:
    """A draft that writes so."""
    return Delivery(
        **{
            "id": "33333333-3333-4333-8333-333333333333",
            "name": "d",
            "destination_id": "d",
            "pipeline_id": "p",
            "connect_cluster_id": "c",
            "writing": writing,
            "created_at": NOW,
            "updated_at": NOW,
            **fields,
        }
    )


def make_source_table(name: TableName = ORDERS, **fields: Any) -> SourceTable:
    """A discovered table of a PostgreSQL source, with the key `id` and nothing wrong."""
    return SourceTable(
        **{
            "id": "t",
            "source_id": "s",
            "provider": DatabaseProvider.POSTGRESQL,
            "schema_name": name.schema_name,
            "table_name": name.table_name,
            "primary_key_columns": ("id",),
            "columns": (),
            "estimated_rows": None,
            "estimated_size_bytes": None,
            "replica_identity": "DEFAULT",
            "issues": (),
            "discovered_at": NOW,
            **fields,
        }
    )


def make_address(**fields: Any) -> DatabaseAddress:
    """The address of a PostgreSQL database."""
    ordinary = {"host": "db.example", "port": 5432, "database_name": "shop", "username": "cdc"}
    return DatabaseAddress(**{"provider": DatabaseProvider.POSTGRESQL, **ordinary, **fields})


def make_source(**fields: Any) -> Source:
    """A source without secrets."""
    return Source(
        **{
            "id": "s",
            "name": "s",
            "description": None,
            "environment": None,
            "address": make_address(),
            "credentials": Credentials(id="c"),
            "created_at": NOW,
            "updated_at": NOW,
            **fields,
        }
    )


def make_channel(number: int = 0, **fields: Any) -> Channel:
    """A webhook."""
    return Channel(
        **{
            "id": id_from("channel", str(number)),
            "name": f"channel {number}",
            "provider": ChannelProvider.WEBHOOK,
            "credentials": Credentials(id=id_from("secret", str(number))),
            "mask": "https://hooks.example.com/********",
            "created_at": NOW,
            "updated_at": NOW,
            **fields,
        }
    )


def make_rule(number: int = 0, **fields: Any) -> AlertRule:
    """A rule that matches every alert."""
    times = {"created_at": NOW, "updated_at": NOW}
    return AlertRule(**{"id": id_from("rule", str(number)), "name": f"rule {number}", **times, **fields})


def make_user(**fields: Any) -> User:
    """An active Ops with an address of their own, who has no password."""
    user_id = fields.get("id", new_id())
    ordinary = {"email": f"{user_id}@example.com", "role": Role.OPS, "created_at": NOW, "updated_at": NOW}
    return User(**{"id": user_id, **ordinary, **fields})


def store_new(store: Documents[Any], *entities: Any) -> None:
    """Store entities that do not exist yet, in one transaction."""
    with Transaction() as transaction:
        for entity in entities:
            store.put_new(transaction, entity)
