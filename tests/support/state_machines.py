"""Runs Hypothesis' state machines so that a failure can be repeated: the same sequences each time, nothing stored."""

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test


def run_state_machine(machine: type[RuleBasedStateMachine], *, examples: int, steps: int) -> None:
    """At most `examples` sequences of at most `steps` steps each."""
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            derandomize=True,
            database=None,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
            print_blob=False,
        ),
    )
