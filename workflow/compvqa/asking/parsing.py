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
_SHORT_YES = (
    *("it is", "there is", "there are", "it does", "they are", "they do", "this is true", "right", "y", "of course"),
)
_SHORT_NO = (
    *("it is not", "it isn't", "there is not", "there isn't", "there are not", "there aren't", "it does not"),
    *("it doesn't", "they are not", "they aren't", "they do not", "they don't", "not", "none", "there are none"),
    *("wrong", "n", "not at all", "not really", "of course not", "certainly not", "definitely not", "probably not"),
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
    r"^(?P<said>yes|yeah|yep|yup|true|correct|indeed|certainly|absolutely|no|nope|false|incorrect)(?P<negated> not\b)?"
    r"(?:$|[,.;:!()\n-]|\s+(?:there|it|they|the|this|that|these|he|she|i|because|since|not|all|both|at|neither|is|as)\b)"
)
_NEGATED = re.compile(
    r"(?:\bnot|n't|\brather than|\binstead of|\bno longer|\bneither|\bnor|\bwithout)(?: an?| the| any)?"
    r"(?: \w+ n?or(?: an?| the)?)? $"
)
# before yes or no, true or false
_REVERSED = re.compile(
    r"(?:\bnot|n't|\bneither(?: \w+)?(?: is| are)?|\bnever)"
    r"(?: (?:an?|the|entirely|fully|completely|quite|really|actually|always|strictly|simply))* $"
)
_NEGATION = re.compile(r"\b(?:no|not|none|neither|nor|never|nobody|nothing|without)\b|n't\b")
_NO_NUMBER = re.compile(
    r"\b(?:no|none|not any|not a single|neither)\b|n't any\b"
    r"|\b(?:don't|do not) (?:see|find|contain|show|have) (?:any|an?)\b"
)
_PICTURE = re.compile(
    r"(?:\b(?:in|on|of|from) )?\b(?:image|picture|photo|figure|option|step)s? (?:no\. |number |#)?\d+\b"
    r"|^\s*\(?\d+[.)](?= )",
    re.MULTILINE,
)
# a line, or a sentence, that tells of one picture
_ONE_OF_MANY = re.compile(
    r"(?:in )?(?:the )?(?:(?:image|picture|photo|figure|step) ?(?:no\. |number |#)?\d|\(?\d+[.)] "
    r"|(?:first|second|third|fourth|fifth|last) (?:image|picture|photo)\b)"
)
_CONCLUSION = re.compile(r"(?:overall|so|therefore|thus|hence|in (?:conclusion|total|summary)|altogether|finally)\b")
_SENTENCE = re.compile(r"(?<=[.!?])(?<!\d\.)\s+|\n+")
_CORRECTED = re.compile(
    r"\b(?:wait(?=[,.!:;…]| -)|correction(?=:)|on second thoughts?(?=,)|actually,?(?= (?:yes|no)\b))"
)
_THOUGHT = r"think|thinking|thought|thoughts|reasoning|scratchpad"
# Answers to a choice of relations; anywhere else they say where something is.
_PREPOSITIONS = frozenset(
    (
        "in",
        "on",
        "at",
        "by",
        "of",
        "to",
        "with",
        "near",
        "under",
        "over",
        "behind",
        "above",
        "below",
        "beside",
        "inside",
    )
    + ("outside", "along", "around", "against", "among", "between", "through", "toward", "towards", "across", "beneath")
    + ("underneath", "from", "off", "up", "down", "into", "onto", "for")
)
_COUNTS = re.compile(r"\bhow many\b|\bwhat number\b|\bthe number of\b|\bcount\b")
_ASKS_WORD = re.compile(r"\b(?:what|which|who|where|whose|what's)\b")
_CHOOSES = re.compile(r"(?:is|are|does|do|what|which|the)\b(?! there\b)(?!.*\beither\b).*\bor\b", re.DOTALL)
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
        whole = r"(?![\w']|[.,]\d| (?:hundred|thousand|million)\b)"  # no beginning of a larger number
        self._search = re.compile(rf"(?<![\w'])(?<!\d[.,])(?:{'|'.join(map(re.escape, longest))}){whole}")
        self._yes, self._no = (
            next((self._forms[w] for w in words[:2] if w in self._forms), "") for words in (_YES, _NO)
        )

    def parse(self, reply: str, question: str = "", cue: str = "") -> Parsed:
        """What ``reply`` to ``question`` means; ``cue`` is what its answer stands behind, where the prompt says so."""
        text, asked = _plain(reply), _plain(question)
        if re.search(rf"<(?:{_THOUGHT})>", text):
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
        if (line := self._line(text, asked, kinds)) is not None:
            return line
        said.append(self._piece(text, asked, kinds) if text else said[0])
        if said[-1].how in (EXACT, FORM, FOUND):
            return said[-1]
        return next((found for found in said if found.known), self._sentences(text, asked, kinds, said[-1]))

    def _line(self, text: str, asked: str, kinds: set[str]) -> Parsed | None:
        """What the first or the last of several lines says, where it tells of all pictures: the one that is an answer
        alone, or else the one that speaks more of what is asked."""
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if len(lines) < 2:
            return None
        ends = [line for line in (lines[0], lines[-1]) if not _ONE_OF_MANY.match(line)]
        found = [(line, self._piece(line, asked, kinds)) for line in ends]
        for line, said in found:
            if said.how in (EXACT, FORM) or said.how == FOUND and _POLAR_LEAD.match(_stripped(line)):
                return said
        told = [(line, said) for line, said in found if said.how == FOUND]
        return max(told, key=lambda one: _shared(one[0], asked))[1] if told else None

    def _sentences(self, text: str, asked: str, kinds: set[str], found: Parsed) -> Parsed:
        """The sentence that says one answer, where the whole says several: one that is an answer alone, or else the
        first of those that speak most of what is asked."""
        if found.how != SEVERAL or NUMBER in kinds:
            return found
        best: tuple[int, Parsed] | None = None
        for sentence in _SENTENCE.split(text):
            said = self._piece(sentence, asked, kinds)
            if said.how not in (EXACT, FORM, FOUND) or _kind(said.answer) not in kinds or _ONE_OF_MANY.match(sentence):
                continue
            if said.how != FOUND:
                return said
            if best is None or _shared(sentence, asked) > best[0]:
                best = _shared(sentence, asked), said
        return best[1] if best else found

    def _piece(self, text: str, asked: str, kinds: set[str]) -> Parsed:
        """What a piece of a reply says."""
        short = _stripped(text)
        if (whole := self._whole(short, kinds)) is not None:
            return whole
        lead = _POLAR_LEAD.match(short)
        if lead and POLAR in kinds and (self._yes or self._no):
            offered = self._found(text, asked, {WORD}) if WORD in kinds and _CHOOSES.match(asked) else []
            if len(offered) == 1 and _offers(asked, offered[0]):
                return Parsed(offered[0], FOUND)
            return Parsed(self._yes if lead["said"] in _YES and not lead["negated"] else self._no, FOUND)
        if _REFUSAL.search(text):
            _, _, rest = re.sub(r"\bhowever\b,?", "but", text).partition("but ")
            return self._piece(rest, asked, kinds) if rest else Parsed("", REFUSED)
        found = self._found(text, asked, kinds)
        if len(found) > 1 and kinds == {NUMBER}:
            found = self._found(re.sub(r"\([^()]*\)", " ", text), asked, kinds) or found
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
        ways = {short, _bare(short)}
        polar = self._yes if ways & {*_SHORT_YES} else self._no if ways & {*_SHORT_NO} else ""
        return Parsed(polar, FORM) if polar and POLAR in kinds else None

    def _found(self, text: str, asked: str, kinds: set[str]) -> list[str]:
        """The answers of these kinds that a text says, but for what it negates, or the question says itself."""
        text = _PICTURE.sub(" ", text)
        if NUMBER in kinds:
            text = _of_so_many().sub(" ", text)
        said: list[tuple[str, str]] = []
        for match in self._search.finditer(text):
            form, answer, before = match[0], self._forms[match[0]], text[: match.start()]
            kind = _kind(answer)
            if kind not in kinds or (kind != POLAR and _NEGATED.search(before)):
                continue
            if form == "one" and NUMBER not in kinds or form in _PREPOSITIONS and not _offers(asked, form):
                continue
            if kind == POLAR and _REVERSED.search(before):
                answer = self._no if answer == self._yes else self._yes
            said.append((form, answer))
        if kinds == {NUMBER} and not said and _NO_NUMBER.search(text):
            return [self._forms["0"]] if "0" in self._forms else []
        offered = [answer for form, answer in said if _offers(asked, form)]
        if kinds == {NUMBER} and not said and re.search(r"\bboth\b", text) and "2" in self._forms:
            return [self._forms["2"]]
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
    text = re.sub(r"[◁◀](/?)(\w+)[▷▶]", r"<\1\2>", text)
    text = re.sub(rf"<({_THOUGHT})>.*?</\1>", " ", text, flags=re.DOTALL)
    text = re.sub(rf"^.*</(?:{_THOUGHT})>", " ", text, flags=re.DOTALL)
    text = re.sub(r"\\(?:boxed|text|mathrm|textbf)\s*\{([^{}]*)\}", r"\1", re.sub(r"\\text\{([^{}]*)\}", r"\1", text))
    text = re.sub(r"```\w*|[*`$#\"“”{}\[\]|_]|(?<!\w)'|'(?!\w)", " ", text)
    return re.sub(r"[ \t]+", " ", text).strip()


def _pieces(text: str, cue: str) -> list[str]:
    """Where in a reply its answer stands if anywhere: behind a cue, behind a correction, or in the last conclusion."""
    pieces: list[str] = []
    if cue and cue in text:
        pieces.append(_line(text.rpartition(cue)[2]))
    if cues := list(_CUE.finditer(text)):
        pieces.append(_line(text[cues[-1].end() :]))
    if corrected := list(_CORRECTED.finditer(text)):
        pieces.append(text[corrected[-1].end() :].strip(" ,.:-"))
    if not _POLAR_LEAD.match(_stripped(text)):
        pieces += [sentence for sentence in _SENTENCE.split(text)[1:] if _CONCLUSION.match(sentence)][-1:]
    return [piece for piece in dict.fromkeys(pieces) if piece]


def _shared(text: str, asked: str) -> int:
    """How many of the words that a question has stand in a text."""
    return len({*re.findall(r"\w+", text)} & {*re.findall(r"\w+", asked)})


@cache
def _of_so_many() -> re.Pattern[str]:
    """Of how many there are: "of the 5 images", "out of five", "/5"."""
    many = "|".join(rf"{word}\b" for word in sorted(_numbers(), key=len, reverse=True))
    of = r"\b(?:out )?of(?: the| these| those| all)* "
    return re.compile(rf"{of}(?:\d+\b|{many})(?: (?:image|picture|photo|scene)s)?|(?<=\d)/\d+\b")


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
