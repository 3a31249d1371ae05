"""Faults on a running Headgate, and what its users see meanwhile: recorded all the time, and judged afterwards."""

import contextlib
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.support.apps.real_headgate import Json, RealHeadgate
from tests.support.waiting import eventually

BETWEEN_SAMPLES = 2.0
REPORTED_WITHIN = 300.0
RECOVERED_WITHIN = 240.0
"""Seconds. They bound the waiting on a busy machine: how long it takes is printed and not asserted."""

Said = tuple[str, tuple[str, ...]]
"""An observed state and its reasons."""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """What was shown at one moment: of each resource (its path) in the list and in its status, and every incident.

    `at` is when the last response was there, in seconds of the monotonic clock.
    """

    at: float
    said: Mapping[str, tuple[Said, ...]]
    incidents: Sequence[Json]

    def reads_healthy(self, fault: "Fault") -> bool:
        """Whether the list or the status of one of its resources says nothing, or no more than before the fault."""
        return any(one in {("RUNNING", ()), *fault.before} for path in fault.paths for one in self.said[path])

    def about(self, paths: Collection[str], codes: Collection[str], *, active: bool = True) -> dict[str, Json]:
        """The incidents with these codes about one of the resources, or about no pipeline and delivery; by code."""
        return {
            one["code"]: one
            for one in reversed(self.incidents)
            if one["code"] in codes
            and (not active or one["status"] != "RESOLVED")
            and (concerned := resources(one)) <= set(paths) | {None}
            and (concerned & set(paths) or concerned == {None})
        }


def resources(incident: Json) -> set[str | None]:
    """The path of the delivery or else the pipeline that an incident is about; None for one about neither."""
    if incident["delivery_id"]:
        return {f"/deliveries/{incident['delivery_id']}"}
    return {f"/pipelines/{incident['pipeline_id']}" if incident["pipeline_id"] else None}


@dataclass(kw_only=True)
class Fault:
    """Something that is broken at `paths`. Each of `codes` has to become an incident; `others` may.

    `break_it` and `repair_it` return when that is done.
    """

    paths: tuple[str, ...]
    codes: frozenset[str]
    break_it: Callable[[], object]
    repair_it: Callable[[], object]
    others: frozenset[str] = frozenset()
    before: frozenset[Said] = frozenset()
    began: float = 0.0
    repaired: float | None = None

    def begin(self, last: Sample) -> None:
        """`last`: what was shown before."""
        self.before = frozenset(one for path in self.paths for one in last.said[path])
        self.began = time.monotonic()
        self.break_it()

    def repair(self) -> None:
        """Repair it, unless it was repaired or has not begun."""
        if self.began and self.repaired is None:
            self.repaired = time.monotonic()
            self.repair_it()


@dataclass(kw_only=True)
class Recorder:
    """Reads the lists, every status and the incidents again and again. Each request has to succeed."""

    headgate: RealHeadgate
    paths: Sequence[str]
    beside: Callable[[], object]
    """Called before each sample: what goes on beside the faults."""
    samples: list[Sample] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    @contextlib.contextmanager
    def recording(self) -> Iterator["Recorder"]:
        ended = threading.Event()
        thread = threading.Thread(target=self._run, args=(ended,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            ended.set()
            thread.join(60)

    def until(self, is_met: Callable[[Sample], bool], *, since: float, seconds: float) -> Sample:
        """The first sample after `since` that fits, if one does within so many seconds from now."""
        end = time.monotonic() + seconds

        def found() -> Sample | None:
            return next((one for one in self.samples if since < one.at <= end and is_met(one)), None)

        with contextlib.suppress(AssertionError):
            eventually(found, seconds=seconds)
        sample = found()
        assert sample, f"not within {seconds} s; failures: {self.failures[-3:]}; last seen: {self.samples[-1]}"
        return sample

    def reported(self, fault: Fault) -> dict[str, float]:
        """Wait until the fault is shown and its incidents are open: what was seen, and how long after the fault.

        From the first sample that shows it until its repair (or now) none may read healthy.
        """
        since, limit = fault.began, fault.began + REPORTED_WITHIN - time.monotonic()
        shown = self.until(lambda one: not one.reads_healthy(fault), since=since, seconds=max(limit, BETWEEN_SAMPLES))
        seen = {"shown": shown.at - since}
        for code in sorted(fault.codes):
            seen[code] = self._opened(fault, code, seconds=max(limit, BETWEEN_SAMPLES)).at - since
        return seen

    def _opened(self, fault: Fault, code: str, *, seconds: float) -> Sample:
        return self.until(lambda one: code in one.about(fault.paths, {code}), since=fault.began, seconds=seconds)

    def healthy_again_too_early(self, fault: Fault) -> list[Sample]:
        """The samples that read healthy after the fault was shown and before its repair began."""
        until = fault.repaired or time.monotonic()
        during = [one for one in self.samples if fault.began < one.at <= until]
        first = next((n for n, one in enumerate(during) if not one.reads_healthy(fault)), len(during))
        return [one for one in during[first:] if one.reads_healthy(fault)]

    def recovered(self, fault: Fault) -> float:
        """Wait until nothing is wrong any more and no incident is open; how many seconds after the repair."""
        assert fault.repaired is not None

        def is_well(sample: Sample) -> bool:
            said = [one for path in fault.paths for one in sample.said[path]]
            return all(one == ("RUNNING", ()) for one in said) and not sample.about(
                fault.paths, fault.codes | fault.others
            )

        return self.until(is_well, since=fault.repaired, seconds=RECOVERED_WITHIN).at - fault.repaired

    def _run(self, ended: threading.Event) -> None:
        # A client of its own: the one of the test is used meanwhile.
        client = self.headgate.client
        with httpx.Client(base_url=client.base_url, cookies=client.cookies, timeout=30) as mine:
            while not ended.wait(BETWEEN_SAMPLES):
                try:
                    self.beside()
                    self.samples.append(self._sample(mine))
                except Exception as error:  # noqa: BLE001 - every failure is for the test to report
                    self.failures.append(f"{type(error).__name__}: {error}"[:500])

    def _sample(self, client: httpx.Client) -> Sample:
        lists = {
            f"/{noun}/{one['id']}": one for noun in ("pipelines", "deliveries") for one in _get(client, f"/{noun}")
        }
        said = {path: (_said(lists[path]), _said(_get(client, f"{path}/status?fresh=true"))) for path in self.paths}
        incidents = _get(client, "/operations/errors?limit=500")
        return Sample(at=time.monotonic(), said=said, incidents=incidents)


def _said(shown: Json) -> Said:
    return str(shown["observed_state"]), tuple(shown["reasons"])


def _get(client: httpx.Client, path: str) -> Any:
    response = client.get(path)
    assert response.status_code == 200, f"GET {path}: {response.status_code} {response.text[:300]}"
    return response.json()
