"""Log lines as JSON, one object a line, for programs that collect logs."""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any

REQUESTS = logging.getLogger("beholder.requests")
"""The log of requests: method, route, status, time. Neither addresses nor tokens of raters are in it."""

FIELDS = "fields"
"""Name of the attribute of a record that holds its fields."""


class JsonLines(logging.Formatter):
    """A formatter: time, level, logger and message, and the fields of the record.

    >>> record = logging.LogRecord("beholder.requests", logging.INFO, "", 0, "request", None, None)
    >>> record.created = 0.0
    >>> print(JsonLines().format(record))
    {"at": "1970-01-01T00:00:00.000+00:00", "level": "info", "logger": "beholder.requests", "message": "request"}
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: dict[str, Any] = {
            "at": at,
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= getattr(record, FIELDS, {})
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


def log_as_json() -> None:
    """Send every record of this process to the error stream as JSON, and those of requests too."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    REQUESTS.setLevel(logging.INFO)
