"""Twenty tasks of a person who has an account, `/docs` and `/openapi.json`: how many calls each takes.

    .headgate/venv/bin/python -m tests.bench.newcomer

Every operation is looked up in the document by its id: what the document does not have cannot be called. What a person
does by hand in a server (another password, a topic that Kafka Connect makes) is no call.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from chalicelib.kit.clock import rfc3339, utc_now
from tests.support.apps.sandbox import Api, Sandbox, running_sandbox

Json = dict[str, Any]
FLEET = 40
"""Pipelines of other teams, among which one team's are found."""


@dataclass(kw_only=True)
class Reader:
    """Calls operations of the document by their ids, and counts the calls."""

    api: Api
    operations: Mapping[str, tuple[str, str]]
    calls: int = 0

    @classmethod
    def of(cls, api: Api) -> "Reader":
        document = api.get("//openapi.json").json()
        return cls(
            api=api,
            operations={
                operation["operationId"]: (method.upper(), path)
                for path, methods in document["paths"].items()
                for method, operation in methods.items()
            },
        )

    def __call__(self, operation: str, body: Any = None, query: Mapping[str, Any] | None = None, **path: str) -> Any:
        """The body of the answer, which must be a success."""
        method, template = self.operations[operation]
        self.calls += 1
        where = template.format_map(path).removeprefix("/api/v1")
        answer = self.api.call(method, where, body, params=query)
        assert answer.is_success, f"{method} {where}: {answer.status_code} {answer.text[:1000]}"
        return answer.json() if answer.content else None


@dataclass(kw_only=True)
class Day:
    """`do` calls the API; `sandbox` is the installation with its servers, `empty` one without anything."""

    sandbox: Sandbox
    empty: Sandbox
    do: Reader
    known: dict[str, Any] = field(default_factory=dict)

    def id_of(self, name: str) -> str:
        return str(self.known[name]["id"])


def register_clusters(day: Day) -> None:
    stream = day.do("create_stream_cluster", {"name": "shop brokers", "bootstrap_servers": day.sandbox.doubles.kafka})
    body = {"name": "shop workers", "base_url": day.sandbox.doubles.connect, "stream_cluster_id": stream["id"]}
    day.known |= {"stream": stream, "connect": day.do("create_connect_cluster", body)}
    assert {stream["status"], day.known["connect"]["status"]} == {"HEALTHY"}


def try_a_database_before_it_is_registered(day: Day) -> None:
    body = day.sandbox.source_body()
    kept = {name: body[name] for name in ("provider", "config", "credentials")}
    assert day.do("test_unsaved_connection", kept)["success"]


def register_a_source(day: Day) -> None:
    day.known["source"] = day.do("create_source", day.sandbox.source_body(name="shop", labels={"team": "shop"}))


def see_what_can_be_captured(day: Day) -> None:
    job = day.do("discover_source", uuid=day.id_of("source"))
    day.sandbox.finished_job(job)
    tables = day.do("list_source_tables", uuid=day.id_of("source"), query={"cdc_ready": "true", "schema": "shop"})
    assert tables


def ask_whether_the_source_is_ready(day: Day) -> None:
    readiness = day.do("source_readiness", uuid=day.id_of("source"))
    assert all(check["recommended_action"] for check in readiness["checks"] if check["status"] == "fail")


def capture_a_table(day: Day) -> None:
    body = {
        "name": "shop to Kafka",
        "source_id": day.id_of("source"),
        "stream_cluster_id": day.id_of("stream"),
        "connect_cluster_id": day.id_of("connect"),
        "topic_prefix": "newcomer",
        "tables": [{"schema_name": "shop", "table_name": "orders"}],
        "labels": {"team": "shop"},
    }
    assert day.do("preview_pipeline", body)["validation"]["error_count"] == 0
    pipeline = day.do("create_pipeline", body)
    day.known["pipeline"] = day.do("deploy_pipeline", uuid=pipeline["id"])
    assert day.known["pipeline"]["observed_state"] == "RUNNING"


def deliver_it(day: Day) -> None:
    topic = day.known["pipeline"]["topics"][0]
    day.sandbox.doubles.kafka_double.state.create_topic(topic)
    destination = day.do("create_destination", day.sandbox.destination_body(name="mart", labels={"team": "shop"}))
    body = day.sandbox.delivery_body(day.known["pipeline"], name="orders to the mart")
    day.do("preview_delivery", body, uuid=destination["id"])
    day.known |= {"destination": destination, "delivery": day.do("deploy_delivery", body, uuid=destination["id"])}


def see_whether_rows_move(day: Day) -> None:
    status = day.do("delivery_status", uuid=day.id_of("delivery"))
    assert (status["observed_state"], status["reasons"]) == ("RUNNING", [])


def hear_of_what_breaks(day: Day) -> None:
    config = {"webhook_url": f"{day.sandbox.chat.url}/services/T0/B0/newcomer"}
    channel = day.do("create_channel", {"name": "on call", "provider": "chat-webhook", "config": config})
    assert day.do("test_channel", uuid=channel["id"])["delivered"]
    rules = day.do("list_alert_rules", query={"view": "definition", "q": "Critical CDC Errors"})
    default = next(rule for rule in day.do("list_alert_rules") if rule["is_default"])
    day.do("update_alert_rule", {**rules[0], "channel_ids": [channel["id"]]}, uuid=default["id"])
    day.known["channel"] = channel


def rotate_a_password(day: Day) -> None:
    password = day.sandbox.source_body()["credentials"]
    answer = day.do("rotate_source_credentials", {"credentials": password}, uuid=day.id_of("source"))
    assert [one["result"] for one in answer["connectors"]] == ["updated"]


def announce_maintenance_of_a_team(day: Day) -> None:
    now = utc_now()
    body = {
        "name": "Move of the shop database",
        "from": rfc3339(now + timedelta(hours=1)),
        "until": rfc3339(now + timedelta(hours=2)),
        "reason": "The database moves to another host.",
        "scope": {"labels": {"team": "shop"}},
    }
    assert day.do("create_maintenance", body)["state"] == "scheduled"


def see_what_needs_me(day: Day) -> None:
    assert isinstance(day.do("get_overview")["attention"], list)


def find_who_changed_what_yesterday(day: Day) -> None:
    now = utc_now()
    query = {
        "from": rfc3339(now - timedelta(days=1)),
        "to": rfc3339(now + timedelta(minutes=1)),
        "actor": day.known["me"],
    }
    records = day.do("list_audit", query={**query, "action": "pipeline.deploy", "outcome": "success"})
    assert [record["resource_name"] for record in records].count("shop to Kafka") == 1


def find_one_team_among_many(day: Day) -> None:
    found = day.do("list_pipelines", query={"label": "team:shop", "q": "shop"})
    assert [pipeline["name"] for pipeline in found] == ["shop to Kafka"]


def find_all_that_a_database_feeds(day: Day) -> None:
    found = day.do("list_deliveries", query={"source_id": day.id_of("source")})
    assert [delivery["name"] for delivery in found] == ["orders to the mart"]


def pause_and_resume(day: Day) -> None:
    for operation, state in (("pause_delivery", "PAUSED"), ("resume_delivery", "RUNNING")):
        assert day.do(operation, uuid=day.id_of("delivery"))["desired_state"] == state


def let_a_program_in(day: Day) -> None:
    token = day.do("create_api_token", {"name": "dashboard", "role": "Viewer"})
    assert token["token"].startswith("hg_")


def invite_a_colleague(day: Day) -> None:
    invited = day.do("invite_user", {"email": "grace@example.com", "role": "Ops"})
    assert invited["invite_url"]


def export_everything_and_send_it_back(day: Day) -> None:
    """To an empty installation: clusters, the source and the pipeline. Only secrets have to be added."""
    export = day.do("export_definitions")
    there = Reader.of(day.empty.admin)
    ids: dict[str, str] = {}
    secrets = {"sources": day.sandbox.source_body()["credentials"]}
    for kind, operation in (
        ("stream_clusters", "create_stream_cluster"),
        ("connect_clusters", "create_connect_cluster"),
        ("sources", "create_source"),
    ):
        for entry in export[kind]:
            if entry["name"] in ("shop brokers", "shop workers", "shop"):
                body = {**entry["definition"], **({"credentials": secrets[kind]} if kind in secrets else {})}
                body |= {reference["field"]: ids[reference["id"]] for reference in entry["references"]}
                ids[entry["id"]] = there(operation, body)["id"]
    day.do.calls += there.calls
    assert there("list_sources", query={"view": "definition"})[0] == next(
        entry["definition"] for entry in export["sources"] if entry["name"] == "shop"
    )


def take_it_away_again(day: Day) -> None:
    day.do("delete_delivery", uuid=day.id_of("delivery"))
    day.do("delete_pipeline", uuid=day.id_of("pipeline"), query={"drop_slot": "true"})
    day.do("delete_source", uuid=day.id_of("source"))
    day.do("delete_destination", uuid=day.id_of("destination"))


TASKS: tuple[tuple[Callable[[Day], None], int], ...] = (
    (register_clusters, 2),
    (try_a_database_before_it_is_registered, 1),
    (register_a_source, 1),
    (see_what_can_be_captured, 2),
    (ask_whether_the_source_is_ready, 1),
    (capture_a_table, 3),
    (deliver_it, 3),
    (see_whether_rows_move, 1),
    (hear_of_what_breaks, 5),
    (rotate_a_password, 1),
    (announce_maintenance_of_a_team, 1),
    (see_what_needs_me, 1),
    (find_who_changed_what_yesterday, 1),
    (find_one_team_among_many, 1),
    (find_all_that_a_database_feeds, 1),
    (pause_and_resume, 2),
    (let_a_program_in, 1),
    (invite_a_colleague, 1),
    (export_everything_and_send_it_back, 4),
    (take_it_away_again, 4),
)
"""In the order of a first day, each with the calls that it may take. Polling a job is not counted."""


def run(sandbox: Sandbox, empty: Sandbox) -> dict[str, int]:
    """The calls that each task took. Raises AssertionError when one cannot be done."""
    day = Day(sandbox=sandbox, empty=empty, do=Reader.of(sandbox.admin))
    day.known["me"] = sandbox.admin.get_ok("/session")["user"]["email"]
    for number in range(FLEET):
        sandbox.new_pipeline(name=f"other {number}", labels={"team": f"team-{number % 7}"})
    taken = {}
    for task, _ in TASKS:
        before = day.do.calls
        task(day)
        taken[task.__name__.replace("_", " ")] = day.do.calls - before
    return taken


if __name__ == "__main__":
    with running_sandbox() as filled, running_sandbox() as other:
        for title, calls in run(filled, other).items():
            print(f"{calls:>3}  {title}")
