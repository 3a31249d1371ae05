"""A fault at one call of something whose calls are not known in advance."""

from dataclasses import dataclass, replace

from tests.faults.failure_modes import ALL_FAULTS, DelayedCalls, Fault
from tests.support.apps.call_interceptor import Crash, InterceptedCall, Point
from tests.support.apps.in_process_app import InProcessApp


@dataclass
class FaultOnce:
    """One fault at the call with this number. Which one depends on what the call is."""

    number: int
    choice: int
    app: InProcessApp
    delayed: DelayedCalls
    crashed: bool = False
    met: Fault | None = None

    def __call__(self, point: Point, call: InterceptedCall) -> object:
        if self.crashed:
            raise Crash
        if point.number != self.number:
            return call()
        here = replace(point, number_on_side=0)
        faults = [fault for fault in ALL_FAULTS if fault.applies_to(here)]
        self.met = faults[self.choice % len(faults)]
        mode = self.met.inject(self.app, here, self.delayed)
        try:
            return mode(here, call) if mode else call()
        except Crash:
            self.crashed = True
            raise
