"""What people have to know of a connector besides its state: what was tried, and what something else has changed."""

from chalicelib.domain.connectors.drift import DRIFTED
from chalicelib.domain.connectors.memory import ConnectorMemory
from chalicelib.domain.connectors.restarts import NOT_RESTARTED, notice, restart_cause
from chalicelib.domain.connectors.reverts import REVERTED, is_contested
from chalicelib.domain.observation import Observation


def notices(memory: ConnectorMemory, observation: Observation) -> tuple[str, ...]:
    """The sentences about a connector with this memory that was observed so, by the same tick or later. Nothing is said
    about restarts of what needs none.
    """
    desired, needs_restart = memory.desired, restart_cause(observation) is not None
    left_alone = desired is not None and desired.should_run and not desired.restartable
    sentences = (
        notice(memory.restarts) if memory.restarts and needs_restart else None,
        NOT_RESTARTED if left_alone and needs_restart else None,
        REVERTED if is_contested(memory.reverted_at) else None,
        DRIFTED if memory.drift and memory.drift.confirmed else None,
    )
    return tuple(sentence for sentence in sentences if sentence)
