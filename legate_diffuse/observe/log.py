# SPDX-License-Identifier: Apache-2.0
"""What ``LEGATE_DIFFUSE_LOG`` asks for, with Python's ``logging`` underneath.

Each topic is a logger, such as ``legate_diffuse.compile``, to which a program may add
handlers of its own. A rank writes to its own standard error, or to its own file
(``LEGATE_DIFFUSE_LOG_FILE``).
"""

from __future__ import annotations

import logging
from typing import Final

from legate_diffuse import settings
from legate_diffuse.messages import notes, rank

_LEVELS: Final = {"info": logging.INFO, "debug": logging.DEBUG}
# So many sentences are remembered, so that each is told once.
_MOST_TOLD: Final = 1 << 12


class Topic:
    """Something that is logged."""

    def __init__(self, name: str, level: str) -> None:
        """Use the logger of a topic of ``settings.TOPICS``."""
        self._logger = logging.getLogger(f"legate_diffuse.{name}")
        self._logger.setLevel(_LEVELS[level])
        self._told: set[str] = set()

    def info(self, text: str) -> None:
        """Log what is always of interest."""
        self._logger.info("%s", text)

    def debug(self, text: str) -> None:
        """Log what happens again and again."""
        self._logger.debug("%s", text)

    def first(self, text: str) -> None:
        """Log something that may happen again, which is of interest only once."""
        if text in self._told or len(self._told) >= _MOST_TOLD:
            self.debug(text)
            return
        self._told.add(text)
        self.info(text)


def topic(name: str) -> Topic | None:
    """Return a topic, None if nobody wants to know.

    Raises:
        ValueError: the value of ``LEGATE_DIFFUSE_LOG`` is not understood.
    """
    level = settings.log().get(name)
    if level is None:
        return None
    _prepare()
    return Topic(name, level)


def _prepare() -> None:
    """Give all topics one handler."""
    parent = logging.getLogger("legate_diffuse")
    stream = notes()
    if stream is None or any(isinstance(one, _Handler) for one in parent.handlers):
        return
    handler = _Handler(stream)
    where = f" on rank {number}" if (number := rank()) else ""
    handler.setFormatter(
        logging.Formatter(
            f"%(asctime)s.%(msecs)03d %(name)s{where}: %(message)s", "%H:%M:%S"
        )
    )
    parent.addHandler(handler)
    # the program's own handlers would print it again
    parent.propagate = False


class _Handler(logging.StreamHandler):  # type: ignore[type-arg]
    """Writes to a rank's stream; what cannot be written is lost, as in ``say``."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Do nothing: the program is not to hear of it."""
