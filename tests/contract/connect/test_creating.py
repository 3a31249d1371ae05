"""Creating, reading and deleting connectors."""

from tests.contract.conftest import Shop
from tests.support.apps.doubles import ConnectView
from tests.support.waiting import eventually


def test_a_connector_created_stopped_becomes_stopped_and_contacts_nothing(shop: Shop, connect: ConnectView) -> None:
    config = shop.source()
    response = connect.create(config)
    assert response.status_code == 201
    assert response.headers["Location"].endswith(f"/connectors/{config['name']}")
    assert response.json() == {"name": config["name"], "config": config, "tasks": [], "type": "source"}
    connect.wait_for_states(config["name"], "STOPPED")
    assert shop.slots() == {}


def test_right_after_creation_there_may_be_no_status_yet(shop: Shop, connect: ConnectView) -> None:
    config = shop.source()
    connect.create(config)
    response = connect.call("GET", f"/connectors/{config['name']}/status")
    if response.status_code != 200:
        message = f"No status found for connector {config['name']}"
        assert response.json() == {"error_code": 404, "message": message}
    connect.wait_for_states(config["name"], "STOPPED")


def test_a_connector_created_without_initial_state_runs(shop: Shop, connect: ConnectView) -> None:
    config = shop.source()
    assert connect.create(config, state=None).status_code == 201
    connect.wait_for_states(config["name"], "RUNNING", "RUNNING")


def test_a_connector_created_paused_has_no_task(shop: Shop, connect: ConnectView) -> None:
    config = shop.source()
    connect.create(config, state="PAUSED")
    connect.wait_for_states(config["name"], "PAUSED")


def test_a_second_creation_is_a_conflict_even_with_another_configuration(shop: Shop, connect: ConnectView) -> None:
    config = shop.source()
    connect.create(config)
    response = connect.create({**config, "tasks.max": "2"})
    assert response.status_code == 409
    assert response.json()["message"] == f"Connector {config['name']} already exists"
    assert connect.call("GET", f"/connectors/{config['name']}/config").json() == config


def test_unknown_keys_are_stored_and_references_are_returned_unchanged(shop: Shop, connect: ConnectView) -> None:
    config = shop.source()
    connect.create(config)
    shown = connect.call("GET", f"/connectors/{config['name']}").json()["config"]
    assert shown == config
    assert shown["headgate.owner"] == "contract"
    assert shown["database.password"].startswith("${headgate:")


def test_a_deleted_connector_is_not_found_and_its_status_soon_disappears(
    stopped: dict[str, str], connect: ConnectView
) -> None:
    assert connect.call("DELETE", f"/connectors/{stopped['name']}").status_code == 204
    assert connect.call("GET", f"/connectors/{stopped['name']}").status_code == 404
    again = connect.call("DELETE", f"/connectors/{stopped['name']}")
    assert (again.status_code, again.json()["message"]) == (404, f"Connector {stopped['name']} not found")
    eventually(lambda: connect.states(stopped["name"])[0], lambda state: state == "none")


def test_a_deleted_source_frees_its_slot_and_leaves_it(shop: Shop, connect: ConnectView) -> None:
    config = shop.source()
    connect.create(config, state=None)
    connect.wait_for_states(config["name"], "RUNNING", "RUNNING")
    eventually(shop.slots, lambda slots: slots == {config["slot.name"]: True})
    connect.remove(config["name"])
    eventually(shop.slots, lambda slots: slots == {config["slot.name"]: False})


def test_a_configuration_under_another_name_is_refused(shop: Shop, connect: ConnectView) -> None:
    config = shop.source()
    response = connect.call("POST", "/connectors", {"name": "other", "config": config})
    assert response.status_code == 400
    assert "doesn't match connector name in the URL (other)" in response.json()["message"]


def test_a_class_that_no_plugin_offers_is_refused(connect: ConnectView) -> None:
    response = connect.call("POST", "/connectors", {"name": "x", "config": {"connector.class": "org.example.Nothing"}})
    assert response.status_code == 400
    assert "Failed to find any class that implements Connector" in response.json()["message"]


def test_a_body_that_is_no_json_is_500(connect: ConnectView) -> None:
    response = connect.http.post(f"{connect.url}/connectors", content="{", headers={"Content-Type": "application/json"})
    assert response.status_code == 500
    assert response.json()["error_code"] == 500


def test_a_body_of_another_content_type_is_415(connect: ConnectView) -> None:
    response = connect.http.post(f"{connect.url}/connectors", content="a=b", headers={"Content-Type": "text/plain"})
    assert response.status_code == 415
