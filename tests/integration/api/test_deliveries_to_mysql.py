"""Previews and deploys of deliveries from PostgreSQL to a real MySQL, with the doubles of Kafka and Kafka Connect."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.api_assertions import assert_error, validation_error
from tests.support.apps.sandbox import Json, Sandbox
from tests.support.databases.mysql import MySQLServer, mysql_or_skip
from tests.support.databases.mysql_target import MySQLCopy, open_mysql_copy


@pytest.fixture(scope="module")
def server() -> Iterator[MySQLServer]:
    with mysql_or_skip() as running:
        yield running


@pytest.fixture
def copy(server: MySQLServer) -> Iterator[MySQLCopy]:
    with open_mysql_copy(server) as opened:
        yield opened


def register(sandbox: Sandbox, copy: MySQLCopy, **config: Any) -> Json:
    return sandbox.new_destination(
        provider="mysql",
        config=sandbox.config(copy.name, copy.role, port=copy.server.port, **config),
        credentials={"password": copy.password},
    )


def body_of(sandbox: Sandbox, table: str = "orders", **changes: Any) -> Json:
    """A delivery of the pipeline's first topic, without a schema: it has none in MySQL."""
    mapping = {"topic": sandbox.pipeline["topics"][0], "table_name": table}
    return sandbox.delivery_body(sandbox.pipeline, mappings=[mapping], **changes)


def post(sandbox: Sandbox, destination: Json, verb: str, body: Json) -> Any:
    return sandbox.admin.post(f"/destinations/{destination['id']}/{verb}", body)


def test_a_delivery_is_previewed_and_deployed(sandbox: Sandbox, copy: MySQLCopy) -> None:
    destination = register(sandbox, copy)
    preview = post(sandbox, destination, "preview", body_of(sandbox))
    assert preview.status_code == 200, preview.text
    assert copy.password not in preview.text
    config = preview.json()["config"]
    assert config["connection.url"].startswith(f"jdbc:mysql://127.0.0.1:{copy.server.port}/{copy.name}?")
    assert config["collection.name.format"] == "`${topic}`"
    (proposed,) = preview.json()["target_ddl"]
    copy.run(proposed["statement"])
    options = {"auto_create": False, "auto_evolve": False}
    deployed = post(sandbox, destination, "deploy", body_of(sandbox, **options))
    assert deployed.status_code == 201, deployed.text
    assert deployed.json()["mappings"][0]["schema_name"] == copy.name
    assert sandbox.admin.delete(f"/deliveries/{deployed.json()['id']}").status_code == 204


def test_a_target_that_is_not_ready_is_refused_with_the_statement_that_makes_it(
    sandbox: Sandbox, copy: MySQLCopy
) -> None:
    copy.run("CREATE TABLE orders (id BIGINT, customer TEXT, amount INT)")
    response = post(sandbox, register(sandbox, copy), "preview", body_of(sandbox))
    details = assert_error(response, 422, "TARGET_NOT_READY")
    assert "ADD PRIMARY KEY" in response.json()["error"]["message"]
    assert details["target_ddl"][0]["statement"].startswith(f"CREATE TABLE `{copy.name}`.`orders`")


@pytest.mark.parametrize(
    ("mapping", "field", "type_"),
    [
        ({"schema_name": "other"}, "schema_name", "other_database"),
        ({"table_name": "a`b"}, "table_name", "characters"),
        ({"table_name": "a.b"}, "table_name", "dot"),
        ({"table_name": "a:b"}, "table_name", "characters"),
    ],
)
def test_a_mapping_that_the_sink_cannot_carry_is_refused_at_its_place(
    sandbox: Sandbox, copy: MySQLCopy, mapping: Json, field: str, type_: str
) -> None:
    destination, body = register(sandbox, copy), body_of(sandbox)
    body["mappings"] = [{**body["mappings"][0], **mapping}]
    for verb in ("preview", "deploy"):
        assert validation_error(post(sandbox, destination, verb, body), "body", "mappings", 0, field) == type_


def test_a_server_whose_certificate_cannot_be_verified_is_not_written_to(sandbox: Sandbox, copy: MySQLCopy) -> None:
    destination = register(sandbox, copy, ssl_mode="verify-full")
    response = post(sandbox, destination, "preview", body_of(sandbox))
    # The server's certificate is its own: it cannot be verified.
    assert response.status_code == 503
    assert "certificate" in response.json()["error"]["message"]


def test_a_table_has_one_writer_also_under_another_name_of_the_server(sandbox: Sandbox, copy: MySQLCopy) -> None:
    first, second = register(sandbox, copy), register(sandbox, copy, host="localhost")
    deployed = post(sandbox, first, "deploy", body_of(sandbox))
    assert deployed.status_code == 201, deployed.text
    for verb in ("preview", "deploy"):
        assert_error(post(sandbox, second, verb, body_of(sandbox)), 409, "TARGET_TABLE_CONFLICT")
    assert sandbox.admin.delete(f"/deliveries/{deployed.json()['id']}").status_code == 204


def test_a_test_of_the_destination_names_the_server(sandbox: Sandbox, copy: MySQLCopy) -> None:
    tested = sandbox.admin.post_ok(f"/destinations/{register(sandbox, copy)['id']}/test", status=200)
    assert tested["success"] is True
    assert tested["server_version"].startswith("8.0")
