"""The parameters of the stack of functions, and the settings that functions get from them.

A new setting is one row, in the group of those that get it: its variable is `HEADGATE_` and the parameter's name.
"""

import re
from dataclasses import dataclass, field

from infra.aws.cloudformation import Json, exported, is_given, is_missing, ref, sub, when

_BOOLEAN = ("true", "false")
_IN_SECRETS_MANAGER = r"(arn:[a-z-]+:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:\S+)?"


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
    number: tuple[int, int] | None = field(default=None, kw_only=True)
    """The least and the largest number."""

    @property
    def variable(self) -> str:
        """The setting of this name, such as HEADGATE_PUBLIC_URL for PublicUrl."""
        return "HEADGATE_" + re.sub(r"(?<!^)(?=[A-Z])", "_", self.name).upper()

    def declaration(self) -> Json:
        """As the section `Parameters` of a template takes it."""
        optional = {
            "Default": self.default,
            "NoEcho": self.is_secret or None,
            "AllowedPattern": self.pattern or None,
            "AllowedValues": list(self.allowed) or None,
            **(dict(zip(("MinValue", "MaxValue"), self.number, strict=True)) if self.number else {}),
        }
        declared = {name: value for name, value in optional.items() if value is not None}
        return {"Type": self.kind, "Description": self.description, **declared}


PREFIX = Parameter(
    "Prefix",
    "What the names of all tables, queues and functions begin with; the same for both stacks.",
    default="headgate-",
    pattern="[a-z][a-z0-9-]{0,30}-",
)

MULTI_REGION = Parameter(
    "MultiRegion",
    "Whether the keys can be replicated to other Regions, so that a copy of the tables can be opened there. It cannot "
    "be changed for a key that exists: another value makes new keys, and the old ones stay.",
    default="true",
    allowed=_BOOLEAN,
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
        "InstallationId",
        "The id that connectors of this installation carry. Only for a copy of the tables of another installation: a "
        "new UUID. Empty: the one in the tables.",
        pattern="([A-Za-z0-9-]{8,64})?",
    ),
    Parameter(
        "AuditRetentionDays",
        "For how many days audit records are kept: 0 (for ever), or 30 to 36500.",
        default="2557",
        pattern="0|[1-9][0-9]{1,4}",
    ),
    Parameter(
        "LogLevel",
        "The least severe lines that are logged.",
        default="INFO",
        allowed=("DEBUG", "INFO", "WARNING", "ERROR"),
    ),
    Parameter(
        "EmitMetrics",
        "Whether Headgate measures itself for CloudWatch: the metrics of the namespace Headgate.",
        default="true",
        allowed=_BOOLEAN,
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
        "it is exchanged. HASH@ID: for the Connect cluster with this id only.",
        default=None,
        is_secret=True,
        pattern="[0-9a-f]{64}(@[0-9a-f-]{36})?(,[0-9a-f]{64}(@[0-9a-f-]{36})?)*",
    ),
    Parameter("AdminEmail", "Whose account is made first. May be left out once it exists."),
    Parameter(
        "AllowInlineSecrets",
        "Whether Connect clusters may get secrets in plain text inside connector configs.",
        default="false",
        allowed=_BOOLEAN,
    ),
    Parameter(
        "OidcIssuer",
        "The OpenID provider of single sign-on, exactly as it names itself. Empty without single sign-on.",
    ),
    Parameter("OidcClientId", "Headgate's client at the provider."),
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

ADMIN_PASSWORD, METRICS_TOKEN, CLIENT_SECRET = SECRET_REFERENCES = (
    Parameter(
        "AdminPasswordSecretArn",
        "The secret of AWS Secrets Manager with the first account's password. With AdminEmail and without it, the "
        "stack makes one.",
        pattern=_IN_SECRETS_MANAGER,
    ),
    Parameter(
        "MetricsTokenSecretArn",
        "The secret of AWS Secrets Manager with the bearer token that /metrics asks for. Without it, the stack makes "
        "one.",
        pattern=_IN_SECRETS_MANAGER,
    ),
    Parameter(
        "OidcClientSecretSecretArn",
        "The secret of AWS Secrets Manager with the secret of Headgate's client at the provider. Empty for a public "
        "client.",
        pattern=_IN_SECRETS_MANAGER,
    ),
)
"""Secrets of the API. A function's configuration can be read by more people than may read these."""

_DOOR = (
    Parameter(
        "RequestsPerSecond",
        "Requests that the API takes a second. More are answered with 429.",
        kind="Number",
        default="50",
        number=(1, 10_000),
    ),
    Parameter(
        "RequestBurst",
        "Requests that the API takes at once.",
        kind="Number",
        default="100",
        number=(1, 5_000),
    ),
    Parameter("AllowedCidrs", "Networks from which the API may be called. Empty for all.", kind="CommaDelimitedList"),
    Parameter("WebAclArn", "A web ACL of AWS WAF, of this Region, that stands before the API. Empty for none."),
    Parameter(
        "SecretsVpcEndpointId",
        "The interface endpoint for execute-api through which Kafka Connect reads secrets. With it, they cannot be "
        "read at the public address. Empty where Kafka Connect uses the public one.",
        pattern="(vpce-[0-9a-f]+)?",
    ),
    Parameter(
        "ReserveConcurrency",
        "Whether each function has a number of runs at once for itself, so that none takes them from the others. Needs "
        "an account that may run 1,000 at once.",
        default="true",
        allowed=_BOOLEAN,
    ),
    Parameter(
        "ApiGatewayLogRoleArn",
        "The role with which API Gateway writes the logs of all APIs in this Region, where the account has one "
        "(aws apigateway get-account). Without it, the stack makes one.",
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
    Parameter("AuditKeyArn", "The KMS key that signs the audit trail, where it is not the one of the data stack."),
    Parameter("AlarmTopicArn", "The SNS topic that alarms go to. Without one, the stack makes one."),
    Parameter("AlarmEmail", "Who is told about alarms by the topic that the stack makes."),
    Parameter(
        "AuditAnchorBucket",
        "A bucket for the copy of the audit trail's last anchor. Without one it is a parameter of Systems Manager.",
    ),
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

PARAMETERS = (*_NOT_SETTINGS, *_DOOR, *COMMON_SETTINGS, *API_SETTINGS, *SECRET_REFERENCES, *CHAT_HOSTS)

MAKES_TOPIC, HAS_ALARM_EMAIL = "MakesTopic", "HasAlarmEmail"
IN_VPC, OWN_KEYS, OWN_AUDIT_KEY, HAS_CA_BUNDLE_LAYER = "InVpc", "OwnKeys", "OwnAuditKey", "HasCaBundleLayer"
ONLY_SOME_NETWORKS, HAS_WEB_ACL, SECRETS_ARE_PRIVATE = "OnlySomeNetworks", "HasWebAcl", "SecretsArePrivate"
CONCURRENCY_IS_RESERVED, MAKES_LOG_ROLE = "ConcurrencyIsReserved", "MakesLogRole"
MAKES_ADMIN_PASSWORD, MAKES_METRICS_TOKEN = "MakesAdminPassword", "MakesMetricsToken"
HAS_ADMIN_PASSWORD, HAS_CLIENT_SECRET = "HasAdminPassword", "HasClientSecret"
HAS_ANCHOR_BUCKET = "HasAnchorBucket"
CONDITIONS = {
    MAKES_TOPIC: is_missing("AlarmTopicArn"),
    HAS_ALARM_EMAIL: {"Fn::And": [is_missing("AlarmTopicArn"), is_given("AlarmEmail")]},
    IN_VPC: is_given("VpcSubnetIds", is_list=True),
    OWN_KEYS: is_given("KmsKeyArns", is_list=True),
    OWN_AUDIT_KEY: is_given("AuditKeyArn"),
    HAS_CA_BUNDLE_LAYER: is_given("CaBundleLayerArn"),
    ONLY_SOME_NETWORKS: is_given("AllowedCidrs", is_list=True),
    HAS_WEB_ACL: is_given("WebAclArn"),
    SECRETS_ARE_PRIVATE: is_given("SecretsVpcEndpointId"),
    CONCURRENCY_IS_RESERVED: {"Fn::Equals": [ref("ReserveConcurrency"), "true"]},
    MAKES_LOG_ROLE: is_missing("ApiGatewayLogRoleArn"),
    MAKES_ADMIN_PASSWORD: {"Fn::And": [is_given("AdminEmail"), is_missing(ADMIN_PASSWORD.name)]},
    MAKES_METRICS_TOKEN: is_missing(METRICS_TOKEN.name),
    HAS_ADMIN_PASSWORD: {"Fn::Or": [is_given("AdminEmail"), is_given(ADMIN_PASSWORD.name)]},
    HAS_CLIENT_SECRET: is_given(CLIENT_SECRET.name),
    HAS_ANCHOR_BUCKET: is_given("AuditAnchorBucket"),
}

CREDENTIALS_KEY, AUDIT_KEY = "credentials-key-arn", "audit-key-arn"
"""The names under which the data stack exports its keys, without the prefix."""


ANCHOR_NAME = "${Prefix}audit-anchor"
"""Of the parameter or the object that has the copy of the last anchor."""


def declarations() -> Json:
    """The section `Parameters` of the stack of functions."""
    return {parameter.name: parameter.declaration() for parameter in PARAMETERS}


def variables(settings: tuple[Parameter, ...]) -> Json:
    """The environment variables of these settings."""
    return {setting.variable: ref(setting.name) for setting in settings}


def audit_key() -> Json:
    """The ARN of the key that signs the audit trail."""
    return when(OWN_AUDIT_KEY, ref("AuditKeyArn"), exported(AUDIT_KEY))


def common_variables() -> Json:
    """The environment variables of every function."""
    return {
        "HEADGATE_TABLE_PREFIX": ref(PREFIX.name),
        "HEADGATE_QUEUE_PREFIX": ref(PREFIX.name),
        "HEADGATE_KMS_KEY_ID": when(OWN_KEYS, {"Fn::Join": [",", ref("KmsKeyArns")]}, exported(CREDENTIALS_KEY)),
        "HEADGATE_AUDIT_KMS_KEY_ID": audit_key(),
        "HEADGATE_AUDIT_ANCHOR_COPY": when(
            HAS_ANCHOR_BUCKET, sub(f"s3://${{AuditAnchorBucket}}/{ANCHOR_NAME}"), sub(f"ssm:/{ANCHOR_NAME}")
        ),
        **variables(COMMON_SETTINGS),
    }
