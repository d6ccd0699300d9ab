"""imSitu: ``train.json`` and ``dev.json`` (image → verb and frames), ``imsitu_space.json`` (nouns, roles) and
``generation_templates.tab`` (a sentence a verb, such as "AGENT pours LIQUID into DESTINATION at PLACE"). A sentence of
imSitu's that leads its verb to what English does not ("feeds FOOD … to EATER": who feeds an apple gives an apple to
eat) is read as ``imsitu_sentences.json`` has it.

A verb's sentence orders its roles: the first is the subject, the second the object of one relation, the later
ones its modifiers (COVR, section 3.1). Before a part of the subject stands "their" ("carrying" something "on their"
AGENTPART), before a part of something else "the". imSitu has no boxes and no picture sizes. A noun is called by its
synset's first gloss, unless few people use that word ("homo"): then by an everyday one of ``imsitu_glosses.json``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path, PurePosixPath

from compvqa.errors import InputError
from compvqa.files import read_text
from compvqa.scenes.keys import Keys, meant
from compvqa.scenes.raw import RawObject, RawRelation, RawScene, Report, SplitOf, clean_name
from compvqa.scenes.stream import Repeated, members

SPLITS = ("train", "val", "all")
FILES = ("space", "templates")  # beside those
SCENE = Keys("scene", ("verb", "frames"))
VERB = Keys("verb", ("roles", "abstract"))
NOUN = Keys("noun", ("gloss",))
ARTICLES = ("the", "a", "an")
POSSESSIVES = ("their", "its", "his", "her")
_HERE = resources.files("compvqa.scenes.readers")
# of synsets whose first gloss few people use, the everyday word
EVERYDAY: dict[str, str] = json.loads((_HERE / "imsitu_glosses.json").read_text(encoding="utf-8"))
# of imSitu's sentences that say something else than is meant, or nothing, what does
BETTER: dict[str, str] = json.loads((_HERE / "imsitu_sentences.json").read_text(encoding="utf-8"))
PART = "part"  # ends the roles of parts: agentpart, victimpart, objectpart
PICTURES = (".jpg", ".jpeg", ".png")


@dataclass(frozen=True)
class Template:
    """A verb's sentence: its relation, the first two roles, and (words before, role) for each later role."""

    relation: str
    subject: str
    object: str
    modifiers: tuple[tuple[str, str], ...]

    @property
    def direct(self) -> bool:
        """Whether the verb leads to its object without a preposition: "pumping", not "jumping from"."""
        last = self.relation.split(" ")[-1]
        return last.endswith("ing") or last in (*POSSESSIVES, *ARTICLES)


@dataclass(frozen=True)
class Space:
    """Each verb's sentence and roles, and the gloss of each WordNet id."""

    sentences: dict[str, str]
    roles: dict[str, tuple[str, ...]]
    glosses: dict[str, str]


def read(files: dict[str, Path], split_of: SplitOf, report: Report) -> Iterator[RawScene]:
    """The scenes of ``train``, ``val`` and ``all``; ``space`` and ``templates`` name the two other files."""
    if "space" not in files:
        raise InputError("imSitu needs the file imsitu_space.json: name it as 'space' under the source's files.")
    space = read_space(files["space"], files.get("templates"))
    template_of = cache(lambda verb: parse_template(verb, space.sentences[verb], space.roles.get(verb, ())))
    for part in (part for part in SPLITS if part in files):
        report.file = files[part].name
        for scene_id, record in members(files[part]):
            split = split_of(scene_id) if part == "all" else part
            scene = _scene(scene_id, record, split, space, template_of, report)
            if scene is not None:
                yield scene


def read_space(path: Path, templates: Path | None = None) -> Space:
    """The vocabulary of ``imsitu_space.json``; a sentence in ``generation_templates.tab`` goes first."""
    tables = dict(members(path))
    verbs, nouns = tables.get("verbs"), tables.get("nouns")
    if not isinstance(verbs, dict) or not isinstance(nouns, dict):
        raise InputError(f"{path} lacks the tables 'verbs' and 'nouns': give imSitu's own imsitu_space.json.")
    _check_keys(path, VERB, verbs)
    _check_keys(path, NOUN, nouns)
    sentences, roles, glosses = {}, {}, {}
    for verb, item in verbs.items():
        if not isinstance(item, dict) or not isinstance(item.get("roles"), list | dict):
            raise InputError(f"{path} gives no roles for the verb {verb!r}: give imSitu's own imsitu_space.json.")
        sentences[verb] = str(item.get("abstract", ""))
        roles[verb] = tuple(str(role) for role in item["roles"])
    for noun, item in nouns.items():
        gloss = item.get("gloss") if isinstance(item, dict) else None
        name = clean_name(gloss[0])[0] if isinstance(gloss, list) and gloss else None
        if name is not None:
            glosses[noun] = EVERYDAY.get(name, name)
    if templates is not None:
        sentences |= _read_templates(templates)
    sentences = {verb: BETTER.get(sentence, sentence) for verb, sentence in sentences.items()}
    return Space(sentences, roles, glosses)


def _check_keys(path: Path, keys: Keys, records: dict[str, object]) -> None:
    for name, record in records.items():
        wrong = keys.wrong(record, Report()) if isinstance(record, dict) else ""
        if wrong:
            raise InputError(f"{path} has a wrong record {name!r} ({wrong}): correct the key.")


def _read_templates(path: Path) -> dict[str, str]:
    sentences: dict[str, str] = {}
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        if not line.strip():
            continue
        verb, tab, sentence = line.partition("\t")
        if not tab or not sentence.strip():
            raise InputError(f"{path}, line {number}, is not 'verb<TAB>sentence': correct that line.")
        sentences.setdefault(verb.strip(), sentence.strip())
    return sentences


def ing(verb: str) -> str:
    """The -ing form of imSitu's key for a verb; nearly all are one already ("demolished" is not)."""
    if verb.endswith("ing"):
        return verb
    if verb.endswith("ed"):
        return verb[:-2] + "ing"
    return (verb[:-1] if verb.endswith("e") and not verb.endswith("ee") else verb) + "ing"


def parse_template(verb: str, sentence: str, roles: tuple[str, ...]) -> Template | None:
    """The relation that a verb's sentence describes, or None where it has fewer than two roles.

    The relation is the verb's -ing form with the words between the first two roles ("clapping their"),
    without the sentence's own verb, closing articles, or a noun that the verb says again ("extracts *fish*").
    Words before a role that the verb does not have go with it ("talks to LISTENER in MANNER"). Before a part stands
    whose it is: "waving their", "hitting" with the modifier "in the".
    """
    known = {role.lower(): role for role in roles}
    found: list[tuple[list[str], str]] = []
    words: list[str] = []
    for token in sentence.split():
        token = token.strip(".,;:")
        if not any(letter.isupper() for letter in token):
            words.append(token)
            continue
        role = known.get(token.lower()) or known.get(token.lower().removesuffix("s"))
        if role is not None and role.lower() != "place":
            found.append((words, role))
        words = []
    if len(found) < 2 or found[0][1] == found[1][1]:
        return None
    (_, subject), (between, target), *later = found
    name = ing(verb)
    kept = [word for word in between[1:] if f"{word}ing" != name]
    of_another = bool(later) and later[0][0] == ["of"]
    modifiers = ((_said_of(before, role, subject), role) for before, role in later if before)
    return Template(
        relation=" ".join([name, *_said_of(kept, target, subject, of_another).split()]),
        subject=subject,
        object=target,
        modifiers=tuple((before, role) for before, role in modifiers if before),
    )


def _said_of(words: list[str], role: str, subject: str, of_another: bool = False) -> str:
    """The words before a role without closing articles, and for a part whose it is ("on their", "in the").

    "their" are the subject's parts (AGENTPART, where AGENT is the subject) and the BODYPART that its verb leads to, but
    not what is ``of_another`` ("strikes AGENTPART of COAGENT").
    """
    said = _without_article(words)
    if said.split(" ")[-1] in POSSESSIVES:
        return said
    if not of_another and role in (f"{subject}{PART}", f"body{PART}"):
        return f"{said} their".lstrip()
    return f"{said} the".lstrip() if role.endswith(PART) else said


def _without_article(words: list[str]) -> str:
    words = list(words)
    while words and words[-1] in ARTICLES:
        words.pop()
    return " ".join(words)


def choose_frame(frames: list[dict[str, str]], template: Template) -> dict[str, str] | None:
    """Of the frames that fill the first two roles, the one that agrees most with the others (ties: first)."""
    complete = [i for i, frame in enumerate(frames) if frame.get(template.subject) and frame.get(template.object)]

    def agreement(index: int) -> int:
        others = (frame for i, frame in enumerate(frames) if i != index)
        return sum(other.get(role) == noun for other in others for role, noun in frames[index].items())

    return frames[max(complete, key=lambda i: (agreement(i), -i))] if complete else None


def _scene(scene_id: str, record: object, split: str, space: Space, template_of, report: Report) -> RawScene | None:
    frames = record.get("frames") if isinstance(record, dict) else None
    verb = record.get("verb") if isinstance(record, dict) else None
    wrong = SCENE.wrong(record, report) if isinstance(record, dict) else ""
    if wrong or not isinstance(verb, str) or not isinstance(frames, list):
        report.reject(scene_id, "scene", wrong or "scene without a verb and frames")
        return None
    if not space.sentences.get(verb):
        report.reject(scene_id, f"scene of verb {verb}", "verb without a sentence template")
        return None
    template = template_of(verb)
    if template is None:
        report.count("scenes dropped: verb with fewer than two roles")
        return None
    frame = choose_frame(_good_frames(scene_id, frames, space.roles.get(verb, ()), report), template)
    if frame is None:
        report.count("scenes dropped: first two roles are not filled")
        return None
    return _build(scene_id, frame, template, split, space, report)


def _good_frames(scene_id: str, frames: list, roles: tuple[str, ...], report: Report) -> list[dict[str, str]]:
    report.count("frames in", len(frames))
    good = []
    for number, frame in enumerate(frames):
        if not isinstance(frame, dict) or not all(isinstance(noun, str) for noun in frame.values()):
            report.reject(scene_id, f"frame {number}", "frame is not a table of noun ids")
        elif isinstance(frame, Repeated):
            report.reject(scene_id, f"frame {number}", "frame has a role twice")
        elif wrong := _misspelt(frame, roles, report):
            report.reject(scene_id, f"frame {number}", wrong)
        else:
            good.append(frame)
    return good


def _misspelt(frame: dict[str, str], roles: tuple[str, ...], report: Report) -> str:
    """Why a frame is refused: a role of it is unknown to its verb, and looks like one that it lacks; empty if none is.
    Other unknown roles are counted."""
    unknown = [role for role in frame if role not in roles]
    if not unknown:
        return ""
    lacking = [role for role in roles if role not in frame]
    for role in unknown:
        if name := meant(role, lacking):
            return f"frame: unknown role {role!r}, did you mean {name!r}?"
    report.count("roles that their verb has not", len(unknown))
    return ""


def _build(scene_id: str, frame: dict, template: Template, split: str, space: Space, report: Report):
    objects: list[RawObject] = []
    modifiers: list[tuple[str, str]] = []
    roles = [("", template.subject), ("", template.object), *template.modifiers]
    for before, role in roles:
        noun = frame.get(role)
        if not noun:
            report.count("modifiers dropped: role is empty")
            continue
        if before and template.direct and space.glosses.get(noun, noun) == space.glosses.get(frame[template.object]):
            report.count("modifiers dropped: role is the object again")
            continue
        if noun not in space.glosses:
            report.reject(scene_id, f"object {role}", "object: noun id without a usable gloss")
            continue
        objects.append(RawObject(role, space.glosses[noun]))
        name, wrong = clean_name(before) if before else ("", "")
        if name is None:
            report.reject(scene_id, f"modifier {before} of {role}", f"modifier: {wrong}")
        elif name:
            modifiers.append((name, role))
    scene = RawScene(scene_id, split, image_name(scene_id), None, None, objects, [])
    if [item.object_id for item in objects[:2]] != [template.subject, template.object]:
        report.reject(scene_id, f"relation {template.subject} -> {template.object}", "relation to a missing object")
        return scene
    name, wrong = clean_name(template.relation)
    if name is None:
        report.reject(scene_id, f"relation {template.subject} -> {template.object}", f"relation: {wrong}")
        return scene
    scene.relations.append(RawRelation(name, template.subject, template.object, tuple(modifiers)))
    return scene


def image_name(scene_id: str) -> str:
    """What the image of a scene is called, which imSitu's files name by that of its picture (``jumping_3.jpg``)."""
    picture = PurePosixPath(scene_id).suffix.lower() in PICTURES
    return scene_id[: scene_id.rindex(".")] if picture else scene_id
