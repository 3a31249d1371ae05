"""Why a pipeline or a delivery is in its observed state, in sentences for people."""

from chalicelib.domain.delivery import Delivery
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.providers.registry import capture_provider


def observed_reasons(resource: Pipeline | Delivery) -> tuple[str, ...]:
    """Of a paused pipeline with what goes on in its source all the same, after the sentence on its state."""
    observation = resource.observation
    if observation is None:
        return ("It has not been looked at yet.",)
    if not isinstance(resource, Pipeline) or not observation.is_paused:
        return observation.reasons
    notice = capture_provider(resource.provider).paused_notice
    return (*observation.reasons[:1], notice, *observation.reasons[1:])
