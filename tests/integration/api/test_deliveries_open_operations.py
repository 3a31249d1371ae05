"""Deliveries whose operations are open or fail."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from infra.local.doubles.connect_faults import FaultEffect
from tests.support.api_assertions import assert_error
from tests.support.apps.sandbox import Json, Sandbox


@contextmanager
def open_deploy(sandbox: Sandbox) -> Iterator[Json]:
    """The response to a deploy whose outcome is unknown; Connect does not respond inside the block."""
    double, destination = sandbox.doubles.connect_double, sandbox.new_destination()
    path, body = f"/destinations/{destination['id']}/deploy", sandbox.delivery_body(sandbox.pipeline)
    faults = [
        double.plant(FaultEffect.LOSE_REPLY, "POST", "/connectors$"),
        double.plant(FaultEffect.NOT_READY, "GET", "/connectors/headgate-sink-[0-9a-f]+/config", times=100, skip=1),
    ]
    try:
        response = sandbox.admin.post(path, body)
        assert (response.status_code, response.json()["open_operation"]["kind"]) == (202, "deploy")
        assert response.headers["Location"] == f"/api/v1/deliveries/{response.json()['id']}"
        yield response.json()
    finally:
        for fault in faults:
            fault.release()


def test_a_delivery_is_shown_while_its_deploy_is_open(sandbox: Sandbox) -> None:
    with open_deploy(sandbox) as created:
        path = f"/deliveries/{created['id']}"
        shown = sandbox.admin.get_ok(path)
        assert (shown["desired_state"], shown["open_operation"]) == ("DRAFT", created["open_operation"])
        assert (shown["mappings"], shown["connector_name"]) == (created["mappings"], created["connector_name"])
        status = sandbox.admin.get_ok(f"{path}/status")
        assert (status["delivery_id"], status["desired_state"]) == (created["id"], "DRAFT")
        assert status["observed_state"] != "RUNNING"


def test_a_delivery_cannot_be_changed_while_its_deploy_is_open(sandbox: Sandbox) -> None:
    with open_deploy(sandbox) as created:
        own = f"/deliveries/{created['id']}"
        below_destination = f"/destinations/{created['destination_id']}/deliveries/{created['id']}"
        mappings = {"mappings": created["mappings"]}
        for path in (f"{own}/pause", f"{own}/resume", f"{own}/restart", f"{own}/restart-task?task=0"):
            assert_error(sandbox.admin.post(path), 409, "OPERATION_IN_PROGRESS")
        for path in (own, below_destination):
            assert_error(sandbox.admin.delete(path), 409, "OPERATION_IN_PROGRESS")
            assert_error(sandbox.admin.put(f"{path}/mappings", mappings), 409, "OPERATION_IN_PROGRESS")


def test_an_open_deploy_is_found_only_by_its_own_id_and_destination(sandbox: Sandbox) -> None:
    with open_deploy(sandbox) as created:
        other = sandbox.new_destination()["id"]
        assert_error(sandbox.admin.delete(f"/destinations/{other}/deliveries/{created['id']}"), 404, "NOT_FOUND")
        assert_error(sandbox.admin.get(f"/deliveries/{created['open_operation']['id']}"), 404, "NOT_FOUND")


@pytest.mark.parametrize("verb", ["pause", "restart"])
def test_a_sink_with_an_open_operation_is_reported_with_its_error(sandbox: Sandbox, verb: str) -> None:
    delivery = sandbox.new_delivery()
    path = f"/destinations/{delivery['destination_id']}/{verb}?delivery_id={delivery['id']}"
    fault = sandbox.doubles.connect_double.plant(
        FaultEffect.LOSE_REPLY, None, f"{delivery['connector_name']}/{verb}", times=100
    )
    try:
        [outcome] = sandbox.admin.post(path).json()["deliveries"]
    finally:
        fault.release()
    assert outcome["error"]["code"] == "OPERATION_IN_PROGRESS"
