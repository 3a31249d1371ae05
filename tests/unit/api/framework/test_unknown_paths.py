import pytest

from app import lazy_routes


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("/pipelines", "/api/v1/pipelines"),
        ("/api/pipelines/5/deploy", "/api/v1/pipelines/{uuid}/deploy"),
        ("/api/v1/pipeline/5/restarts", "/api/v1/pipelines/{uuid}/restart"),
        ("/api/v1/health", "/health"),
        ("/api/v1/alert-rule", "/api/v1/alert-rules"),
        ("/wp-login.php", None),
        ("/api/v1/pipelines/5/unknown-word-of-mine", None),
        ("/api/v1/internal/secrets/5", None),
        ("/" + "a/" * 500, None),
        ("/", None),
    ],
)
def test_an_unknown_path_leads_to_the_template_that_was_meant(path: str, meant: str | None) -> None:
    assert lazy_routes.nearest(path) == meant
