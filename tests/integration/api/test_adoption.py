"""What somebody else has made in a source: taken only with consent, and then neither altered nor dropped.

The double of Connect makes slots and publications in a real PostgreSQL, as Debezium does.
"""

from collections.abc import Iterator

import httpx
import pytest

from tests.support.api_assertions import assert_error
from tests.support.apps.sandbox import Json, Sandbox
from tests.support.apps.sandbox_stack import DATABASE
from tests.support.waiting import eventually

ADOPTING = {"adopt_existing": True}


class Foreign:
    """A slot and a publication of somebody else, made when a test says so."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.name = sandbox.name("foreign").replace("-", "_")

    def run(self, statement: str) -> list[tuple[object, ...]]:
        with self.sandbox.postgresql.connect(DATABASE) as superuser:
            cursor = superuser.execute(statement.replace("NAME", self.name).encode())
            return cursor.fetchall() if cursor.description else []

    def make_slot(self) -> None:
        self.run("SELECT pg_create_logical_replication_slot('NAME', 'pgoutput')")

    def make_publication(self, tables: str = "shop.orders, shop.customers, shop.paths") -> None:
        self.run(f"CREATE PUBLICATION NAME FOR TABLE {tables}")

    @property
    def slot(self) -> list[tuple[object, ...]]:
        return self.run("SELECT active FROM pg_replication_slots WHERE slot_name = 'NAME'")

    @property
    def published(self) -> list[tuple[object, ...]]:
        return self.run("SELECT tablename, rowfilter FROM pg_publication_tables WHERE pubname = 'NAME' ORDER BY 1")

    def options(self, *names: str, **more: object) -> Json:
        return {"options": {**dict.fromkeys(names, self.name), **more}}


@pytest.fixture
def foreign(sandbox: Sandbox) -> Iterator[Foreign]:
    made = Foreign(sandbox)
    yield made
    eventually(lambda: made.slot in ([], [(False,)]))
    made.run("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = 'NAME'")
    made.run("DROP PUBLICATION IF EXISTS NAME")


def failing_checks(answer: httpx.Response) -> list[str]:
    details = assert_error(answer, 422, "SOURCE_NOT_READY")
    return [check["key"] for check in details["checks"] if check["status"] == "fail"]


def test_a_slot_of_somebody_else_is_refused_at_creation_and_at_the_deploy(sandbox: Sandbox, foreign: Foreign) -> None:
    draft = sandbox.new_pipeline(**foreign.options("slot_name"))
    foreign.make_slot()
    assert failing_checks(sandbox.admin.post(f"/pipelines/{draft['id']}/deploy")) == ["slot"]
    readiness = sandbox.admin.get_ok(f"/sources/{draft['source_id']}/cdc-readiness?pipeline_id={draft['id']}")
    assert [check["key"] for check in readiness["checks"] if check["status"] == "fail"] == ["slot"]
    assert sandbox.admin.delete(f"/pipelines/{draft['id']}?drop_slot=true").status_code == 204
    refused = sandbox.admin.post("/pipelines", sandbox.pipeline_body(**foreign.options("slot_name")))
    assert failing_checks(refused) == ["slot"]
    assert foreign.slot == [(False,)]


def test_a_refused_deploy_succeeds_once_the_slot_is_gone_and_then_the_slot_is_the_pipelines(
    sandbox: Sandbox, foreign: Foreign
) -> None:
    draft = sandbox.new_pipeline(**foreign.options("slot_name"))
    foreign.make_slot()
    assert failing_checks(sandbox.admin.post(f"/pipelines/{draft['id']}/deploy")) == ["slot"]
    foreign.run("SELECT pg_drop_replication_slot('NAME')")
    sandbox.admin.post_ok(f"/pipelines/{draft['id']}/deploy", status=200)
    eventually(lambda: foreign.slot == [(True,)])
    assert sandbox.admin.delete(f"/pipelines/{draft['id']}?drop_slot=true").status_code == 204
    assert foreign.slot == []


def test_an_adopted_slot_is_read_from_and_never_dropped(sandbox: Sandbox, foreign: Foreign) -> None:
    foreign.make_slot()
    pipeline = sandbox.running_pipeline(**foreign.options("slot_name", **ADOPTING))
    assert pipeline["options"]["adopt_existing"] is True
    eventually(lambda: foreign.slot == [(True,)])
    # A second deploy, and the readiness of what runs, ask for nothing more.
    sandbox.admin.post_ok(f"/pipelines/{pipeline['id']}/deploy", status=200)
    readiness = sandbox.admin.get_ok(f"/sources/{pipeline['source_id']}/cdc-readiness?pipeline_id={pipeline['id']}")
    assert [check["key"] for check in readiness["checks"] if check["status"] == "fail"] == []
    assert sandbox.admin.delete(f"/pipelines/{pipeline['id']}?drop_slot=true").status_code == 204
    eventually(lambda: foreign.slot == [(False,)])
    after = sandbox.audit_records(pipeline["id"])[0]["after"]
    assert (after["slot_dropped"], after["kept"]["slot_name"]) == (False, foreign.name)
    assert "adopted" in after["slot_message"]


def test_a_publication_of_somebody_else_is_refused_and_an_adopted_one_is_not_altered(
    sandbox: Sandbox, foreign: Foreign
) -> None:
    options = foreign.options("publication_name")
    draft = sandbox.new_pipeline(**options)
    foreign.make_publication()
    before = foreign.published
    assert failing_checks(sandbox.admin.post(f"/pipelines/{draft['id']}/deploy")) == ["publication"]
    assert sandbox.admin.delete(f"/pipelines/{draft['id']}").status_code == 204
    assert failing_checks(sandbox.admin.post("/pipelines", sandbox.pipeline_body(**options))) == ["publication"]

    pipeline = sandbox.running_pipeline(**foreign.options("publication_name", **ADOPTING))
    slot = pipeline["options"]["slot_name"]
    eventually(lambda: foreign.run(f"SELECT 1 FROM pg_replication_slots WHERE slot_name = '{slot}' AND active"))
    assert (pipeline["options"]["publication_mode"], foreign.published) == ("filtered", before)
    config = sandbox.doubles.connect_double.config_of(pipeline["connector_name"])
    assert config["publication.autocreate.mode"] == "disabled"
    # Its slot was not there before: it is the pipeline's own.
    assert sandbox.admin.delete(f"/pipelines/{pipeline['id']}?drop_slot=true").status_code == 204
    assert foreign.run(f"SELECT 1 FROM pg_replication_slots WHERE slot_name = '{slot}'") == []
    assert foreign.published == before


def test_an_adopted_publication_needs_the_captured_tables(sandbox: Sandbox, foreign: Foreign) -> None:
    foreign.make_publication("shop.orders")
    body = sandbox.pipeline_body(**foreign.options("publication_name", **ADOPTING))
    assert failing_checks(sandbox.admin.post("/pipelines", body)) == ["publication_tables"]


def test_what_the_pipeline_made_itself_needs_no_consent(sandbox: Sandbox, foreign: Foreign) -> None:
    pipeline = sandbox.running_pipeline(**foreign.options("slot_name", "publication_name"))
    eventually(lambda: foreign.slot == [(True,)])
    config = sandbox.doubles.connect_double.config_of(pipeline["connector_name"])
    assert config["publication.autocreate.mode"] == "filtered"
    sandbox.doubles.connect_double.drop(pipeline["connector_name"])
    eventually(lambda: foreign.slot == [(False,)])
    sandbox.admin.post_ok(f"/pipelines/{pipeline['id']}/deploy", status=200)
    eventually(lambda: foreign.slot == [(True,)])
    assert sandbox.admin.delete(f"/pipelines/{pipeline['id']}?drop_slot=true").status_code == 204
    assert foreign.slot == []
