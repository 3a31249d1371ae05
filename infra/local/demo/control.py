"""Pausing, resuming and restarting, with their status and audit records."""

import time
from collections import Counter

from infra.local.demo.compare import snapshot, wait_until_equal
from infra.local.demo.data import TABLES, insert
from infra.local.demo.leftovers import delete
from infra.local.demo.report import DemoStep, counted, require
from infra.local.demo.run import Run, states

STILL_SECONDS = 3.0
"""Nothing may arrive for this long while paused; a change usually takes less than a second."""
_BATCH = 10
_FACTS = (
    ("source.create", "success"),
    ("pipeline.create", "success"),
    ("pipeline.deploy", "requested"),
    ("pipeline.deploy", "success"),
    ("destination.create", "success"),
    ("delivery.deploy", "requested"),
    ("delivery.deploy", "success"),
    ("pipeline.pause", "success"),
    ("pipeline.resume", "success"),
    ("pipeline.restart", "success"),
)


def pause_pipeline(run: Run) -> None:
    """Changes in the source do not arrive while it is paused."""
    with run.report.step("Pause the pipeline") as step:
        run.api.post(f"{run.pipeline_path}/pause")
        step.observe(states(run.observed(run.pipeline_path, "PAUSED")))
        _require_no_arrival(run, step, 1001)


def resume_pipeline(run: Run) -> None:
    """Changes in the source arrive again."""
    with run.report.step("Resume it") as step:
        run.api.post(f"{run.pipeline_path}/resume")
        step.observe(states(run.observed(run.pipeline_path, "RUNNING")))
        require_arrival(run, step)


def pause_destination(run: Run) -> None:
    """All deliveries of the destination at once, each with its own result."""
    path = f"/destinations/{run.destination['id']}"
    with run.report.step("Pause and resume everything that goes to the destination") as step:
        for verb, state in (("pause", "PAUSED"), ("resume", "RUNNING")):
            for delivery in run.api.post(f"{path}/{verb}")["deliveries"]:
                require(delivery["error"] is None, expected=f"{verb} without error", actual=delivery)
            run.observed(path, state)
            if verb == "pause":
                _require_no_arrival(run, step, 2001)
        require_arrival(run, step)
        step.observe("PAUSED, then RUNNING")


def restart(run: Run) -> None:
    """Both connectors, and one task of each."""
    with run.report.step("Restart both connectors, and a task of each") as step:
        for path in (run.pipeline_path, run.delivery_path):
            for verb in ("restart", "restart-task?task=0"):
                run.api.post(f"{path}/{verb}")
                run.settled(path)
                run.observed(path, "RUNNING")
            run.api.post(f"{path}/restart-task?task=7", status=[404])
        step.observe("RUNNING after each; a task that does not exist is 404")
        _insert(run, 3001)
        require_arrival(run, step)


def show_status(run: Run) -> None:
    """As every role may read it."""
    with run.report.step("Read the status") as step:
        for noun, path in (("pipeline", run.pipeline_path), ("delivery", run.delivery_path)):
            status = run.observed(path, "RUNNING")
            step.add_line(f"{noun}: {states(status)}, as of {status['observed_at']}")
        detail = run.api.get(run.pipeline_path)
        require(
            [destination["id"] for destination in detail["destinations"]] == [run.delivery["id"]],
            expected="the pipeline with its delivery",
            actual=detail["destinations"],
        )
        step.observe("source, topics, config and delivery are shown with the pipeline")


def show_overview(run: Run) -> None:
    """Resources by state, and incidents: none of this run."""
    with run.report.step("Read the overview and the incidents") as step:
        overview = run.api.get("/monitoring/overview")
        for noun in ("pipelines", "deliveries"):
            require(overview[noun]["RUNNING"] > 0, expected=f"a running one of the {noun}", actual=overview[noun])
        wrong = run.api.get("/operations/errors", active="true", pipeline_id=run.pipeline["id"])
        require(wrong == [], expected="no open incident of the pipeline", actual=wrong)
        moves = run.api.get(f"{run.pipeline_path}/status")["progress"]
        moved_at = moves["moved_at"] if moves else None
        step.observe(f"{counted(overview['incidents']['open'], 'open incident')}, none of this pipeline")
        step.add_line(f"it last moved at {moved_at}" if moved_at else "its progress is measured every 30 seconds")


def show_audit(run: Run) -> None:
    """Every change and operation of this run, under its correlation id."""
    with run.report.step("Read the audit trail") as step:
        ours = [
            record for record in run.api.get("/audit", limit=500) if record["correlation_id"] == run.api.correlation_id
        ]
        facts = Counter((record["action"], record["outcome"]) for record in ours)
        for fact in _FACTS:
            require(facts[fact] > 0, expected=f"a record {fact[0]} {fact[1]}", actual=sorted(facts))
        twice = facts["pipeline.deploy", "requested"]
        require(twice == 1, expected="one deploy on record, since the second changed nothing", actual=twice)
        step.observe(f"{counted(len(ours), 'record')} of this run under {run.api.correlation_id}")
        actions = dict.fromkeys(record["action"] for record in reversed(ours))
        step.add_line(", ".join(actions))


def check_answers_for_passwords(run: Run) -> None:
    """Searches all answers of the API."""
    with run.report.step("Look back for passwords") as step:
        require(not run.api.leaks, expected="no password in any answer", actual=run.api.leaks)
        step.observe(f"none in {counted(run.api.answers, 'answer')} of the API")


def delete_pipeline(run: Run) -> None:
    """Delivery first: a pipeline with deliveries is in use. Delivered rows stay."""
    with run.report.step("Delete delivery and pipeline") as step:
        run.api.post(f"{run.pipeline_path}/pause")
        before = snapshot(run.source_database, run.target_database).target_rows
        delete(run.api, run.delivery_path)
        if run.files:
            delete(run.api, run.files_path)
        delete(run.api, run.pipeline_path)
        remaining = [pipeline["id"] for pipeline in run.api.every("/pipelines") if pipeline["id"] == run.pipeline["id"]]
        require(not remaining, expected="no such pipeline any more", actual=remaining)
        after = snapshot(run.source_database, run.target_database).target_rows
        require(after == before, expected=f"{before:,} rows still in the target", actual=after)
        step.observe(f"both gone, {counted(after, 'row')} still in the target")


def _insert(run: Run, first: int) -> None:
    with run.source_database.as_superuser() as connection:
        insert(connection, TABLES[0], first, first + _BATCH - 1)


def _require_no_arrival(run: Run, step: DemoStep, first: int) -> None:
    if run.sandbox:
        return
    before = snapshot(run.source_database, run.target_database).target_rows
    _insert(run, first)
    time.sleep(STILL_SECONDS)
    comparison = snapshot(run.source_database, run.target_database)
    require(
        comparison.target_rows == before and comparison.rows == before + _BATCH,
        expected=f"{before:,} rows in the target while the source has {before + _BATCH:,}",
        actual=f"{comparison.target_rows:,} and {comparison.rows:,}",
    )
    step.add_line(f"{_BATCH} new rows in the source: after {STILL_SECONDS:.0f} s none has arrived")


def require_arrival(run: Run, step: DemoStep) -> None:
    """All rows of the source are in the target; on doubles nothing arrives."""
    if run.sandbox:
        return
    began = time.monotonic()
    comparison = wait_until_equal(run.source_database, run.target_database)
    seconds = time.monotonic() - began
    step.add_line(f"{comparison.target_rows:,} of {comparison.rows:,} rows, equal in content, {seconds:.1f} s later")
