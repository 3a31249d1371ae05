from chalicelib.domain.readiness import ReadinessStatus
from tests.support.apps.in_process_app import InProcessApp


def test_an_unreachable_source_has_a_readiness(app: InProcessApp) -> None:
    source = app.source()
    app.database.reachable = False
    found = app.services.database_checks.readiness(app.context(), source, None, deployed=False)
    assert found.status is ReadinessStatus.NOT_READY
