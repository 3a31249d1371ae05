"""Labels of everything that people register, and lists that are filtered by them and by names."""

import pytest

from tests.integration.api.registered_kinds import KINDS, REPLACEABLE, create, new_body
from tests.support.api_assertions import assert_error
from tests.support.apps.sandbox import Sandbox


@pytest.mark.parametrize("kind", KINDS)
def test_labels_are_shown_as_they_were_given(sandbox: Sandbox, kind: str) -> None:
    labels = {"team": "shop", "cost-centre/unit": "", "app.example/tier": "Größe: 1"}
    created = create(sandbox, kind, labels)
    assert created["labels"] == labels
    assert sandbox.admin.get_ok(f"{kind}/{created['id']}")["labels"] == labels


@pytest.mark.parametrize("kind", REPLACEABLE)
def test_a_put_replaces_the_labels_and_removes_those_that_it_leaves_out(sandbox: Sandbox, kind: str) -> None:
    created, body = create(sandbox, kind, {"team": "shop"}), new_body(sandbox, kind)
    path = f"{kind}/{created['id']}"
    assert sandbox.admin.put(path, {**body, "labels": {"team": "lake"}}).json()["labels"] == {"team": "lake"}
    assert created["id"] in _found(sandbox, kind, label="team:lake")
    assert sandbox.admin.put(path, body).json()["labels"] == {}
    assert created["id"] not in _found(sandbox, kind, label="team")


def test_new_mappings_of_a_delivery_leave_its_labels_alone(sandbox: Sandbox) -> None:
    delivery = create(sandbox, "/deliveries", {"team": "shop"})
    mappings = {"mappings": [sandbox.mapping(delivery["topics"][0])]}
    assert sandbox.admin.put(f"/deliveries/{delivery['id']}/mappings", mappings).json()["labels"] == {"team": "shop"}


@pytest.mark.parametrize(
    "labels",
    [
        {f"key-{number}": "" for number in range(17)},
        {"Team": "shop"},
        {"": "shop"},
        {"team:name": "shop"},
        {"k" * 64: "shop"},
        {"team": "v" * 64},
        {"team": "two\nlines"},
        {"team": "hidden\u200bspace"},
        {"team": 1},
        {"team": None},
        {"team": "${env:SECRET}"},
        ["team"],
        None,
    ],
    ids=repr,
)
def test_labels_with_another_form_are_refused(sandbox: Sandbox, labels: object) -> None:
    refused = sandbox.admin.post("/sources", {**sandbox.source_body(), "labels": labels})
    [fault] = assert_error(refused, 422, "VALIDATION_FAILED")
    assert fault["location"] == ["body", "labels"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_list_is_filtered_by_labels_that_all_have_to_hold(sandbox: Sandbox, kind: str) -> None:
    team = sandbox.name("team")
    prod = create(sandbox, kind, {"team": team, "stage": "prod"})["id"]
    test = create(sandbox, kind, {"team": team, "stage": ""})["id"]
    create(sandbox, kind, {"team": f"{team}-of-another-name", "stages": "prod"})
    assert _found(sandbox, kind, label=f"team:{team}") == [test, prod]
    assert _found(sandbox, kind, label=[f"team:{team}", "stage"]) == [test, prod]
    assert _found(sandbox, kind, label=[f"team:{team}", "stage:prod"]) == [prod]
    assert _found(sandbox, kind, label=[f"team:{team}", "stage:"]) == [test]
    assert _found(sandbox, kind, label=f"team:{team}", q="no such name") == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_list_is_searched_by_part_of_the_name_in_any_case(sandbox: Sandbox, kind: str) -> None:
    created = create(sandbox, kind, {})
    assert _found(sandbox, kind, q=created["name"].upper()[1:]) == [created["id"]]


def test_a_filtered_list_goes_on_page_after_page(sandbox: Sandbox) -> None:
    team = sandbox.name("team")
    created = []
    for number in range(5):
        created += [create(sandbox, "/destinations", {"team": team} if number % 2 == 0 else {})["id"]]
    path = f"/destinations?label=team:{team}&limit=2"
    first = sandbox.admin.get(path)
    second = sandbox.admin.get(path, params={"cursor": first.headers["X-Next-Cursor"]})
    assert [entry["id"] for entry in (*first.json(), *second.json())] == [created[4], created[2], created[0]]
    assert "X-Next-Cursor" not in second.headers


def test_pipelines_are_found_by_their_states_and_by_what_they_belong_to(sandbox: Sandbox) -> None:
    labels, source, destination = {"team": sandbox.name("team")}, sandbox.new_source(), sandbox.new_destination()
    draft = sandbox.new_pipeline(labels=labels)["id"]
    running = sandbox.running_pipeline(labels=labels, source_id=source["id"])
    delivered = sandbox.running_pipeline(labels=labels)
    sandbox.admin.post_ok(f"/destinations/{destination['id']}/deploy", sandbox.delivery_body(delivered))
    team = f"team:{labels['team']}"

    def found(**query: str) -> list[str]:
        return _found(sandbox, "/pipelines", label=team, **query)

    assert found(desired_state="RUNNING") == [delivered["id"], running["id"]]
    assert found(observed_state="NOT_DEPLOYED") == [draft]
    assert found(desired_state="RUNNING", observed_state="NOT_DEPLOYED") == []
    assert found(source_id=source["id"]) == [running["id"]]
    assert found(destination_id=destination["id"]) == [delivered["id"]]
    assert found(connect_cluster_id=sandbox.connect["id"]) == [delivered["id"], running["id"], draft]
    assert found(connect_cluster_id=source["id"]) == []


def test_deliveries_are_found_by_their_states_and_by_what_they_belong_to(sandbox: Sandbox) -> None:
    source, destination = sandbox.new_source(), sandbox.new_destination()
    pipeline = sandbox.running_pipeline(source_id=source["id"])
    body = sandbox.delivery_body(pipeline)
    delivery = sandbox.admin.post_ok(f"/destinations/{destination['id']}/deploy", body)["id"]
    other = sandbox.new_delivery()["id"]
    assert _found(sandbox, "/deliveries", source_id=source["id"]) == [delivery]
    assert _found(sandbox, "/deliveries", destination_id=destination["id"]) == [delivery]
    assert _found(sandbox, "/deliveries", destination_id=destination["id"], desired_state="PAUSED") == []
    running = _found(sandbox, "/deliveries", connect_cluster_id=sandbox.connect["id"], desired_state="RUNNING")
    assert running[:2] == [other, delivery]
    paused = sandbox.admin.post_ok(f"/deliveries/{delivery}/pause", status=200)
    found = _found(sandbox, "/deliveries", source_id=source["id"], observed_state=paused["observed_state"])
    assert found == [delivery]


def test_a_selector_that_is_no_label_is_refused(sandbox: Sandbox) -> None:
    for selector in ("Team:shop", ":shop", "", "team:" + "v" * 64):
        [fault] = assert_error(sandbox.admin.get("/pipelines", params={"label": selector}), 422, "VALIDATION_FAILED")
        assert fault["location"][:2] == ["query", "label"]


def _found(sandbox: Sandbox, kind: str, **query: object) -> list[str]:
    """The ids in a list, which has to be on one page."""
    response = sandbox.admin.get(kind, params=query)
    assert response.status_code == 200, response.text
    return [entry["id"] for entry in response.json()]
