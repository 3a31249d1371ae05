"""Lists as rows against the lists of whole resources: both have to say the same."""

import json
from typing import Any

from chalicelib.api.contract.deliveries import DeliveryOutput
from chalicelib.api.contract.pipelines import PipelineOutput
from chalicelib.api.contract.runtime import row_output
from chalicelib.domain.search import EVERY_CONNECTOR, Sort
from tests.support.apps.in_process_app import InProcessApp

Json = dict[str, Any]


def rows(app: InProcessApp, noun: str = "pipelines", sort: Sort = Sort.CREATED_AT, **search: Any) -> list[Json]:
    """One page of the rows as the API shows them."""
    found = search.pop("search", EVERY_CONNECTOR)
    page = getattr(app.services, noun).rows(limit=500, after=None, search=found, sort=sort)
    return [json.loads(json.dumps(row_output(row))) for row in page.items]


def check_rows(app: InProcessApp) -> None:
    """Asserts that rows of every order say what the ordinary lists say."""
    for noun, output in (("pipelines", PipelineOutput), ("deliveries", DeliveryOutput)):
        listed = getattr(app.services, noun).list(limit=500, after=None).items
        expected = [_row(resource, output) for resource in listed]
        assert rows(app, noun) == expected
        for sort in Sort:
            assert sorted(rows(app, noun, sort), key=_id) == sorted(expected, key=_id)


def _id(row: Json) -> str:
    return str(row["id"])


def _row(resource: Any, output: Any) -> Json:
    whole = output.of(resource).model_dump(mode="json")
    same = ("id", "name", "desired_state", "observed_state", "observed_at", "labels")
    running = [task for task in whole["tasks"] if task["state"] == "RUNNING"]
    log = getattr(resource, "log", None)
    return {
        **{name: whole[name] for name in same},
        "reason": next(iter(whole["reasons"]), None),
        "tasks": {"running": len(running), "total": len(whole["tasks"])},
        "tables": len(whole["tables"] if "tables" in whole else whole["mappings"]),
        "lag": whole["metrics"]["lag"],
        "seconds_to_loss": log.seconds_to_loss if log else None,
    }
