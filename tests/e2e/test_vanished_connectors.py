"""A connector that somebody deletes in Kafka Connect, on the real stack: what is shown, and when it is back."""

import time
from collections.abc import Iterator

import httpx
import pytest

from tests.support.apps.real_headgate import Json, RealDatabase, RealHeadgate
from tests.support.waiting import eventually

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def source(headgate: RealHeadgate) -> RealDatabase:
    table = ("CREATE TABLE shop.orders (id int PRIMARY KEY)", "ALTER TABLE shop.orders OWNER TO {role}")
    return headgate.database("vanish", *table)


@pytest.fixture(scope="module")
def pipeline(headgate: RealHeadgate, source: RealDatabase) -> Iterator[Json]:
    pipeline = headgate.captured(source, "orders")
    headgate.until_state(f"/pipelines/{pipeline['id']}/status?fresh=true", "RUNNING")
    yield pipeline
    headgate.delete_pipeline(pipeline, source)


def vanish(headgate: RealHeadgate, pipeline: Json) -> None:
    """The connector is deleted without Headgate."""
    url = f"{headgate.stack.addresses.connect}/connectors/{pipeline['connector_name']}"
    assert httpx.delete(url, timeout=30).status_code == 204


def after_a_tick(headgate: RealHeadgate, path: str) -> Json:
    """What is shown after the next tick: the schedule sends some only once a minute."""
    headgate.tick()
    time.sleep(6)
    return dict(headgate.get(path))


def test_it_is_created_again_and_runs(headgate: RealHeadgate, pipeline: Json) -> None:
    path = f"/pipelines/{pipeline['id']}"

    def recreated() -> list[str]:
        """Who has created it again; two ticks may follow each other closely, so nothing is asked in between."""
        after_a_tick(headgate, path)
        trail = headgate.get(f"/audit?resource_id={pipeline['id']}&meaningful=true")
        found = [one for one in trail if one["action"] == "pipeline.recreate" and one["outcome"] == "success"]
        return [one["actor"]["via"] for one in found]

    vanish(headgate, pipeline)
    assert eventually(recreated, seconds=60) == ["system"]
    eventually(lambda: after_a_tick(headgate, path), lambda one: one["observed_state"] == "RUNNING", seconds=60)


def test_one_that_cannot_be_created_is_not_deployed_with_reasons_and_a_deploy_tries_at_once(
    headgate: RealHeadgate, source: RealDatabase, pipeline: Json
) -> None:
    path = f"/pipelines/{pipeline['id']}"
    headgate.until_state(f"{path}/status?fresh=true", "RUNNING")
    source.run("ALTER ROLE {role} PASSWORD 'another one'")
    try:
        vanish(headgate, pipeline)
        began = time.monotonic()
        seen = eventually(
            lambda: after_a_tick(headgate, path),
            lambda one: one["observed_state"] == "NOT_DEPLOYED" and one["last_error"] is not None,
            seconds=60,
        )
        assert time.monotonic() - began < 60
        assert seen["reasons"][0] == "The connector does not exist in Kafka Connect."
        assert seen["last_error"]["message"] in seen["reasons"][1]
        assert "next try at" in seen["reasons"][2]
        while time.monotonic() - began < 100:
            after_a_tick(headgate, path)
        trail = headgate.get(f"/audit?resource_id={pipeline['id']}&meaningful=true")
        failed = [one for one in trail if one["action"] == "pipeline.recreate" and one["outcome"] == "failed"]
        assert 1 <= len(failed) <= 3
    finally:
        source.run(f"ALTER ROLE {{role}} PASSWORD '{source.password}'")
    headgate.post(f"{path}/deploy")
    # The last look at the source was while its password was wrong, and says so for a minute: so Connect's own state.
    eventually(
        lambda: headgate.get(f"{path}/status?fresh=true")["connector"],
        lambda one: bool(one and one["state"] == "RUNNING"),
    )
    assert headgate.get(path)["last_error"] is None
