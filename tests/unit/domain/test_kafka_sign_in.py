import pytest

from chalicelib.domain.addresses import KafkaAddress, SaslMechanism, SecurityProtocol
from chalicelib.domain.kafka_sign_in import SIGN_IN, with_sign_in
from chalicelib.kit.masking import Secret


def address(mechanism: SaslMechanism, protocol: SecurityProtocol = SecurityProtocol.SASL_SSL) -> KafkaAddress:
    return KafkaAddress(
        bootstrap_servers="kafka:9092",
        security_protocol=protocol,
        sasl_mechanism=mechanism,
        username="head\\gate",
        client_id="id",
        scope="a b",
    )


@pytest.mark.parametrize(
    ("mechanism", "module"),
    [
        (SaslMechanism.PLAIN, "plain.PlainLoginModule"),
        (SaslMechanism.SCRAM_SHA_256, "scram.ScramLoginModule"),
        (SaslMechanism.SCRAM_SHA_512, "scram.ScramLoginModule"),
    ],
)
def test_user_and_password_become_one_line_with_quotes_escaped(mechanism: SaslMechanism, module: str) -> None:
    secrets = with_sign_in(address(mechanism), {"password": Secret('a"b\\c;')})
    line = secrets[SIGN_IN]
    assert line is not None
    assert line.reveal() == (
        f'org.apache.kafka.common.security.{module} required username="head\\\\gate" password="a\\"b\\\\c;";'
    )


def test_a_client_secret_becomes_a_line_of_its_own_kind() -> None:
    line = with_sign_in(address(SaslMechanism.OAUTHBEARER), {"client_secret": Secret("s")})[SIGN_IN]
    assert line is not None
    assert line.reveal() == (
        "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required "
        'clientId="id" clientSecret="s" scope="a b";'
    )


def test_without_a_new_secret_the_stored_line_stays() -> None:
    assert with_sign_in(address(SaslMechanism.PLAIN), {"password": None}) == {"password": None}


def test_brokers_without_sign_in_have_no_line() -> None:
    plain = KafkaAddress(bootstrap_servers="kafka:9092")
    assert with_sign_in(plain, {"password": Secret("x")}).keys() == {"password"}


def test_the_line_is_masked_where_it_is_shown() -> None:
    secrets = with_sign_in(address(SaslMechanism.PLAIN), {"password": Secret("geheim")})
    assert "geheim" not in repr(secrets) + str(secrets)
