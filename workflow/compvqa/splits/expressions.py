"""Expressions of properties: names joined by ``and``, ``or``, ``not`` and parentheses.

A name with a space in it stands in double quotes: ``"LEXICAL-wine bottle" and not RM/V/C``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from compvqa.errors import InputError
from compvqa.programs.properties import Predicate

_TOKEN = re.compile(r'\s*(?:"([^"]*)"|([()])|([^\s()"]+))')
_WORDS = {"and", "or", "not"}


def predicate(expression: str, named: Callable[[str], Predicate]) -> Predicate:
    """The predicate of an expression; ``not`` binds before ``and``, ``and`` before ``or``.

    ``named`` gives the predicate of a name. Raises :class:`InputError` where the expression can't be read, and what
    ``named`` raises for a name that there is not.
    """
    reading = _Reading(expression, named, _tokens(expression))
    result = reading.any()
    if reading.tokens:
        wrong = reading.tokens[-1][1]
        raise InputError(f"the property {expression!r} goes wrong at {wrong!r}: join names by and / or.")
    return result


def _tokens(expression: str) -> list[tuple[bool, str]]:
    """The expression's tokens, the last one first, each with whether it is a name."""
    tokens, position = [], 0
    text = expression.rstrip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise InputError(f"the property {expression!r} has an open quotation mark: close it.")
        quoted, bracket, word = match.groups()
        tokens.append((bracket is None and word not in _WORDS, quoted or bracket or word or ""))
        position = match.end()
    return tokens[::-1]


@dataclass
class _Reading:
    """An expression of which the tokens before those left are read."""

    expression: str
    named: Callable[[str], Predicate]
    tokens: list[tuple[bool, str]] = field(default_factory=list)

    def any(self) -> Predicate:
        parts = self._joined("or", self._every)
        return parts[0] if len(parts) == 1 else lambda question: any(part(question) for part in parts)

    def _every(self) -> Predicate:
        parts = self._joined("and", self._single)
        return parts[0] if len(parts) == 1 else lambda question: all(part(question) for part in parts)

    def _joined(self, word: str, read: Callable[[], Predicate]) -> list[Predicate]:
        parts = [read()]
        while self.tokens and self.tokens[-1] == (False, word):
            self.tokens.pop()
            parts.append(read())
        return parts

    def _single(self) -> Predicate:
        if not self.tokens:
            raise InputError(f"the property {self.expression!r} ends too early: a name is missing.")
        is_name, token = self.tokens.pop()
        if is_name:
            return self.named(token)
        if token == "not":
            inner = self._single()
            return lambda question: not inner(question)
        if token == "(":
            result = self.any()
            if self.tokens and self.tokens.pop() == (False, ")"):
                return result
            raise InputError(f"the property {self.expression!r} has an open parenthesis: close it.")
        raise InputError(f"the property {self.expression!r} goes wrong at {token!r}: a name is missing before it.")
