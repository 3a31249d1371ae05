"""What readiness asks of the account: how it signs in, and its connections."""

from chalicelib.domain.providers.mysql.capture_plan import MySQLCapturePlan
from chalicelib.domain.providers.mysql.facts import UNLIMITED, MySQLServerFacts
from chalicelib.domain.providers.mysql.readiness.hosting import change_setting
from chalicelib.domain.providers.mysql.sql import quoted_account
from chalicelib.domain.readiness import Judgement, failed, passed, readiness_check, warned

NEEDED_CONNECTIONS = 3
COMFORTABLE_CONNECTIONS = 5
"""A capture holds one connection for its snapshot, one for its own questions and one for the binary log (measured: with
two, the task fails after the snapshot). A heartbeat table takes one more.
"""
_RSA_PLUGIN, _SHA256_PLUGIN = "caching_sha2_password", "sha256_password"


@readiness_check(
    "auth_plugin",
    name="How the account signs in",
    description="The connector can sign in, also after a restart of the server.",
)
def auth_plugin(facts: MySQLServerFacts, _plan: MySQLCapturePlan | None) -> Judgement:
    current = f"{facts.authentication}, {'with' if facts.encrypted else 'without'} TLS"
    expected, action = "with TLS", "Set ssl_mode to require."
    if facts.encrypted or facts.authentication not in (_RSA_PLUGIN, _SHA256_PLUGIN):
        return passed(current, expected)
    if facts.authentication == _SHA256_PLUGIN:
        return failed(current, expected, f"{action} Without TLS the connector cannot sign in with this plug-in.")
    return warned(
        current,
        expected,
        f"{action} Without TLS the password is encrypted with a key that the server sends, and nobody proves that it "
        "is the server's: somebody in between could read it.",
    )


@readiness_check("tls", name="Encryption", description="The connection is encrypted where the server asks for it.")
def tls(facts: MySQLServerFacts, _plan: MySQLCapturePlan | None) -> Judgement:
    is_required = facts.is_on("require_secure_transport")
    current = "encrypted" if facts.encrypted else "not encrypted"
    expected = "encrypted" if is_required else "encrypted, or not required"
    if is_required and not facts.encrypted:
        return failed(current, expected, "Set ssl_mode to require: the server refuses other connections.")
    return passed(current, expected)


@readiness_check(
    "connections",
    name="Free connections",
    description="Server and account allow the connections that a capture holds.",
)
def connections(facts: MySQLServerFacts, plan: MySQLCapturePlan | None) -> Judgement:
    found, account = facts.connections, quoted_account(facts.grants.account)
    more = 1 if plan is not None and plan.heartbeat_table else 0
    comfortable = COMFORTABLE_CONNECTIONS + more
    limits = (
        (
            found.maximum,
            found.used,
            change_setting(facts, "max_connections", str(found.maximum + 50)),
        ),
        (
            found.account_maximum,
            found.account_used,
            f"ALTER USER {account} WITH MAX_USER_CONNECTIONS {found.account_used + comfortable};",
        ),
    )
    free = [(limit - used, fix) for limit, used, fix in limits if limit != UNLIMITED]
    expected = f"at least {comfortable} free"
    if not free:
        return passed("unlimited", expected)
    least, fix = min(free)
    # A deployed capture has its own already.
    if least >= comfortable or (plan is not None and plan.deployed):
        return passed(f"{max(0, least)} free", expected)
    return (failed if least < NEEDED_CONNECTIONS + more else warned)(f"{max(0, least)} free", expected, fix)
