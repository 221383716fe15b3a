"""Keys and tokens that a command did without, recognised by what programs say then: they name no file, and seldom say
that they could not read one. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from grokmini.sandbox.policy import Policy


class _Kept(NamedTuple):
    """What programs say without a secret, and the paths it is at."""

    said: str
    at: str


_SECRETS: Final = (
    _Kept(
        r"gpg failed to sign the data|\bgpg: (?:signing|decryption) failed|\bgpg: .*\bno (?:default )?secret key",
        r"/(?:private-keys-v1\.d|secring\.gpg|S\.gpg-agent|gnupg)$",
    ),
    _Kept(
        r"permission denied \([\w,-]*publickey|no private key found for|couldn't load public key|"
        r"could not open a connection to your authentication agent|error connecting to agent",
        r"/\.ssh/|/ssh-[^/]+/agent|/keyring|S\.gpg-agent\.ssh$|ssh[^/]*\.sock$|ssh-agent",
    ),
    _Kept(
        r"could not read (?:username|password) for 'https?:|authentication failed for 'https?:",
        r"/(?:\.git-credentials|git/credentials?|\.git-credential-cache|_?\.?netrc|keyrings|gh/hosts\.yml)$",
    ),
    _Kept(r"\bgh auth login\b", r"/hosts\.yml$"),
    _Kept(r"unable to locate credentials|\bNoCredentials(?:Error)?\b", r"/\.aws/|/credentials$"),
    _Kept(r"\bgcloud auth (?:application-default )?login\b|default credentials were not found", r"/gcloud/"),
    _Kept(r"\bENEEDAUTH\b|\bnpm (?:ERR!|error) code E401\b", r"npmrc$"),
    _Kept(
        r"no basic auth credentials|unauthorized: authentication required|denied: requested access to the resource",
        r"/config\.json$",
    ),
    _Kept(r"no (?:upload )?token found", r"/\.cargo/credentials"),
)
_UNSIGNED: Final = re.compile(r"failed to write commit object", re.I)


def refused_secrets(output: str, policy: Policy) -> Iterator[tuple[str, str, str, str]]:
    """What is hidden of that which a command wanted, each as path, rule, hint and the line that tells of it."""
    for said, at in _SECRETS if policy.denied else ():
        found = re.search(rf"^.*?(?:{said}).*$", output, re.I | re.M)
        hidden = next((path for path in policy.denied if re.search(at, path)), "") if found else ""
        if found and hidden:
            hint = "keys and tokens are hidden from commands: tell the user which command to run"
            if _UNSIGNED.search(output):
                hint += "; `git commit --no-gpg-sign` leaves the signature away, if they do not want one"
            yield hidden, f"{hidden} is denied (sandbox profile {policy.profile})", hint, found[0].strip()
