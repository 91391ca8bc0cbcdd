"""``python -m beholder``."""

import sys

from beholder.cli.main import main

sys.exit(main())
