"""How a refused request is named in the audit trail."""

import pytest

from chalicelib.api.framework.dependencies import denied_action


@pytest.mark.parametrize(
    ("method", "path", "action"),
    [
        ("POST", "/sources", "source.create"),
        ("PUT", "/connect/clusters/{uuid}", "connect_cluster.update"),
        ("DELETE", "/destinations/{uuid}/deliveries/{delivery_uuid}", "delivery.delete"),
        ("POST", "/destinations/{uuid}/deliveries/{delivery_uuid}/tasks/{task_id}/restart", "delivery.restart"),
        ("PUT", "/deliveries/{uuid}/mappings", "delivery.update_mappings"),
        ("POST", "/pipelines/{uuid}/restart-task", "pipeline.restart_task"),
        ("PATCH", "/operations/errors/{uuid}", "incident.update"),
        ("GET", "/audit", "audit.read"),
        ("POST", "/alerts/{uuid}/acknowledge", "alert.acknowledge"),
        ("PUT", "/alert-rules/{uuid}", "alert_rule.update"),
        ("POST", "/notification-channels", "notification_channel.create"),
        ("POST", "/saved-views", "saved_views.create"),
    ],
)
def test_it_is_the_action_that_it_would_have_been(method: str, path: str, action: str) -> None:
    assert denied_action(method, path) == action
