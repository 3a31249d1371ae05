"""A whole example of every body, by the operation that takes it. A test sends each of them to the API.

Ids, hosts and names in them are of one small installation: a shop whose orders go to a warehouse and to a data lake.
"""

from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]
Bodies = Mapping[str, Json]
"""Bodies by what they show."""

STREAM_CLUSTER_ID = "0d6f3c1a-7f1e-4a53-9d0c-1f6f7f6d1a01"
CONNECT_CLUSTER_ID = "2b8e5a44-3a0d-4f0e-8c53-6f0e5b1f2c02"
CONNECTION_ID = "4f1c7be0-5d1b-4b7a-9f65-0a4c2d9e3b03"
SOURCE_ID = "6a2d9cf1-8b3e-4c21-8a7d-3e5f1c0d4e04"
PIPELINE_ID = "8c4fb1d3-0e5a-4d86-9b1f-5a7c3e2f6d05"
CHANNEL_ID = "9e5ac2e4-1f6b-4e97-8c20-6b8d4f3a7e06"

_PASSWORD = {"password": "purple lantern over quiet harbor"}
_SHOP = {
    "host": "shop-db.example.com",
    "port": 5432,
    "database_name": "shop",
    "username": "headgate",
    "ssl_mode": "verify-full",
    "connection_timeout_seconds": 10,
}
_BILLING = {"host": "billing-db.example.com", "port": 3306, "database_name": "billing", "username": "headgate"}
_WAREHOUSE = {"host": "warehouse-db.example.com", "database_name": "warehouse", "username": "headgate_writer"}
_LAKE = {"bucket": "shop-lake", "region": "eu-central-1", "prefix": "changes"}
_LAKE_KEY = {"access_key_id": "AKIAIOSFODNN7EXAMPLE", "secret_access_key": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}
_ON_PREMISES = {"bucket": "shop-lake", "endpoint_url": "https://minio.example.com:9000", "prefix": "changes"}

_ROTATIONS: Bodies = {
    "A new password": {"credentials": _PASSWORD},
    "A new key of a bucket": {"credentials": _LAKE_KEY},
}
_TESTS: Bodies = {
    "A database": {"provider": "postgresql", "config": _SHOP, "credentials": _PASSWORD},
    "A bucket": {"provider": "s3", "config": _LAKE, "credentials": _LAKE_KEY},
    "A registered connection": {"connection_id": CONNECTION_ID},
}
_STREAM_CLUSTERS: Bodies = {
    "With TLS and a password": {
        "name": "Kafka production",
        "bootstrap_servers": "kafka-1.example.com:9093,kafka-2.example.com:9093",
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "SCRAM-SHA-512",
        "username": "headgate",
        "credentials": _PASSWORD,
        "metrics_provider": "consumer-groups",
    },
    "With tokens of an OAuth server": {
        "name": "Kafka with OAuth",
        "bootstrap_servers": "kafka-3.example.com:9094",
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "OAUTHBEARER",
        "token_endpoint_url": "https://login.example.com/oauth/token",
        "client_id": "headgate",
        "scope": "kafka",
        "credentials": {"client_secret": "the secret of the client"},
    },
    "Without a sign-in": {"name": "Kafka test", "bootstrap_servers": "kafka-test.example.com:9092"},
}
_CONNECT_CLUSTERS: Bodies = {
    "With a password": {
        "name": "Connect production",
        "base_url": "https://connect.example.com:8083",
        "stream_cluster_id": STREAM_CLUSTER_ID,
        "username": "headgate",
        "credentials": _PASSWORD,
        "secret_delivery": "config-provider",
    },
    "Without a sign-in": {
        "name": "Connect test",
        "base_url": "http://connect-test.example.com:8083",
        "stream_cluster_id": STREAM_CLUSTER_ID,
    },
}
_CONNECTIONS: Bodies = {
    "PostgreSQL": {
        "name": "Shop database",
        "description": "The primary of the web shop.",
        "provider": "postgresql",
        "capabilities": ["SOURCE", "DESTINATION"],
        "config": _SHOP,
        "credentials": _PASSWORD,
    },
    "MySQL": {"name": "Billing database", "provider": "mysql", "config": _BILLING, "credentials": _PASSWORD},
    "Amazon S3": {"name": "Data lake", "provider": "s3", "config": _LAKE, "credentials": _LAKE_KEY},
    "MinIO": {"name": "Data lake on premises", "provider": "minio", "config": _ON_PREMISES, "credentials": _LAKE_KEY},
}
_SOURCES: Bodies = {
    "PostgreSQL": {
        "name": "Shop",
        "description": "Orders and customers of the web shop.",
        "environment": "production",
        "provider": "postgresql",
        "config": _SHOP,
        "credentials": _PASSWORD,
    },
    "MySQL": {
        "name": "Billing",
        "environment": "production",
        "provider": "mysql",
        "config": _BILLING,
        "credentials": _PASSWORD,
        "options": {"server_id": 5701},
    },
    "By a connection": {"name": "Shop by its connection", "connection_id": CONNECTION_ID},
}
_DESTINATIONS: Bodies = {
    "PostgreSQL": {
        "name": "Warehouse",
        "description": "What analysts query.",
        "environment": "production",
        "provider": "postgresql",
        "config": _WAREHOUSE,
        "credentials": _PASSWORD,
    },
    "MySQL": {"name": "Billing copy", "provider": "mysql", "config": _BILLING, "credentials": _PASSWORD},
    "Amazon S3": {"name": "Lake", "provider": "s3", "config": _LAKE, "credentials": _LAKE_KEY},
    "MinIO": {"name": "Lake on premises", "provider": "minio", "config": _ON_PREMISES, "credentials": _LAKE_KEY},
    "By a connection": {"name": "Shop copy", "connection_id": CONNECTION_ID},
}
_PIPELINES: Bodies = {
    "Two tables": {
        "name": "Shop changes",
        "source_id": SOURCE_ID,
        "stream_cluster_id": STREAM_CLUSTER_ID,
        "connect_cluster_id": CONNECT_CLUSTER_ID,
        "topic_prefix": "shop-production",
        "tables": [
            {"schema_name": "shop", "table_name": "orders"},
            {"schema_name": "shop", "table_name": "customers"},
        ],
    },
    "With options": {
        "name": "Orders for analysts",
        "source_id": SOURCE_ID,
        "stream_cluster_id": STREAM_CLUSTER_ID,
        "connect_cluster_id": CONNECT_CLUSTER_ID,
        "topic_prefix": "shop-analysts",
        "tables": [{"schema_name": "shop", "table_name": "orders"}],
        "snapshot_mode": "initial",
        "converter": "json_schema",
        "options": {"heartbeat_interval_ms": 60_000, "max_batch_size": 2048, "max_queue_size": 8192},
        "properties": {"snapshot.fetch.size": "10240"},
    },
}
_TO_A_TABLE = {"topic": "shop-production.shop.orders", "schema_name": "mart", "table_name": "orders"}
_DELIVERIES: Bodies = {
    "To a table of a database": {
        "pipeline_id": PIPELINE_ID,
        "name": "Orders to the warehouse",
        "mappings": [_TO_A_TABLE],
        "write_mode": "upsert",
        "delete_enabled": True,
        "auto_create": True,
        "auto_evolve": True,
        "batch_size": 500,
        "tasks_max": 1,
    },
    "To files in an object store": {
        "pipeline_id": PIPELINE_ID,
        "name": "Customers to the lake",
        "mappings": [{"topic": "shop-production.shop.customers"}],
        "format": "jsonl",
        "shape": "envelope",
        "compression": "gzip",
        "max_records_per_file": 100_000,
    },
}
_MAPPINGS: Bodies = {"Another table": {"mappings": [{**_TO_A_TABLE, "table_name": "orders_of_today"}]}}
_RULES: Bodies = {
    "Everything critical": {
        "name": "Critical, to the people on call",
        "description": "Wakes somebody.",
        "enabled": True,
        "severities": ["critical"],
        "channel_ids": [CHANNEL_ID],
        "cooldown_policy": "notify_after_cooldown",
        "cooldown_seconds": 900,
        "send_recovery": True,
    },
    "One source": {"name": "The shop", "source_ids": [SOURCE_ID], "event_types": ["SOURCE_CONNECTION_FAILED"]},
}
_CHANNELS: Bodies = {
    "Incoming webhook of a chat": {
        "name": "Team chat",
        "provider": "chat-webhook",
        "enabled": True,
        "config": {"webhook_url": "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX"},
    },
    "Bot in a chat": {
        "name": "On-call chat",
        "provider": "bot-chat",
        "config": {"bot_token": "123456789:AAExampleTokenOfABotThatDoesNotExist", "chat_id": "-1009876543210"},
    },
    "A server of yours": {
        "name": "Ticket system",
        "provider": "webhook",
        "config": {
            "url": "https://tickets.example.com/hooks/headgate",
            "authorization": "Bearer the-token-of-the-ticket-system",
            "headers": {"X-Team": "data"},
            "signing_secret": "a text that only the two of us know",
        },
    },
}

_ALL: Mapping[str, Bodies] = {
    "login": {
        "Password": {"email": "ada@example.com", **_PASSWORD},
        "Password and code": {"email": "ada@example.com", **_PASSWORD, "code": "492039"},
    },
    "change_password": {
        "Password": {
            "current_password": "purple lantern over quiet harbor",
            "new_password": "seven green parrots at sea",
            "end_tokens": False,
        }
    },
    "confirm_second_factor": {"Code of the app": {"code": "492039"}},
    "remove_second_factor": {"Password and code": {**_PASSWORD, "code": "492039"}},
    "create_api_token": {
        "For a dashboard": {"name": "Dashboard", "role": "Viewer"},
        "For a deployment": {
            "name": "Deployment",
            "role": "Ops",
            "permissions": ["read", "operate"],
        },
    },
    "invite_user": {"An operator": {"email": "grace@example.com", "role": "Ops"}},
    "accept_invite": {"Password": {"password": "seven green parrots at sea"}},
    "change_user_role": {"To Admin": {"role": "Admin"}},
    "create_stream_cluster": _STREAM_CLUSTERS,
    "update_stream_cluster": _STREAM_CLUSTERS,
    "rotate_stream_cluster_credentials": {"A new password": _ROTATIONS["A new password"]},
    "create_connect_cluster": _CONNECT_CLUSTERS,
    "update_connect_cluster": _CONNECT_CLUSTERS,
    "rotate_connect_cluster_credentials": {"A new password": _ROTATIONS["A new password"]},
    "confirm_deletions": {"The number that waits": {"count": 12}},
    "confirm_creations": {"The number that waits": {"count": 12}},
    "create_connection": _CONNECTIONS,
    "update_connection": _CONNECTIONS,
    "rotate_connection_credentials": _ROTATIONS,
    "test_unsaved_connection": _TESTS,
    "create_source": _SOURCES,
    "update_source": _SOURCES,
    "rotate_source_credentials": {"A new password": _ROTATIONS["A new password"]},
    "create_destination": _DESTINATIONS,
    "update_destination": _DESTINATIONS,
    "rotate_destination_credentials": _ROTATIONS,
    "test_connection": _TESTS,
    "create_pipeline": _PIPELINES,
    "preview_pipeline": _PIPELINES,
    "preview_delivery": _DELIVERIES,
    "deploy_delivery": _DELIVERIES,
    "update_delivery_mappings": _MAPPINGS,
    "update_destination_mappings": _MAPPINGS,
    "accept_restored_audit": {
        "After a restore": {"anchor": 0, "reason": "Restored the tables to 03:00 after the loss."}
    },
    "acknowledge_alert": {"With a note": {"note": "I look at the disk of the database."}},
    "silence_alert": {
        "For an hour": {"duration_seconds": 3600, "reason": "The database is moved to another host."},
        "Until it is over": {"reason": "Known, repaired tomorrow."},
    },
    "create_alert_rule": _RULES,
    "update_alert_rule": _RULES,
    "preview_alert_rule": {name: {"rule": body} for name, body in _RULES.items()},
    "create_maintenance": {
        "An hour on one team's systems": {
            "name": "Move of the shop database",
            "from": "2030-03-02T22:00:00.000Z",
            "until": "2030-03-02T23:00:00.000Z",
            "reason": "The database moves to another host.",
            "scope": {"labels": {"team": "shop"}},
        },
    },
    "create_channel": _CHANNELS,
    "update_channel": _CHANNELS,
    "test_unsaved_channel": {
        name: {"provider": body["provider"], "config": body["config"]}
        for name, body in _CHANNELS.items()
        if body["provider"] != "webhook"
    },
}


def bodies_of(operation: str) -> Bodies:
    """The examples of the body of an operation; empty when it has none."""
    return _ALL.get(operation, {})
