"""Networks so small that they load and run at once; nothing is fetched."""

import os

os.environ["HF_HUB_OFFLINE"] = "1"  # read when the hub's library is imported; it would try each call for long
