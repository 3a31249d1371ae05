"""Mistakes with sources and pipelines."""

from tests.support.api_assertions import UNKNOWN_ID
from tests.support.mistakes.senders import Mistake, duplicate, pipeline, post, preview, source

UUID_FORM = "an id as the lists of this API show it: a UUID in lower case with dashes"
SSL_MODES = ["disable", "prefer", "require", "verify-ca", "verify-full"]
REGISTERING = (
    # Sources.
    Mistake(
        name="the provider has another name",
        send=source(provider="postgres"),
        message="provider has to be one of these: postgresql, mysql. Did you mean postgresql?",
        more={"allowed": ["postgresql", "mysql"], "did_you_mean": "postgresql"},
    ),
    Mistake(
        name="the port is text",
        send=source(config={"port": "default"}),
        message="config.port has to be an integer from 1 to 65535.",
    ),
    Mistake(
        name="the port is too large",
        send=source(config={"port": 70000}),
        message="config.port has to be an integer from 1 to 65535.",
        more={"limit": 65535},
    ),
    Mistake(
        name="a text holds a reference",
        send=source(config={"username": "${DB_USER}"}),
        message="No text may hold a dollar sign before an opening brace: Kafka Connect would read it as a reference to "
        "a secret. Remove it.",
    ),
    Mistake(
        name="the host is called hostname",
        send=source(config={"hostname": "db"}),
        message="config has no field hostname. Did you mean host?",
        more={"did_you_mean": "host"},
    ),
    Mistake(
        name="the host is a URL",
        send=source(config={"host": "postgres://db.example.com/shop"}),
        message="config.host has to be a host name or an IP address, without a scheme, a port or a path, such as "
        "db.example.com.",
    ),
    Mistake(
        name="ssl_mode has the word of another driver",
        send=source(config={"ssl_mode": "required"}),
        message="config.ssl_mode has to be one of these: disable, prefer, require, verify-ca, verify-full. Did you "
        "mean require?",
        more={"allowed": SSL_MODES, "did_you_mean": "require"},
    ),
    Mistake(
        name="the name is missing",
        send=post("/sources", {"provider": "postgresql"}),
        message="Give name.",
    ),
    Mistake(
        name="the name is empty",
        send=source(name="  "),
        message="name must not be empty.",
        more={"limit": 1},
    ),
    Mistake(
        name="the name is too long",
        send=source(name="x" * 201),
        message="name has to be text of at most 200 characters.",
        more={"limit": 200},
    ),
    Mistake(
        name="the timeout is in milliseconds",
        send=source(config={"connection_timeout_seconds": 5000}),
        message="config.connection_timeout_seconds has to be an integer from 1 to 30.",
        more={"limit": 30},
    ),
    Mistake(
        name="the name is taken",
        send=duplicate,
        status=409,
        message="Another source has this name, in whatever case. Choose another name.",
    ),
    # Pipelines.
    Mistake(
        name="the topic prefix has a slash",
        send=pipeline(topic_prefix="shop/eu"),
        message="topic_prefix has to be letters, digits, dots, underscores and dashes, without a slash, such as shop.",
    ),
    Mistake(
        name="no table is chosen",
        send=pipeline(tables=[]),
        message="tables must not be empty.",
        more={"limit": 1},
    ),
    Mistake(
        name="a table is text",
        send=pipeline(tables=["shop.orders"]),
        message="tables[0] has to be a JSON object.",
    ),
    Mistake(
        name="table_name holds the schema too",
        send=pipeline(tables=[{"schema_name": "shop", "table_name": "shop.orders"}]),
        message="A table is not among those that discovery saw. Did you mean shop.orders? Else run discovery.",
        more={"did_you_mean": "shop.orders"},
    ),
    Mistake(
        name="a table is misspelled",
        send=pipeline(tables=[{"schema_name": "shop", "table_name": "oders"}]),
        message="A table is not among those that discovery saw. Did you mean shop.orders? Else run discovery.",
        more={"did_you_mean": "shop.orders"},
    ),
    Mistake(
        name="the snapshot mode is unknown",
        send=pipeline(snapshot_mode="initial_load"),
        message="snapshot_mode has to be one of these: initial, initial_only, no_data, when_needed, always. Did you "
        "mean initial?",
        more={"did_you_mean": "initial"},
    ),
    Mistake(
        name="the converter is avro",
        send=pipeline(converter="avro"),
        message="converter has to be one of these: json_schema, json.",
        more={"allowed": ["json_schema", "json"]},
    ),
    Mistake(
        name="an id is a number",
        send=pipeline(source_id="1"),
        message=f"source_id has to be {UUID_FORM}.",
    ),
    Mistake(
        name="the source does not exist",
        send=pipeline(source_id=UNKNOWN_ID),
        message="The source that this refers to does not exist. The list of them shows their ids.",
    ),
    *(
        Mistake(
            name=f"the property {key} has a field of its own",
            send=send(properties={key: "x"}),
            message=f"{key} is not set as a property. Set {option} instead.",
            more={"option": option},
        )
        for key, option, send in (
            ("snapshot.mode", "snapshot_mode", pipeline),
            ("heartbeat.interval.ms", "options.heartbeat_interval_ms", preview),
            ("max.batch.size", "options.max_batch_size", pipeline),
            ("publication.name", "options.publication_name", pipeline),
            ("slot.name", "options.slot_name", preview),
            ("table.include.list", "tables", pipeline),
            ("tombstones.on.delete", "options.tombstones_on_delete", pipeline),
            ("decimal.handling.mode", "representation", pipeline),
            ("event.processing.failure.handling.mode", "options.on_conversion_error", pipeline),
            ("topic.prefix", "topic_prefix", pipeline),
        )
    ),
    Mistake(
        name="a property holds the password",
        send=pipeline(properties={"database.password": "hunter2"}),
        message="database.password is not set here: the source has the address and the credentials.",
        more={"option": "source_id"},
    ),
    Mistake(
        name="an allowed property has another value",
        send=pipeline(properties={"skip.messages.without.change": "yes"}),
        message="skip.messages.without.change: it has to be one of these: true, false.",
        more={"allowed": ["true", "false"]},
    ),
    Mistake(
        name="an allowed property is misspelled",
        send=pipeline(properties={"snapshot.max.thread": "2"}),
        message="A property is not among those that may be set. Did you mean snapshot.max.threads?",
        more={"did_you_mean": "snapshot.max.threads"},
    ),
    Mistake(
        name="an option is one of MySQL",
        send=pipeline(options={"server_id": 5}),
        message="Leave options.server_id out: this provider does not have it. Options of its own are adopt_existing, "
        "publication_mode, publication_name, slot_name.",
    ),
)
"""Each sentence is the whole one, or a part where it lists much."""
