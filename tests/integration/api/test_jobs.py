"""Discovery and health: accepted at once, run later, stored."""

import pytest

from tests.support.api_assertions import is_timestamp, is_uuid
from tests.support.apps.sandbox import Sandbox

FIELDS = {
    "id", "kind", "status", "resource_type", "resource_id", "result", "error", "attempts", "correlation_id",
    "created_at",
    "started_at", "finished_at",
}  # fmt: skip


@pytest.mark.parametrize(("verb", "kind"), [("discover", "DISCOVERY"), ("health", "HEALTH")])
def test_a_request_is_accepted_with_a_pending_job_that_completes(sandbox: Sandbox, verb: str, kind: str) -> None:
    source = sandbox.admin.post_ok("/sources", sandbox.source_body())
    job = sandbox.admin.post_ok(f"/sources/{source['id']}/{verb}", status=202)
    assert set(job) == FIELDS
    assert is_uuid(job["id"])
    assert (job["kind"], job["status"], job["attempts"]) == (kind, "PENDING", 0)
    assert (job["resource_type"], job["resource_id"]) == ("source", source["id"])
    assert [job[name] for name in ("result", "error", "started_at", "finished_at")] == [None] * 4
    done = sandbox.finished_job(job)
    assert (done["status"], done["error"], done["attempts"]) == ("COMPLETED", None, 1)
    assert is_timestamp(done["started_at"])
    assert is_timestamp(done["finished_at"])


def test_discovery_fills_in_the_source(sandbox: Sandbox) -> None:
    source = sandbox.admin.post_ok("/sources", sandbox.source_body())
    done = sandbox.finished_job(sandbox.admin.post_ok(f"/sources/{source['id']}/discover", status=202))
    assert (done["result"]["tables"], done["result"]["cdc_ready_tables"], done["result"]["truncated"]) == (4, 3, False)
    after = sandbox.admin.get_ok(f"/sources/{source['id']}")
    assert (after["tables"], after["cdc_ready_tables"], after["version"]) == (4, 3, 1)
    assert is_timestamp(after["last_discovery_at"])


def test_a_discovery_reads_the_number_of_tables_that_was_asked_for_until_another_one_is(sandbox: Sandbox) -> None:
    source = sandbox.admin.post_ok("/sources", sandbox.source_body())
    for query, bound, tables in (("", 500, 4), ("?max_tables=3", 3, 3), ("", 3, 3), ("?max_tables=5000", 5000, 4)):
        job = sandbox.admin.post_ok(f"/sources/{source['id']}/discover{query}", status=202)
        result = sandbox.finished_job(job)["result"]
        assert (result["bound"], result["tables"], result["truncated"]) == (bound, tables, tables < 4)


@pytest.mark.parametrize("number", ["0", "5001", "-1", "many", "1.5", ""])
def test_a_discovery_of_a_wrong_number_of_tables_is_refused(sandbox: Sandbox, number: str) -> None:
    refused = sandbox.admin.post(f"/sources/{sandbox.source['id']}/discover?max_tables={number}")
    assert refused.status_code == 422
    assert refused.json()["error"]["details"][0]["location"] == ["query", "max_tables"]


def test_a_database_that_is_down_is_a_completed_job_with_a_bad_result(sandbox: Sandbox) -> None:
    source = sandbox.admin.post_ok("/sources", sandbox.source_body(config=sandbox.config(port=1)))
    done = sandbox.finished_job(sandbox.admin.post_ok(f"/sources/{source['id']}/health", status=202))
    assert (done["status"], done["error"], done["result"]["status"]) == ("COMPLETED", None, "UNHEALTHY")
    assert {check["status"] for check in done["result"]["checks"]} == {"failed", "skipped"}
    assert sandbox.admin.get_ok(f"/sources/{source['id']}")["status"] == "UNHEALTHY"


@pytest.mark.parametrize("change", [{"port": 1}, {"username": "nobody"}, {"database_name": "nowhere"}])
def test_a_discovery_that_cannot_read_fails_with_its_reason(sandbox: Sandbox, change: dict[str, object]) -> None:
    source = sandbox.admin.post_ok("/sources", sandbox.source_body(config=sandbox.config(**change)))
    done = sandbox.finished_job(sandbox.admin.post_ok(f"/sources/{source['id']}/discover", status=202))
    assert (done["status"], done["result"]) == ("FAILED", None)
    assert set(done["error"]) == {"code", "message"}
    assert done["error"]["code"] == "SOURCE_UNAVAILABLE"
    assert sandbox.admin.get_ok(f"/sources/{source['id']}")["tables"] is None
