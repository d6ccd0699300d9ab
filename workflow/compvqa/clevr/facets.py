"""What accuracy on CLEVR's questions is told by: the paper's analyses (Johnson et al., section 4).

Where an analysis is of questions of one kind at a time, the kind is the first word of a value: ``query 12``. Questions
with a same-attribute relation, which several analyses set aside, have values of their own: ``query same_attribute 9``.
"""

from __future__ import annotations

from compvqa.clevr import analysis
from compvqa.clevr.effective import effective
from compvqa.clevr.executor import ILL_POSED
from compvqa.clevr.language import GROUPS
from compvqa.clevr.properties import Question
from compvqa.programs.facets import Facet

COMPARED = ("query", "count", "exist")  # kinds that are told apart by their relations (4.3, 4.4, 4.6)
SHAPE = GROUPS.index("shape")
SPHERE, OTHERS = "sphere", "cube or cylinder"  # whose colours CoGenT leaves as they are, and swaps


def _with_kind(question: Question, value: object) -> str:
    same = " same_attribute" if analysis.same_relates(question.program) else ""
    return f"{analysis.kind(question.program)}{same} {value}"


def _relationship(question: Question) -> str | None:
    program = question.program
    counts = analysis.relates(program), analysis.same_relates(program)
    kind = analysis.kind(program)
    if kind not in COMPARED or not analysis.is_chain(program) or counts not in ((1, 0), (0, 1)):
        return None
    return f"{kind} {'spatial' if counts == (1, 0) else 'same_attribute'}"


def _topology(question: Question) -> str | None:
    program = question.program
    kind, joins = analysis.kind(program), [row for row in program if len(row.dependencies) > 1]
    if kind not in COMPARED or analysis.relates(program) != 2 or analysis.same_relates(program):
        return None
    if not joins:
        return f"{kind} chain"
    return f"{kind} tree" if [row.operation for row in joins] == ["intersect"] else None


def _relates(question: Question) -> str | None:
    program = question.program
    if analysis.kind(program) not in COMPARED or not analysis.is_chain(program):
        return None
    return _with_kind(question, analysis.relates(program))


def _relates_not_absolute(question: Question) -> str | None:
    told, found = _relates(question), None
    if told is not None and question.values[-1] is not ILL_POSED:
        found = analysis.is_absolute(question.program, question.scene, question.values[-1])
    return told if found is False else None


def _effective_size(question: Question) -> str | None:
    size = question.effective_size
    return None if size is None else _with_kind(question, size)


def _effective_size_one(question: Question) -> str | None:
    found = question.values[-1]
    if found is ILL_POSED:
        return None
    return _with_kind(question, len(effective(question.program, question.scene, found, "one")))


def _degenerate(question: Question) -> str | None:
    found = question.values[-1]
    if found is ILL_POSED or not analysis.relates(question.program):
        return None
    return "yes" if analysis.is_degenerate(question.program, question.scene, found) else "no"


def _queried_shape(question: Question) -> str | None:
    program = question.program
    if analysis.kind(program) != "query" or question.values[-1] is ILL_POSED:
        return None
    asked = question.values[program[-1].dependencies[0]]
    return f"{program[-1].operation} {question.scene.objects[asked][SHAPE]}"


def _cogent(question: Question) -> str | None:
    told = _queried_shape(question)
    function, _, shape = (told or "").partition(" ")
    if function not in ("query_color", "query_material"):
        return None
    return f"{function} {SPHERE if shape == SPHERE else OTHERS}"


def _named(question: Question) -> str | None:
    values = [argument for row in question.program for argument in row.arguments]
    kind = analysis.kind(question.program)
    return f"{kind} {values[0]}" if kind in ("exist", "count") and len(values) == 1 else None


FACETS = (
    Facet("type", "the last function (4.2)", lambda question: question.program[-1].operation),
    Facet("kind", "query, count, exist, or a comparison (4.2)", lambda question: analysis.kind(question.program)),
    Facet("relationship", "of chains, one spatial or one same-attribute relation (4.3)", _relationship),
    Facet("topology", "of questions with two spatial relations, chain or tree joined by and (4.4)", _topology),
    Facet("size", "functions of the program (4.5)", lambda question: _with_kind(question, len(question.program))),
    Facet("effective_size", "functions of the smallest pruned program, any cuts (4.5)", _effective_size, scenes=True),
    Facet("effective_size_one", "the same, of those with one cut (B)", _effective_size_one, scenes=True),
    Facet("relates", "of chains, the number of spatial relations (4.6)", _relates),
    Facet(
        "relates_not_absolute",
        "the same, of questions that places in the picture do not answer (4.6)",
        _relates_not_absolute,
        scenes=True,
    ),
    Facet("queried_shape", "the shape of the object whose attribute is asked for", _queried_shape, scenes=True),
    Facet("cogent", "of color and material, that shape: sphere, or cube or cylinder (4.7)", _cogent, scenes=True),
    Facet("degenerate", "whether a spatial relation does not matter (3)", _degenerate, scenes=True),
    Facet("named", "of exist and count, the one value that a question names (CLEVR-PRELIM)", _named),
    Facet("answer", "the right answer: of minimal tests, whether the thing is of the pair", lambda asked: asked.answer),
)
