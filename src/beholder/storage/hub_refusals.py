"""What the client of the Hugging Face hub raises where the hub refuses or cannot be reached."""

from huggingface_hub.errors import HfHubHTTPError, HFValidationError, OfflineModeIsEnabled

REFUSED = (*HfHubHTTPError.__bases__, OfflineModeIsEnabled, HFValidationError)
"""Where the hub refuses, cannot be reached, or the name is not valid; the first of them is the HTTP library's,
which differs between versions of the client."""
