"""Passwords of researchers, stored as scrypt hashes, each with its own salt and cost.

A hash reads ``scrypt$LOG2_N$R$P$SALT$KEY``, the last two in base64, so that the cost can be raised later while
older hashes stay valid.
"""

import base64
import hashlib
import hmac
import secrets as randomness
import unicodedata

from beholder.errors import UserError

LOG2_N, BLOCK, PARALLEL = 15, 8, 3
"""32 MiB and about a quarter of a second on one core: one of the equivalent costs that OWASP recommends."""

SALT_BYTES, KEY_BYTES = 16, 32
SHORTEST, LONGEST = 12, 200
LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"
"""32 letters that are not easily confused, of 5 bits each."""


def hash_password(password: str) -> str:
    """Return the hash that is stored of a password."""
    salt = randomness.token_bytes(SALT_BYTES)
    key = _key(password, salt, LOG2_N, BLOCK, PARALLEL)
    return f"scrypt${LOG2_N}${BLOCK}${PARALLEL}${_text(salt)}${_text(key)}"


def is_password(password: str, password_hash: str | None) -> bool:
    """Whether the password matches the hash; without a hash it takes as long, and the answer is no."""
    scheme, *cost, salt, key = (password_hash or _unmatchable_hash()).split("$")
    if scheme != "scrypt":
        raise ValueError(f"a password is hashed by {scheme}; scrypt is expected")
    derived = _key(password, base64.b64decode(salt), *map(int, cost))
    same = hmac.compare_digest(derived, base64.b64decode(key))
    return (
        same and password_hash is not None and "\0" not in password
    )  # HMAC does not see zeros at the end of a key


def new_password() -> str:
    """Generate a password of 100 random bits, in groups that can be read out."""
    groups = ("".join(randomness.choice(LETTERS) for _ in range(5)) for _ in range(4))
    return "-".join(groups)


def check_password(password: str) -> None:
    """Refuse a password that is too short, too long, or holds control characters."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise UserError(f"the password has {len(password)} characters; {SHORTEST} to {LONGEST} are expected")
    if any(unicodedata.category(letter) in ("Cc", "Cs") for letter in password):
        raise UserError("the password holds a control character; letters, digits, signs and spaces are expected")


def _key(password: str, salt: bytes, log2_n: int, block: int, parallel: int) -> bytes:
    memory = 128 * block * ((1 << log2_n) + parallel + 2)
    text = unicodedata.normalize("NFKC", password).encode("utf-8", "surrogatepass")
    return hashlib.scrypt(text, salt=salt, n=1 << log2_n, r=block, p=parallel, maxmem=2 * memory, dklen=KEY_BYTES)


def _unmatchable_hash() -> str:
    """Return a hash of the usual cost that no password matches."""
    return f"scrypt${LOG2_N}${BLOCK}${PARALLEL}${_text(bytes(SALT_BYTES))}${_text(bytes(KEY_BYTES))}"


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode()
