"""What people read about the observed state of a pipeline or a delivery: what is wrong, and what is good to know."""

from collections.abc import Mapping
from dataclasses import dataclass

from chalicelib.domain.delivery import Delivery
from chalicelib.domain.observation import NEVER_DEPLOYED, PAUSED, DesiredState, Observation, ObservedState
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.providers.registry import capture_provider

NOT_LOOKED_AT = "It has not been looked at yet."

_AS_DESIRED: Mapping[tuple[DesiredState, ObservedState], str] = {
    (DesiredState.DRAFT, ObservedState.NOT_DEPLOYED): NEVER_DEPLOYED,
    (DesiredState.PAUSED, ObservedState.PAUSED): PAUSED,
}
"""The sentence on a state that is no fault, because people asked for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """`reasons` say what is wrong, or not known though it should be; `notices` are good to know, and need no action."""

    reasons: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


def first_reason(desired_state: DesiredState, observation: Observation | None) -> str | None:
    """The first of the reasons in the explanation."""
    if observation is None:
        return NOT_LOOKED_AT
    as_desired = _AS_DESIRED.get((desired_state, observation.state))
    return next((reason for reason in observation.reasons if reason != as_desired), None)


def explanation(resource: Pipeline | Delivery) -> Explanation:
    """The sentences on the resource. What is not measured, and what goes on in a paused capture, is a notice."""
    observation = resource.observation
    if observation is None:
        return Explanation(reasons=(NOT_LOOKED_AT,))
    as_desired = _AS_DESIRED.get((resource.desired_state, observation.state))
    notices = (as_desired, _while_paused(resource, observation), _not_measured(resource))
    return Explanation(
        reasons=tuple(reason for reason in observation.reasons if reason != as_desired),
        notices=tuple(notice for notice in notices if notice),
    )


def _while_paused(resource: Pipeline | Delivery, observation: Observation) -> str | None:
    """What goes on in the source of a paused pipeline all the same."""
    if not isinstance(resource, Pipeline) or not observation.is_paused:
        return None
    return capture_provider(resource.provider).paused_notice


def _not_measured(resource: Pipeline | Delivery) -> str | None:
    """Why it is not known whether a deployed connector moves."""
    if resource.metrics is None or resource.desired_state is DesiredState.DRAFT:
        return None
    return resource.metrics.not_watched if resource.metrics.measured else resource.metrics.notice
