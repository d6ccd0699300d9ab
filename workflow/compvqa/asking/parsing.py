"""What a reply in free words means: one of a dataset's answers, another short answer, or nothing that can be told.

The answer that is right plays no part in it: only the reply, the question's text, and which answers there are.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

EXACT, FORM, FOUND, OTHER = (
    "exact",
    "form",
    "found",
    "other",
)  # how an answer was found; OTHER: it is none that there is
REFUSED, SEVERAL, NOTHING, UNFINISHED = "refused", "several", "nothing", "unfinished"  # why there is none
UNPARSED = (REFUSED, SEVERAL, NOTHING, UNFINISHED)
POLAR, NUMBER, WORD = "polar", "number", "word"  # kinds of answers

_YES = ("yes", "true", "yeah", "yep", "yup", "correct", "affirmative", "indeed", "certainly", "absolutely")
_NO = ("no", "false", "nope", "incorrect", "negative", "not true", "not correct", "untrue")
_SHORT_YES = ("it is", "there is", "there are", "it does", "they are", "they do", "this is true", "that is right")
_SHORT_NO = (
    *("it is not", "it isn't", "there is not", "there isn't", "there are not", "there aren't", "it does not"),
    *("it doesn't", "they are not", "they aren't", "they do not", "they don't", "not", "none", "there are none"),
)
_REFUSAL = re.compile(
    r"\b(?:can ?not|can't|could not|couldn't|unable|not able|impossible|not possible|unclear|not clear|not sure|unsure"
    r"|uncertain|unknown|do not know|don't know|not enough|insufficient|hard to (?:tell|say)|sorry|as an ai"
    r"|no(?:body| one) (?:knows|can (?:tell|say|know))"
    r"|not (?:specified|provided|visible|applicable|determinable)|undetermined|indeterminate|n/a"
    r"|no (?:image|picture|photo)s? (?:(?:is|are|was|were|has been|have been) )?"
    r"(?:provided|attached|given|uploaded|shown))\b"
)
_CUE = re.compile(
    r"\banswer\b[^\n:=.]{0,40}?(?:\bis\b|\bwould be\b|\bshould be\b|[:=])\s*:?\s*"
    r"|\btotal\b(?: of| is|:)?\s*|=\s*"
)
_LEAD = re.compile(
    r"^(?:(?:so|thus|therefore|hence|well|okay|ok|sure|i think|i believe|i see|i count|i would say)\b[,:]?\s+)+"
)
_INTRO = re.compile(
    r"^(?:(?:it|this|that|he|she|they|these)"
    r"(?:'s|'re| is| are| was| were| has| have| looks?| appears? to be| seems? to be)"
    r"|there(?:'s|'re| is| are)|is|are"
    r"|the (?:answer|colou?r|shape|size|material|pose|number|count|object|thing)\S* (?:is|are))\s+"
)
_ARTICLE = re.compile(r"^(?:(?:a|an|the|of|exactly|only|just|about|approximately|definitely|probably|likely)\s+)+")
_POLAR_LEAD = re.compile(
    r"^(?P<said>yes|yeah|yep|yup|true|correct|indeed|certainly|absolutely|no|nope|false|incorrect)"
    r"(?:$|[,.;:!()\n-]|\s+(?:there|it|they|the|this|that|these|he|she|i|because|since|not|all|both|at|neither|is|as)\b)"
)
_NEGATED = re.compile(
    r"(?:\bnot|n't|\brather than|\binstead of|\bno longer|\bneither|\bnor|\bwithout)(?: an?| the| any)? $"
)
_NEGATION = re.compile(r"\b(?:no|not|none|neither|nor|never|nobody|nothing|without)\b|n't\b")
_NO_NUMBER = re.compile(r"\b(?:no|none|not any|neither)\b|n't any\b")
_PICTURE = re.compile(
    r"\b(?:image|picture|photo|figure|option|step)s? (?:no\. |number |#)?\d+\b|^\s*\(?\d+[.)](?= )", re.MULTILINE
)
_COUNTS = re.compile(r"\bhow many\b|\bwhat number\b|\bthe number of\b|\bcount\b")
_ASKS_WORD = re.compile(r"\b(?:what|which|who|where|whose|what's)\b")
_MANY = 100  # the largest number that is read in words


@dataclass(frozen=True)
class Parsed:
    """The answer that a reply gives, "" for none, and how it was found, or why it was not."""

    answer: str
    how: str

    @property
    def known(self) -> bool:
        """Whether the reply gives an answer, of those that there are or not."""
        return self.how not in UNPARSED


class Parser:
    """Reads replies to questions whose answers are ``answers``; ``synonyms``: other words for some of these."""

    def __init__(self, answers: Iterable[str], synonyms: Mapping[str, str] | None = None):
        self.answers = sorted(set(answers))
        self._forms: dict[str, str] = {}
        for answer in self.answers:
            for form in _forms(answer):
                self._forms.setdefault(form, answer)
        known = {answer.lower(): answer for answer in self.answers}
        for word, answer in (synonyms or {}).items():
            for form in _forms(word):
                self._forms.setdefault(form, known.get(answer.lower(), answer))
        self._forms |= {answer.lower(): answer for answer in self.answers}
        longest = sorted(self._forms, key=lambda form: (-len(form), form))
        self._search = re.compile(rf"(?<![\w'])(?:{'|'.join(map(re.escape, longest))})(?![\w'])")
        self._yes, self._no = (
            next((self._forms[w] for w in words[:2] if w in self._forms), "") for words in (_YES, _NO)
        )

    def parse(self, reply: str, question: str = "", cue: str = "") -> Parsed:
        """What ``reply`` to ``question`` means; ``cue`` is what its answer stands behind, where the prompt says so."""
        text, asked = _plain(reply), _plain(question)
        if "<think>" in text:
            return Parsed("", UNFINISHED)
        text = re.sub(r"<[^<>\n]*>", " ", text).strip()
        if asked and text.startswith(asked):
            text = text[len(asked) :].lstrip(" ?.:-\n")
        kinds = self._kinds(asked)
        said = [Parsed("", NOTHING)]
        for piece in _pieces(text, _plain(cue)):
            said.append(self._piece(piece, asked, kinds))
            if said[-1].how in (EXACT, FORM, FOUND):
                return said[-1]
        return next((found for found in said if found.known), self._sentences(text, asked, kinds, said[-1]))

    def _sentences(self, text: str, asked: str, kinds: set[str], found: Parsed) -> Parsed:
        """The first sentence that says one answer, where the whole says several."""
        for sentence in re.split(r"(?<=[.!?])\s+|\n+", text) if found.how == SEVERAL and NUMBER not in kinds else []:
            said = self._piece(sentence, asked, kinds)
            if said.how in (EXACT, FORM, FOUND):
                return said
        return found

    def _piece(self, text: str, asked: str, kinds: set[str]) -> Parsed:
        """What a piece of a reply says."""
        short = _stripped(text)
        if (whole := self._whole(short, kinds)) is not None:
            return whole
        lead = _POLAR_LEAD.match(short)
        if lead and POLAR in kinds and (self._yes or self._no):
            return Parsed(self._yes if lead["said"] in _YES else self._no, FOUND)
        if _REFUSAL.search(text):
            _, _, rest = re.sub(r"\bhowever\b,?", "but", text).partition("but ")
            return self._piece(rest, asked, kinds) if rest else Parsed("", REFUSED)
        found = self._found(text, asked, kinds)
        if len(found) == 1:
            return Parsed(found[0], FOUND)
        if not found and kinds == {POLAR} and self._no and _NEGATION.search(text) and not _NEGATION.search(asked):
            return Parsed(self._no, FOUND)
        bare = _bare(short)
        if not found and bare and "\n" not in bare and len(bare.split()) <= (1 if kinds == {POLAR} else 3):
            return Parsed(str(_numbers().get(bare, bare)), OTHER)
        return Parsed("", SEVERAL if found else NOTHING)

    def _whole(self, short: str, kinds: set[str]) -> Parsed | None:
        """What a reply says that is nothing but an answer, maybe with an article or `it is`."""
        if NUMBER in kinds and short in ("no", "none", "there are none", "not any", "nothing") and "0" in self._forms:
            return Parsed(self._forms["0"], FORM)
        for said in (short, _bare(short)):
            if said in self._forms and not (said == "one" and NUMBER not in kinds and short != "one"):
                answer = self._forms[said]
                return Parsed(answer, EXACT if short == answer.lower() else FORM)
        polar = self._yes if short in _SHORT_YES else self._no if short in _SHORT_NO else ""
        return Parsed(polar, FORM) if polar and POLAR in kinds else None

    def _found(self, text: str, asked: str, kinds: set[str]) -> list[str]:
        """The answers of these kinds that a text says, but for what it negates, or the question says itself."""
        text = _PICTURE.sub(" ", text)
        said: list[tuple[str, str]] = []
        for match in self._search.finditer(text):
            form, answer = match[0], self._forms[match[0]]
            kind = _kind(answer)
            if kind not in kinds or (kind != POLAR and _NEGATED.search(text[: match.start()])):
                continue
            if form == "one" and NUMBER not in kinds:
                continue
            said.append((form, answer))
        if kinds == {NUMBER} and not said and _NO_NUMBER.search(text):
            return [self._forms["0"]] if "0" in self._forms else []
        offered = [answer for form, answer in said if _offers(asked, form)]
        new = [answer for form, answer in said if not re.search(rf"\b{re.escape(form)}\b", asked)]
        return list(dict.fromkeys(offered or new))

    def _kinds(self, asked: str) -> set[str]:
        """The kinds of answers that a question may have: of those that there are, what its words ask for."""
        there = {_kind(answer) for answer in self.answers}
        if _COUNTS.search(asked) and not re.match(r"(?:is|are|do|does|there)\b", asked):
            wanted = {NUMBER}
        elif _ASKS_WORD.search(asked):
            wanted = {WORD}
        elif not asked:
            wanted = there
        else:
            wanted = {POLAR, WORD} if " or " in asked else {POLAR}
        return wanted & there or there


def _offers(asked: str, form: str) -> bool:
    """Whether a question offers a word to choose."""
    word = re.escape(form)
    return bool(re.search(rf"\b{word} or\b|\bor (?:an? |the )?{word}\b", asked))


def _kind(answer: str) -> str:
    if answer.lower() in ("yes", "no", "true", "false"):
        return POLAR
    return NUMBER if answer.isdecimal() else WORD


def _forms(answer: str) -> set[str]:
    """The ways in which an answer may be written."""
    said = answer.lower()
    if _kind(answer) == POLAR:
        return {said, *(_YES if said in _YES else _NO)}
    if answer.isdecimal():
        words = {word for word, number in _numbers().items() if number == int(answer)}
        return {said, f"{said}.0", *words}
    spaced = re.sub(r"[_-]", " ", said)
    return {said, spaced, *_inflected(spaced)}


@cache
def _numbers() -> dict[str, int]:
    """Numbers by their words."""
    return {str(_engine().number_to_words(str(number))): number for number in range(_MANY + 1)}


@cache
def _engine() -> Any:
    """What knows plurals and numbers' words, imported when replies are read.

    As in ``scenes/word_forms.py``, which a harness that reads replies by a copy of this file has not, inflect's calls
    go unchecked: rewriting them takes nine tenths of the seconds of its import.
    """
    import typeguard

    checking: Any = typeguard
    checked, checking.typechecked = checking.typechecked, lambda function: function
    try:
        import inflect
    finally:
        checking.typechecked = checked
    return inflect.engine()


def _inflected(word: str) -> set[str]:
    """The plural of a word, and its singular where it is a plural, and British for American spelling."""
    found = {_engine().plural_noun(word), _engine().singular_noun(word) or word}
    return found | {word.replace("gray", "grey"), word.replace("color", "colour")}


def _plain(text: str) -> str:
    """A text in small letters without what is only its look: markup, quotes, LaTeX, finished thoughts."""
    text = unicodedata.normalize("NFKC", text).replace("’", "'").replace("‘", "'")
    text = re.sub(r"[–—]", " - ", text).lower()
    text = re.sub(r"<think>.*?</think>", " ", text, flags=re.DOTALL)
    text = re.sub(r"\\(?:boxed|text|mathrm|textbf)\s*\{([^{}]*)\}", r"\1", re.sub(r"\\text\{([^{}]*)\}", r"\1", text))
    text = re.sub(r"```\w*|[*`$#\"“”{}\[\]|_]|(?<!\w)'|'(?!\w)", " ", text)
    return re.sub(r"[ \t]+", " ", text).strip()


def _pieces(text: str, cue: str) -> list[str]:
    """Where in a reply its answer may stand: behind a cue, in the first line, in the last, or anywhere."""
    pieces: list[str] = []
    if cue and cue in text:
        pieces.append(_line(text.rpartition(cue)[2]))
    if cues := list(_CUE.finditer(text)):
        pieces.append(_line(text[cues[-1].end() :]))
    lines = [line for line in text.splitlines() if line.strip()]
    pieces += [*lines[:1], *lines[-1:]] if len(lines) > 1 else []
    return [piece for piece in dict.fromkeys([*pieces, text]) if piece]


def _line(text: str) -> str:
    """The first line that says something."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def _stripped(text: str) -> str:
    """A piece without the marks around it, an option's letter, and what only leads to it."""
    text = text.strip(" .,;:!?-()\n")
    text = re.sub(r"^(?:option )?\(?[a-e][).:] +", "", text)
    return _LEAD.sub("", text).strip(" .,;:!?-()\n")


def _bare(text: str) -> str:
    """A piece without `it is` and articles."""
    return _ARTICLE.sub("", _INTRO.sub("", text)).strip(" .,;:!?-()\n")
