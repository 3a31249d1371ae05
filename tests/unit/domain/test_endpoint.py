from chalicelib.domain.addresses import ConnectAddress
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.kit.masking import Secret

ADDRESS = ConnectAddress(base_url="http://connect:8083")


def test_an_unsaved_endpoint_has_the_secrets_that_have_a_value() -> None:
    endpoint = OpenedEndpoint.unsaved(ADDRESS, {"password": Secret("hunter2"), "a": None, "b": Secret("")})
    assert endpoint.secrets == {"password": Secret("hunter2")}
    assert endpoint.password == Secret("hunter2")


def test_without_a_password_there_is_none() -> None:
    assert OpenedEndpoint(ADDRESS).password is None


def test_no_secret_is_printed() -> None:
    assert "hunter2" not in repr(OpenedEndpoint(ADDRESS, {"password": Secret("hunter2")}))
