"""The parameters of the stack of functions, and the settings that functions get from them.

A new setting is one row, in the group of those that get it: its variable is `HEADGATE_` and the parameter's name.
"""

import re
from dataclasses import dataclass, field

from infra.aws.cloudformation import Json, exported, is_given, ref, when

_BOOLEAN = ("true", "false")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a template. Without a default it has to be given."""

    name: str
    description: str
    kind: str = field(default="String", kw_only=True)
    default: str | None = field(default="", kw_only=True)
    is_secret: bool = field(default=False, kw_only=True)
    pattern: str = field(default="", kw_only=True)
    allowed: tuple[str, ...] = field(default=(), kw_only=True)

    @property
    def variable(self) -> str:
        """The setting of this name, such as HEADGATE_PUBLIC_URL for PublicUrl."""
        return "HEADGATE_" + re.sub(r"(?<!^)(?=[A-Z])", "_", self.name).upper()

    def declaration(self) -> Json:
        optional = {
            "Default": self.default,
            "NoEcho": self.is_secret or None,
            "AllowedPattern": self.pattern or None,
            "AllowedValues": list(self.allowed) or None,
        }
        declared = {name: value for name, value in optional.items() if value is not None}
        return {"Type": self.kind, "Description": self.description, **declared}


PREFIX = Parameter(
    "Prefix",
    "What the names of all tables, queues and functions begin with; the same for both stacks.",
    default="headgate-",
    pattern="[a-z][a-z0-9-]{0,30}-",
)

COMMON_SETTINGS = (
    Parameter(
        "CaBundle",
        "The file of certificates to trust beside the system's, such as /opt/ca.pem of the layer CaBundleLayerArn.",
    ),
    Parameter(
        "PublicUrl",
        "Where people reach Headgate, such as https://headgate.example.com. Messages about alerts link to it, "
        "and single sign-on needs it.",
    ),
    Parameter(
        "LogLevel",
        "The least severe lines that are logged.",
        default="INFO",
        allowed=("DEBUG", "INFO", "WARNING", "ERROR"),
    ),
)
"""Every function gets these."""

CHAT_HOSTS = (
    Parameter("ChatWebhookHost", "The only host of chat-webhook channels.", default="hooks.slack.com"),
    Parameter("BotApiHost", "The host of the bot API of bot-chat channels.", default="api.telegram.org"),
)

API_SETTINGS = (
    Parameter(
        "ServiceCredentialHash",
        "The SHA-256, in hex, of what Kafka Connect asks for secrets with; two, separated by a comma, while "
        "it is exchanged.",
        default=None,
        is_secret=True,
        pattern="[0-9a-f]{64}(,[0-9a-f]{64})?",
    ),
    Parameter("AdminEmail", "Whose account is made first. May be left out once it exists."),
    Parameter(
        "AdminPassword",
        "The first account's password, or its Argon2id hash ($argon2id$...). May be left out once it exists.",
        is_secret=True,
    ),
    Parameter(
        "AllowInlineSecrets",
        "Whether Connect clusters may get secrets in plain text inside connector configs.",
        default="false",
        allowed=_BOOLEAN,
    ),
    Parameter(
        "MetricsToken",
        "The bearer token that /metrics asks for. Without one the numbers are open.",
        is_secret=True,
    ),
    Parameter(
        "OidcIssuer",
        "The OpenID provider of single sign-on, exactly as it names itself. Empty without single sign-on.",
    ),
    Parameter("OidcClientId", "Headgate's client at the provider."),
    Parameter("OidcClientSecret", "The client's secret. Empty for a public client.", is_secret=True),
    Parameter(
        "OidcScopes",
        "What the provider is asked for, with the scope of groups where it has one.",
        default="openid email",
    ),
    Parameter("OidcGroupsClaim", "The claim that lists a person's groups.", default="groups"),
    Parameter("OidcRoles", "Groups and the role of each, such as cdc-admins=Admin,cdc-ops=Ops."),
    Parameter(
        "OidcLinkAccounts",
        "Whether a person takes over the account that has their verified e-mail address.",
        default="false",
        allowed=_BOOLEAN,
    ),
    Parameter(
        "PasswordLogin",
        "Whether people sign in with passwords. Without, which needs single sign-on, only AdminEmail does.",
        default="true",
        allowed=_BOOLEAN,
    ),
    Parameter(
        "RequireSecondFactor",
        "Whether who signs in with a password has to have a second factor.",
        default="false",
        allowed=_BOOLEAN,
    ),
)

_NOT_SETTINGS = (
    PREFIX,
    Parameter(
        "KmsKeyArns",
        "The KMS keys of stored secrets, where the one of the data stack is exchanged. The first one seals, "
        "all of them open.",
        kind="CommaDelimitedList",
    ),
    Parameter("AlarmTopicArn", "The SNS topic that alarms go to, if any."),
    Parameter(
        "VpcSubnetIds",
        "Private subnets from which databases, Kafka and Connect can be reached. Empty for functions outside "
        "of any VPC.",
        kind="CommaDelimitedList",
    ),
    Parameter(
        "VpcSecurityGroupIds",
        "Security groups of the functions in these subnets.",
        kind="CommaDelimitedList",
    ),
    Parameter("CaBundleLayerArn", "A layer, with its version, that has the file CaBundle."),
)

PARAMETERS = (*_NOT_SETTINGS, *COMMON_SETTINGS, *API_SETTINGS, *CHAT_HOSTS)

ALARMS_ARE_SENT, IN_VPC, OWN_KEYS, HAS_CA_BUNDLE_LAYER = "AlarmsAreSent", "InVpc", "OwnKeys", "HasCaBundleLayer"
CONDITIONS = {
    ALARMS_ARE_SENT: is_given("AlarmTopicArn"),
    IN_VPC: is_given("VpcSubnetIds", is_list=True),
    OWN_KEYS: is_given("KmsKeyArns", is_list=True),
    HAS_CA_BUNDLE_LAYER: is_given("CaBundleLayerArn"),
}

CREDENTIALS_KEY, AUDIT_KEY = "credentials-key-arn", "audit-key-arn"
"""The names under which the data stack exports its keys, without the prefix."""


def declarations() -> Json:
    """The section `Parameters` of the stack of functions."""
    return {parameter.name: parameter.declaration() for parameter in PARAMETERS}


def variables(settings: tuple[Parameter, ...]) -> Json:
    """The environment variables of these settings."""
    return {setting.variable: ref(setting.name) for setting in settings}


def common_variables() -> Json:
    """The environment variables of every function."""
    return {
        "HEADGATE_TABLE_PREFIX": ref(PREFIX.name),
        "HEADGATE_QUEUE_PREFIX": ref(PREFIX.name),
        "HEADGATE_KMS_KEY_ID": when(OWN_KEYS, {"Fn::Join": [",", ref("KmsKeyArns")]}, exported(CREDENTIALS_KEY)),
        "HEADGATE_AUDIT_KMS_KEY_ID": exported(AUDIT_KEY),
        **variables(COMMON_SETTINGS),
    }
