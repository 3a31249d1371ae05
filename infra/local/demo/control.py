"""Pausing, resuming and restarting, and the status and audit records of it."""

import time
from collections import Counter

from infra.local.demo.compare import snapshot, wait_until_equal
from infra.local.demo.data import TABLES, insert
from infra.local.demo.leftovers import delete
from infra.local.demo.report import Step, counted, require
from infra.local.demo.run import Run, states

STILL_SECONDS = 3.0
"""How long nothing may arrive while paused; a change takes well under a second otherwise."""
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
    """Changes in the source do not arrive then."""
    with run.report.step("Pause the pipeline") as step:
        run.api.post(f"{run.pipeline_path}/pause")
        step.saw(states(run.observed(run.pipeline_path, "PAUSED")))
        _require_no_arrival(run, step, 1001)


def resume_pipeline(run: Run) -> None:
    """They arrive now."""
    with run.report.step("Resume it") as step:
        run.api.post(f"{run.pipeline_path}/resume")
        step.saw(states(run.observed(run.pipeline_path, "RUNNING")))
        require_arrival(run, step)


def pause_destination(run: Run) -> None:
    """All deliveries of the destination at once, each with its own result."""
    path = f"/destinations/{run.destination['id']}"
    with run.report.step("Pause and resume everything that goes to the destination") as step:
        for verb, state in (("pause", "PAUSED"), ("resume", "RUNNING")):
            for one in run.api.post(f"{path}/{verb}")["deliveries"]:
                require(one["error"] is None, expected=f"{verb} without error", seen=one)
            run.observed(path, state)
            if verb == "pause":
                _require_no_arrival(run, step, 2001)
        require_arrival(run, step)
        step.saw("PAUSED, then RUNNING")


def restart(run: Run) -> None:
    """Both connectors, and one task of each."""
    with run.report.step("Restart both connectors, and a task of each") as step:
        for path in (run.pipeline_path, run.delivery_path):
            for verb in ("restart", "restart-task?task=0"):
                run.api.post(f"{path}/{verb}")
                run.settled(path)
                run.observed(path, "RUNNING")
            run.api.post(f"{path}/restart-task?task=7", status=[404])
        step.saw("RUNNING after each; a task that does not exist is 404")
        _insert(run, 3001)
        require_arrival(run, step)


def show_status(run: Run) -> None:
    """As every role may read it."""
    with run.report.step("Read the status") as step:
        for noun, path in (("pipeline", run.pipeline_path), ("delivery", run.delivery_path)):
            status = run.observed(path, "RUNNING")
            step.also(f"{noun}: {states(status)}, as of {status['observed_at']}")
        shown = run.api.get(run.pipeline_path)
        require(
            [one["id"] for one in shown["destinations"]] == [run.delivery["id"]],
            expected="the pipeline with its delivery",
            seen=shown["destinations"],
        )
        step.saw("source, topics, config and delivery are shown with the pipeline")


def show_overview(run: Run) -> None:
    """Everything by its state, and what is wrong: nothing with what this run made."""
    with run.report.step("Read the overview and the incidents") as step:
        overview = run.api.get("/monitoring/overview")
        for noun in ("pipelines", "deliveries"):
            require(overview[noun]["RUNNING"] > 0, expected=f"a running one of the {noun}", seen=overview[noun])
        wrong = run.api.get("/operations/errors", active="true", pipeline_id=run.pipeline["id"])
        require(wrong == [], expected="no open incident of the pipeline", seen=wrong)
        moves = run.api.get(f"{run.pipeline_path}/status")["progress"]
        moved_at = moves["moved_at"] if moves else None
        step.saw(f"{counted(overview['incidents']['open'], 'open incident')}, none of this pipeline")
        step.also(f"it last moved at {moved_at}" if moved_at else "its progress is measured every 30 seconds")


def show_audit(run: Run) -> None:
    """Every change and operation of this run, under its correlation id."""
    with run.report.step("Read the audit trail") as step:
        ours = [one for one in run.api.get("/audit", limit=500) if one["correlation_id"] == run.api.correlation_id]
        facts = Counter((one["action"], one["outcome"]) for one in ours)
        for fact in _FACTS:
            require(facts[fact] > 0, expected=f"a record {fact[0]} {fact[1]}", seen=sorted(facts))
        twice = facts["pipeline.deploy", "requested"]
        require(twice == 1, expected="one deploy on record, since the second changed nothing", seen=twice)
        step.saw(f"{counted(len(ours), 'record')} of this run under {run.api.correlation_id}")
        actions = dict.fromkeys(one["action"] for one in reversed(ours))
        step.also(", ".join(actions))


def check_answers_for_passwords(run: Run) -> None:
    """Of all answers of the API since the first."""
    with run.report.step("Look back for passwords") as step:
        require(not run.api.leaks, expected="no password in any answer", seen=run.api.leaks)
        step.saw(f"none in {counted(run.api.answers, 'answer')} of the API")


def delete_pipeline(run: Run) -> None:
    """Delivery first: a pipeline with deliveries is in use. What was delivered stays."""
    with run.report.step("Delete delivery and pipeline") as step:
        run.api.post(f"{run.pipeline_path}/pause")
        before = snapshot(run.source_database, run.target_database).target_rows
        delete(run.api, run.delivery_path)
        delete(run.api, run.pipeline_path)
        remaining = [one["id"] for one in run.api.every("/pipelines") if one["id"] == run.pipeline["id"]]
        require(not remaining, expected="no such pipeline any more", seen=remaining)
        after = snapshot(run.source_database, run.target_database).target_rows
        require(after == before, expected=f"{before:,} rows still in the target", seen=after)
        step.saw(f"both gone, {counted(after, 'row')} still in the target")


def _insert(run: Run, first: int) -> None:
    with run.source_database.as_superuser() as connection:
        insert(connection, TABLES[0], first, first + _BATCH - 1)


def _require_no_arrival(run: Run, step: Step, first: int) -> None:
    if run.sandbox:
        return
    before = snapshot(run.source_database, run.target_database).target_rows
    _insert(run, first)
    time.sleep(STILL_SECONDS)
    seen = snapshot(run.source_database, run.target_database)
    require(
        seen.target_rows == before and seen.rows == before + _BATCH,
        expected=f"{before:,} rows in the target while the source has {before + _BATCH:,}",
        seen=f"{seen.target_rows:,} and {seen.rows:,}",
    )
    step.also(f"{_BATCH} new rows in the source: after {STILL_SECONDS:.0f} s none has arrived")


def require_arrival(run: Run, step: Step) -> None:
    """All rows of the source are in the target; on doubles nothing arrives."""
    if run.sandbox:
        return
    began = time.monotonic()
    seen = wait_until_equal(run.source_database, run.target_database)
    step.also(f"{seen.target_rows:,} of {seen.rows:,} rows, equal in content, {time.monotonic() - began:.1f} s later")
