"""Messages of object stores and of the three sinks that write to them, where they carry no code.

The second AWS SDK prints the message without its code. Sources: Amazon S3's list of error responses, MinIO's, the AWS
SDKs for Java, the sinks of Aiven and Confluent.
"""

from chalicelib.domain.diagnosis.diagnoses import Diagnosis, Rules

STORE_RULES: Rules = (
    (
        Diagnosis.NO_CREDENTIALS,
        *("unable to load credentials from any", "unable to load aws credentials", "unable to load credentials from"),
        *("no aws access key", "anonymous access is forbidden for this operation"),
    ),
    (
        Diagnosis.STORE_KEY_DENIED,
        *("is not authorized to perform: kms:", "ciphertext refers to a customer master key that does not exist"),
    ),
    (
        Diagnosis.ACCESS_KEY,
        *("access key id you provided does not exist", "access key id that you provided does not exist"),
        *("the request signature we calculated does not match", "the signature we calculated does not match"),
    ),
    (
        Diagnosis.TOKEN_EXPIRED,
        *("the provided token has expired", "the provided token is malformed", "the provided token must be refreshed"),
        *("the security token included in the request is", "the security token is expired"),
    ),
    (
        Diagnosis.CLOCK,
        *("difference between the request time and the current time is too large", "signature not yet current"),
        "signature expired:",
    ),
    (
        Diagnosis.STORE_DENIED,
        *("is not authorized to perform: s3:", "is not authorized to perform: sts:", "access denied…status code: 403"),
        *("all access to this object has been disabled", "all access to this bucket has been disabled"),
    ),
    (
        Diagnosis.REGION,
        *("must be addressed using the specified endpoint", "authorization header is malformed; the region"),
        *("location constraint is incompatible for the region", "unable to load region from any"),
        *("unable to find a region", "non-aws region", "the bucket is in this region:"),
    ),
    (
        Diagnosis.BUCKET,
        *("nosuchbucketexception", "the specified bucket does not exist", "the specified bucket is not valid"),
        "non-existent s3 bucket",
    ),
    (Diagnosis.SLOW_DOWN, "please reduce your request rate", "resource requested is unreadable, please reduce"),
    (
        Diagnosis.UPLOAD_LOST,
        *(
            "the specified multipart upload does not exist",
            "specified parts could not be found",
            "nosuchuploadexception",
        ),
        "list of parts was not in ascending order",
    ),
    (
        Diagnosis.OBJECT_SIZE,
        *("your proposed upload exceeds the maximum", "your proposed upload is smaller than the minimum"),
    ),
    (Diagnosis.DISK_FULL, "has reached its minimum free drive threshold", "bucket quota exceeded"),
    (
        Diagnosis.STORE_REFUSED,
        *("implies functionality that is not implemented", "the specified method is not allowed against"),
        "pre-conditions you specified did not hold",
    ),
    (Diagnosis.STORE_TIMEOUT, "was not read from or written to within the timeout period"),
    (Diagnosis.STORE_FAULT, "we encountered an internal error", "conditional operation is currently in progress"),
    (Diagnosis.NULL_VALUE, "null valued records are not writeable", "null valued records are not supported"),
)

LATE_STORE_RULES: Rules = (
    (
        Diagnosis.CONNECTION,
        *("unable to execute http request", "timeout waiting for connection from pool"),
        "acquire operation took longer than",
    ),
    # Confluent's sink says no more when the cause is missing from the trace.
    (Diagnosis.UPLOAD_FAILED, "multipart upload failed", "part upload failed", "unable to complete multipart upload"),
)
"""What wraps other messages; searched last."""
