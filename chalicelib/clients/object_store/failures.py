"""What is wrong with a bucket: stable codes, each with a sentence for people, by what the store has answered.

Codes of stores: Amazon S3 API reference, "Error responses"; MinIO's source, cmd/api-errors.go.
"""

from collections.abc import Mapping
from enum import StrEnum

from chalicelib.clients.object_store.requests import StoreAnswer
from chalicelib.errors import HeadgateError


class TestStep(StrEnum):
    """The steps of a test, in their order."""

    CONNECT = "connect"
    BUCKET = "bucket"
    PUT = "put_object"
    MULTIPART = "multipart_upload"
    DELETE = "delete_object"


class BucketFailure(HeadgateError):
    """A step failed. `step` says which."""

    def __init__(self, step: TestStep, code: str, message: str) -> None:
        super().__init__(message, code=code)
        self.step = step


_Sentence = tuple[str, str]
"""Our code, and the sentence."""

_PUT_DENIED = (
    "The key may not put objects below the prefix, or a policy of the bucket asks for something else, such as "
    "encryption. Allow s3:PutObject; the preview of a delivery prints the whole policy."
)
_NO_STORE = (
    "Something answers there, and it does not speak the protocol of Amazon S3. Check endpoint_url: its scheme, port "
    "and path."
)

_ANSWERS: Mapping[str, _Sentence] = {
    "NoSuchBucket": ("BUCKET_NOT_FOUND", "There is no bucket of that name. Check its spelling, or create it."),
    "InvalidBucketName": ("BUCKET_NAME_INVALID", "The store does not take this name for a bucket."),
    "InvalidAccessKeyId": ("ACCESS_KEY_UNKNOWN", "The store does not know the access_key_id."),
    "SignatureDoesNotMatch": ("SECRET_KEY_WRONG", "The secret_access_key is not that of the access_key_id."),
    "ExpiredToken": ("SESSION_TOKEN_EXPIRED", "The session_token has expired. Give a new key with its token."),
    "InvalidToken": ("SESSION_TOKEN_INVALID", "The session_token is not that of the access_key_id."),
    "InvalidTokenId": ("SESSION_TOKEN_INVALID", "The session_token is not that of the access_key_id."),
    "RequestTimeTooSkewed": (
        "CLOCK_SKEWED",
        "The clocks of the store and of Headgate are more than 15 minutes apart. Set them by NTP.",
    ),
    "AllAccessDisabled": ("ACCOUNT_DISABLED", "The account of the bucket is disabled."),
    "AccountProblem": ("ACCOUNT_DISABLED", "The account of the bucket has a problem. Its provider says which."),
    "NotSignedUp": ("ACCOUNT_DISABLED", "The account is not signed up for the store."),
    "QuotaExceeded": ("STORE_FULL", "The bucket has reached its quota."),
    "XMinioAdminBucketQuotaExceeded": ("STORE_FULL", "The bucket has reached its quota."),
    "XMinioStorageFull": ("STORE_FULL", "The disks of the store are full."),
    "SlowDown": ("STORE_BUSY", "The store asks to send less. Try again in a minute."),
    "SlowDownRead": ("STORE_BUSY", "The store asks to send less. Try again in a minute."),
    "SlowDownWrite": ("STORE_BUSY", "The store asks to send less. Try again in a minute."),
    "ServiceUnavailable": ("STORE_BUSY", "The store is not available at this moment. Try again in a minute."),
    "XMinioServerNotInitialized": ("STORE_BUSY", "The store is starting. Try again in a minute."),
    "InternalError": ("STORE_FAILED", "The store reports a failure of its own. Its log says which."),
    "KMS.DisabledException": ("KMS_KEY_UNUSABLE", "The KMS key of the bucket is disabled."),
    "KMS.NotFoundException": ("KMS_KEY_UNUSABLE", "The KMS key of the bucket does not exist."),
    "KMS.KMSInvalidStateException": ("KMS_KEY_UNUSABLE", "The KMS key of the bucket cannot be used now."),
    "XMinioKMSNotConfigured": ("KMS_KEY_UNUSABLE", "The bucket encrypts by KMS, and the store has none."),
    "InvalidRequest": ("REQUEST_REFUSED", "The store does not take such a request. Is it compatible with Amazon S3?"),
    "MethodNotAllowed": ("REQUEST_REFUSED", "The store does not take such a request. Is it compatible with Amazon S3?"),
    "NotImplemented": ("REQUEST_REFUSED", "The store does not have this part of the protocol of Amazon S3."),
}
"""By the code in the answer of the store."""

_DENIED: Mapping[TestStep, _Sentence] = {
    TestStep.PUT: ("PUT_DENIED", _PUT_DENIED),
    TestStep.MULTIPART: (
        "MULTIPART_DENIED",
        "The key may not upload in parts below the prefix. Allow s3:PutObject and s3:AbortMultipartUpload.",
    ),
    TestStep.DELETE: ("DELETE_DENIED", "The key may not delete objects."),
}
KMS_DENIED: _Sentence = (
    "KMS_DENIED",
    "The key may not use the KMS key of the bucket. Allow kms:GenerateDataKey and kms:Decrypt for it.",
)
ABORT_DENIED: _Sentence = (
    "ABORT_DENIED",
    "The key may not abort uploads in parts, so that unfinished ones would stay. Allow s3:AbortMultipartUpload.",
)
_NOT_A_STORE: _Sentence = ("NOT_AN_OBJECT_STORE", _NO_STORE)
_REDIRECTS = ("PermanentRedirect", "TemporaryRedirect", "AuthorizationHeaderMalformed")


def failure_of(step: TestStep, answer: StoreAnswer) -> BucketFailure:
    """Why a request was refused."""
    if answer.code in _REDIRECTS or answer.status in (301, 307):
        return BucketFailure(step, "WRONG_REGION", _region_sentence(answer.region))
    if answer.code == "AccessDenied":
        sentence = KMS_DENIED if answer.names_kms else _DENIED[step]
    elif answer.code is None and answer.status >= 500:
        sentence = _ANSWERS["InternalError"]
    else:
        sentence = _ANSWERS.get(answer.code or "", _NOT_A_STORE if answer.code is None else _unknown(answer.status))
    return BucketFailure(step, *sentence)


def _unknown(status: int) -> _Sentence:
    return ("STORE_REFUSED", f"The store refused the request with the status {status}. Its log says why.")


def _region_sentence(region: str | None) -> str:
    is_in = f"The bucket is in the region {region}." if region else "The bucket is in another region."
    return f"{is_in} Give that as region, and leave endpoint_url out where the bucket is on Amazon S3."
