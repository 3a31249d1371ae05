"""Control and status of deliveries, by their own paths and by those of their destination."""

from tests.integration.api.resource_fields import DELIVERY, both_states
from tests.support.api_assertions import assert_error, validation_error
from tests.support.apps.sandbox import Sandbox
from tests.support.waiting import eventually

STATUS = {
    "id", "delivery_id", "name", "connector_name", "desired_state", "observed_state", "observed_at", "connector",
    "tasks", "reasons", "notices", "progress",
}  # fmt: skip


def test_a_delivery_is_controlled_by_its_own_paths(sandbox: Sandbox) -> None:
    path = f"/deliveries/{sandbox.new_delivery()['id']}"
    for verb, states in (("pause", "PAUSED"), ("resume", "RUNNING"), ("restart", "RUNNING")):
        response = sandbox.admin.post(f"{path}/{verb}")
        assert (response.status_code, set(response.json())) == (200, DELIVERY), response.text
        assert both_states(response.json()) == (states, states)
    assert sandbox.admin.post(f"{path}/restart-task?task=0").status_code == 200
    assert_error(sandbox.admin.post(f"{path}/restart-task?task=7"), 404, "NOT_FOUND")
    status = sandbox.admin.get_ok(f"{path}/status")
    assert set(status) == STATUS
    assert both_states(status) == ("RUNNING", "RUNNING")


def test_a_delivery_is_controlled_by_the_paths_of_its_destination(sandbox: Sandbox) -> None:
    delivery = sandbox.new_delivery()
    path = f"/destinations/{delivery['destination_id']}"
    for verb, states in (("pause", "PAUSED"), ("resume", "RUNNING"), ("restart", "RUNNING")):
        for query in ("", f"?delivery_id={delivery['id']}"):
            response = sandbox.admin.post(f"{path}/{verb}{query}")
            assert response.status_code == 200, response.text
            outcome = {"id": delivery["id"], "desired_state": states, "observed_state": states, "error": None}
            assert response.json() == {"deliveries": [outcome]}
    task = f"{path}/deliveries/{delivery['id']}/tasks"
    assert sandbox.admin.post(f"{task}/0/restart").status_code == 200
    for unknown in ("7", "x", "-1", "01", "999999999999"):
        assert_error(sandbox.admin.post(f"{task}/{unknown}/restart"), 404, "NOT_FOUND")


def test_a_delivery_of_another_destination_is_not_found(sandbox: Sandbox) -> None:
    delivery, other = sandbox.new_delivery(), sandbox.destination["id"]
    path = f"/destinations/{other}/deliveries/{delivery['id']}"
    assert_error(sandbox.admin.delete(path), 404, "NOT_FOUND")
    assert_error(sandbox.admin.put(f"{path}/mappings", {"mappings": delivery["mappings"]}), 404, "NOT_FOUND")
    assert_error(sandbox.admin.post(f"{path}/tasks/0/restart"), 404, "NOT_FOUND")
    assert_error(sandbox.admin.post(f"/destinations/{other}/pause?delivery_id={delivery['id']}"), 404, "NOT_FOUND")
    validation_error(sandbox.admin.post(f"/destinations/{other}/pause?delivery_id=x"), "query", "delivery_id")


def test_one_failing_sink_does_not_stop_the_others(sandbox: Sandbox) -> None:
    destination = sandbox.new_destination()
    first, second = (sandbox.new_delivery(destination) for _ in range(2))
    sandbox.doubles.connect_double.drop(second["connector_name"])
    response = sandbox.admin.post(f"/destinations/{destination['id']}/pause")
    assert response.status_code == 200, response.text
    by_id = {delivery["id"]: delivery for delivery in response.json()["deliveries"]}
    assert (by_id[first["id"]]["desired_state"], by_id[first["id"]]["error"]) == ("PAUSED", None)
    failed = by_id[second["id"]]
    assert failed["desired_state"] == "RUNNING"
    assert set(failed["error"]) == {"code", "message"}
    assert failed["error"]["code"] == "STATE_CONFLICT"
    status = sandbox.admin.get_ok(f"/destinations/{destination['id']}/status")
    assert set(status) == {"destination_id", "desired_state", "observed_state", "deliveries"}
    seen = {delivery["id"]: delivery["observed_state"] for delivery in status["deliveries"]}
    assert seen == {first["id"]: "PAUSED", second["id"]: "NOT_DEPLOYED"}


def test_a_failed_sink_is_not_shown_as_running(sandbox: Sandbox) -> None:
    delivery = sandbox.new_delivery()
    sandbox.doubles.connect_double.fail_task(delivery["connector_name"], "java.lang.RuntimeException: planted-text")
    status = eventually(
        lambda: sandbox.admin.get_ok(f"/destinations/{delivery['destination_id']}/status"),
        lambda seen: seen["observed_state"] != "RUNNING",
    )
    assert status["observed_state"] == status["deliveries"][0]["observed_state"] == "FAILED"
    assert "planted" not in str(status)


def test_a_destination_without_deliveries_has_nothing_to_control(sandbox: Sandbox) -> None:
    assert sandbox.admin.post(f"/destinations/{sandbox.new_destination()['id']}/pause").json() == {"deliveries": []}
