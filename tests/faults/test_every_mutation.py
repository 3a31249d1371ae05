"""No route that changes something is left out of the fault suite."""

from app import lazy_routes
from tests.faults.harness.case_process import CASES

CASES_OF = {
    "POST /auth/login": "login",
    "POST /auth/logout": "logout",
    "POST /auth/password": "password",
    "DELETE /auth/sessions/{uuid}": "session end",
    "POST /auth/sessions/end-others": "session end others",
    "POST /auth/totp": "second factor start",
    "POST /auth/totp/confirm": "second factor confirm",
    "DELETE /auth/totp": "second factor remove",
    "POST /auth/tokens": "token create",
    "DELETE /auth/tokens/{uuid}": "token delete",
    "POST /users/invite": "user invited",
    "PATCH /users/{uuid}/role": "user role",
    "POST /users/{uuid}/disable": "user disable",
    "POST /users/{uuid}/enable": "user enable",
    "DELETE /users/{uuid}": "user delete",
    "DELETE /users/{uuid}/totp": "second factor of a user",
    "POST /invites/{token}/accept": "invite accepted",
    "POST /sources": "source create",
    "PUT /sources/{uuid}": "source update",
    "DELETE /sources/{uuid}": "source delete",
    "POST /sources/{uuid}/test": "source test",
    "POST /sources/{uuid}/discover": "source discovery",
    "POST /sources/{uuid}/health": "source health",
    "POST /destinations": "destination create",
    "PUT /destinations/{uuid}": "destination update",
    "DELETE /destinations/{uuid}": "destination delete",
    "POST /destinations/{uuid}/test": "destination test",
    "POST /connections": "connection create",
    "PUT /connections/{uuid}": "connection move",
    "DELETE /connections/{uuid}": "connection delete",
    "POST /connections/{uuid}/test": "connection test",
    "POST /destinations/{uuid}/deploy": "delivery deploy",
    "POST /destinations/{uuid}/pause": "destination pause",
    "POST /destinations/{uuid}/resume": "destination resume",
    "POST /destinations/{uuid}/restart": "destination restart",
    "PUT /destinations/{uuid}/deliveries/{delivery_uuid}/mappings": "delivery mappings",
    "DELETE /destinations/{uuid}/deliveries/{delivery_uuid}": "delivery delete",
    "POST /destinations/{uuid}/deliveries/{delivery_uuid}/tasks/{task_id}/restart": "delivery restart task",
    "POST /stream/clusters": "stream cluster create",
    "PUT /stream/clusters/{uuid}": "stream cluster update",
    "DELETE /stream/clusters/{uuid}": "stream cluster delete",
    "DELETE /stream/topics/{name}": "topic delete",
    "POST /connect/clusters": "Connect cluster create",
    "PUT /connect/clusters/{uuid}": "Connect cluster update",
    "DELETE /connect/clusters/{uuid}": "Connect cluster delete",
    "POST /connect/clusters/{uuid}/confirm-deletions": "deletions confirmed",
    "POST /connect/clusters/{uuid}/confirm-creations": "creations confirmed",
    "POST /pipelines": "pipeline create",
    "DELETE /pipelines/{uuid}": "pipeline delete",
    "POST /pipelines/{uuid}/deploy": "pipeline deploy",
    "POST /pipelines/{uuid}/pause": "pipeline pause",
    "POST /pipelines/{uuid}/resume": "pipeline resume",
    "POST /pipelines/{uuid}/restart": "pipeline restart",
    "POST /pipelines/{uuid}/restart-task": "pipeline restart task",
    "DELETE /deliveries/{uuid}": "delivery delete",
    "POST /deliveries/{uuid}/pause": "delivery pause",
    "POST /deliveries/{uuid}/resume": "delivery resume",
    "POST /deliveries/{uuid}/restart": "delivery restart",
    "POST /deliveries/{uuid}/restart-task": "delivery restart task",
    "PUT /deliveries/{uuid}/mappings": "delivery mappings",
    "POST /audit/accept-restored": "audit accept restored",
    "PATCH /operations/errors/{uuid}": "incident acknowledged",
    "POST /alerts/{uuid}/acknowledge": "alert acknowledge",
    "POST /alerts/{uuid}/silence": "alert silence",
    "POST /alerts/{uuid}/unsilence": "alert unsilence",
    "POST /alert-rules": "alert rule create",
    "PUT /alert-rules/{uuid}": "alert rule update",
    "DELETE /alert-rules/{uuid}": "alert rule delete",
    "POST /maintenance": "maintenance create",
    "DELETE /maintenance/{uuid}": "maintenance delete",
    "POST /notification-channels": "channel create",
    "PUT /notification-channels/{uuid}": "channel update",
    "DELETE /notification-channels/{uuid}": "channel delete",
    "POST /notification-channels/{uuid}/test": "channel test",
}
CHANGES_NOTHING = {
    "POST /connections/test",
    "POST /destinations/test-connection",
    "POST /destinations/{uuid}/preview",
    "POST /pipelines/preview",
}


def test_each_route_that_changes_something_has_a_case() -> None:
    api = "/api/v1"
    found = {f"{one.method} {path.removeprefix(api)}" for path, one in lazy_routes if one.method != "GET"}
    assert found == CASES_OF.keys() | CHANGES_NOTHING


def test_each_of_these_cases_exists() -> None:
    assert set(CASES_OF.values()) <= CASES.keys()
