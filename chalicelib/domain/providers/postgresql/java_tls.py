"""Socket factories of pgjdbc that need no file on the worker."""

DEFAULT_JAVA_TLS = "org.postgresql.ssl.DefaultJavaSSLFactory"
"""Trusts what the worker's Java trusts, instead of a file in the worker's home folder."""

PINNED_TLS = "org.postgresql.ssl.SingleCertValidatingFactory"
"""Trusts the one certificate that it gets as text."""
