"""JSON from a stream: values, members and elements without the whole text or tree.

The decoder is the standard library's, run over a window of the text. Measured on files of
Nodes, of ResourceSlices and of both with all that kubectl writes, parsing alone takes 1.6,
0.3 and 0.8 times ``json.loads``, with the C back end of ijson 1.8, 0.8 and 1.1; ijson also
knows no columns, and cannot give a list's kind beside its items in one pass.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from phalanx_core.errors import TopologyError

# One value of it is held whole.
VALUE_MAX = 1 << 30
_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\n\r]*")
_ANY_SPACE = re.compile(r"\s*")
# A value cut by the window's end fails this near to it, or in the string it is cut in.
_CUT_MAX = 16
_NUMBER_CUT_MAX = 2
_IN_STRING = "Unterminated string"
_NO_KEY = "Expecting property name enclosed in double quotes"


class TooLong(Exception):
    """A value that does not end within the signs it may have."""


class JsonStream:
    """The part of a JSON text that is not parsed yet; grows where a value needs it.

    Parameters
    ----------
    path
        Name of the text, for errors.
    pieces
        The text, some of it at a time.

    Examples
    --------
    >>> stream = JsonStream("a.json", iter(['{"kind": "Li', 'st", "items": [1, 2]}']))
    >>> {key: stream.value() for key in stream.members()}
    {'kind': 'List', 'items': [1, 2]}
    """

    def __init__(self, path: str, pieces: Iterator[str]) -> None:
        self.path = path
        self._pieces = pieces
        self._text = ""
        self._at = 0
        # Where the window starts in the text, counted from 0.
        self._line = self._column = 0
        self._is_last = False

    def peek(self, space: re.Pattern[str] = _SPACE) -> str:
        """Next sign behind spaces, "" at the end."""
        while True:
            match = space.match(self._text, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._grow():
                return ""

    def has_document(self) -> bool:
        """Whether another document follows; any space may stand between two."""
        return self.peek(_ANY_SPACE) != ""

    def value(self, size_max: int | None = None) -> Any:
        """Next value, whole.

        Raises
        ------
        TooLong
            If it does not end within so many signs; nothing is taken then.
        TopologyError
            If it is no JSON.
        """
        while True:
            try:
                found, end = _DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if self._is_last or not self._is_cut(error):
                    raise self._refuse(error.pos, error.msg) from None
            except (ValueError, RecursionError) as error:
                rule = " ".join(str(error).split())
                raise TopologyError(f"{self.path}: not JSON: {rule}") from None
            else:
                # A number so near to the end may go on behind it, as in "1e+".
                is_far = end + _NUMBER_CUT_MAX < len(self._text)
                is_closed = is_far or self._text[end - 1] in '}]"'
                if self._is_last or is_closed:
                    self._at = end
                    return found
            if size_max is not None and len(self._text) - self._at >= size_max:
                raise TooLong
            self._grow()

    def members(self) -> Iterator[str]:
        """Keys of an object; its reader takes each value before the next key."""
        self._expect("{", "Expecting value")
        if self.peek() == "}":
            self._at += 1
            return
        while True:
            if self.peek() != '"':
                raise self._refuse(self._at, _NO_KEY)
            key = self.value()
            self._expect(":", "Expecting ':' delimiter")
            self.peek()
            yield key
            if not self._goes_on("}"):
                return

    def elements(self) -> Iterator[Any]:
        """Values of an array, one at a time."""
        self._expect("[", "Expecting value")
        if self.peek() == "]":
            self._at += 1
            return
        while True:
            self.peek()
            yield self.value()
            if not self._goes_on("]"):
                return

    def _goes_on(self, end: str) -> bool:
        sign = self.peek()
        if sign not in (",", end):
            raise self._refuse(self._at, "Expecting ',' delimiter")
        self._at += 1
        return sign == ","

    def _expect(self, sign: str, rule: str) -> None:
        if self.peek() != sign:
            raise self._refuse(self._at, rule)
        self._at += 1

    def _is_cut(self, error: json.JSONDecodeError) -> bool:
        """Whether more text may heal an error."""
        near = error.pos + _CUT_MAX >= len(self._text)
        return near or error.msg.startswith(_IN_STRING)

    def _grow(self) -> bool:
        """Drop what is parsed and read as much as is left; False where nothing comes.

        A window that doubles parses a value of any length at twice its cost at most.
        """
        left = self._text[self._at :]
        if len(left) > VALUE_MAX:
            place = self._shown(self._at)
            rule = f"a value may have at most {VALUE_MAX} characters"
            raise TopologyError(f"{self.path}: {place}: {rule}")
        self._line, self._column = self._place(self._at)
        parts, count = [left], 0
        while not self._is_last and count <= len(left):
            piece = next(self._pieces, None)
            if piece is None:
                self._is_last = True
            else:
                parts.append(piece)
                count += len(piece)
        self._text, self._at = "".join(parts), 0
        return count > 0

    def _place(self, at: int) -> tuple[int, int]:
        """Line and column of a sign of the window, from 0."""
        lines = self._text.count("\n", 0, at)
        if not lines:
            return self._line, self._column + at
        return self._line + lines, at - self._text.rindex("\n", 0, at) - 1

    def _refuse(self, at: int, rule: str) -> TopologyError:
        return TopologyError(f"{self.path}: {self._shown(at)}: not JSON: {rule}")

    def _shown(self, at: int) -> str:
        line, column = self._place(at)
        return f"line {line + 1} column {column + 1}"
