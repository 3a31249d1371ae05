"""New master keys, and providers of data keys that use one."""

import base64
import os

from chalicelib.kit.masking import Secret
from chalicelib.secrets.keys import LocalKeys


def new_master_key() -> Secret:
    return Secret(base64.b64encode(os.urandom(32)).decode())


def local_keys() -> LocalKeys:
    return LocalKeys(new_master_key())
