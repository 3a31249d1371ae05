"""What Headgate measures of itself, for CloudWatch: lines of its embedded metric format on standard output.

AWS Lambda's log turns them into metrics without a call. On one machine nobody reads them, so none is written.
"""

from collections.abc import Mapping

from chalicelib.domain.monitoring.own_metrics import DIMENSION, NAMESPACE, OWN_METRICS, OwnMetric
from chalicelib.settings import settings


def measure(values: Mapping[OwnMetric, float]) -> None:
    """Write one line with these values, if the installation wants metrics."""
    if not values or not settings().emit_metrics:
        return
    from aws_lambda_powertools.metrics.provider.cloudwatch_emf.cloudwatch import AmazonCloudWatchEMFProvider

    # An object of its own for each line: Powertools' `Metrics` shares its values between all threads.
    emitter = AmazonCloudWatchEMFProvider(namespace=NAMESPACE, default_dimensions={DIMENSION: settings().table_prefix})
    emitter.service = ""  # no second dimension, whatever the environment says
    for metric, value in values.items():
        emitter.add_metric(name=metric.value, unit=OWN_METRICS[metric].unit.value, value=value)
    emitter.flush_metrics()
