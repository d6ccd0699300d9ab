"""An audit in words, all of it: as text for a terminal and as an HTML page."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from compvqa.paper.render import environment

RAW_SHOWN = 12  # raw files that are listed by name; a drawn world has thousands of pictures
GUARD = "Leak guard, run again now: passed"
FOLDS = "Image filters: was any image scored by a model that had seen it?"


def html(told: dict) -> str:
    """The audit of a split (:func:`compvqa.provenance.audit.audit`) as one page."""
    raw = told["raw"]
    page, made = environment().get_template("audit.html.j2"), branches(told["steps"], told["split"]["recipe"])
    return page.render(told=told, tree=made, raw=_few(raw), hidden=_hidden(raw), lines=scene_lines, dropped_in=dropped)


def text(told: dict) -> RenderableType:
    """The audit of a split for a terminal."""
    return Group(
        *head(told),
        *_back(told, told["split"]["recipe"]),
        heading(GUARD),
        *[Text(f"{key.removeprefix('leak guard: ')}: {n:,}") for key, n in told["guard"].items()],
        heading(FOLDS),
        *_folds(told["folds"]),
        heading("Examples"),
        *[Padding(story(example), (0, 0, 1, 0)) for example in told["examples"]],
    )


def head(told: dict) -> list[RenderableType]:
    """What an audited split is."""
    split = told["split"]
    line = f"{split['name']}: {sum(split['parts'].values()):,} rows, recipe {split['recipe']}, seed {split['seed']}"
    parts = ", ".join(f"{part} {n:,}" for part, n in split["parts"].items())
    definition = ", ".join(f"{key} {value}" for key, value in split["definition"].items() if value)
    drawn = [Text(f"held out, as drawn: {', '.join(split['drawn'])}")] if split["drawn"] else []
    return [Text(line, style="bold"), Text(f"parts: {parts}"), Text(f"definition: {definition}"), *drawn]


def way(told: dict) -> RenderableType:
    """The way to any output (:func:`compvqa.provenance.audit.way`) for a terminal."""
    return Group(named(told), *_back(told, told["recipe"]))


def named(told: dict) -> Text:
    """What is audited, where it is no split."""
    files = told["files"]
    more = f" and {len(files) - 1:,} more of its recipe" if len(files) > 1 else ""
    return Text(f"{files[0]}{more}, recipe {told['recipe']}", style="bold")


def _back(told: dict, recipe: str) -> list[RenderableType]:
    """The way from raw files to what was made with a recipe."""
    return [
        heading("From raw files to here"),
        _tree(branches(told["steps"], recipe)),
        heading("Raw files"),
        *[Text(f"{row['file']}  {origin(row)}  sha256 {row['sha256']}") for row in _few(told["raw"])],
        *([Text(f"… and {_hidden(told['raw']):,} more (all are in the JSON)")] if _hidden(told["raw"]) else []),
        heading("Counts at each stage"),
        _counts(told["steps"]),
    ]


def branches(made: Sequence[dict], recipe: str) -> dict:
    """Steps as a tree from that of a recipe down: ``step`` (its data), ``below``, ``again`` if it was told before."""
    by_recipe = {step["recipe"]: step for step in made}
    done: set[str] = set()

    def branch(recipe: str) -> dict:
        again = recipe in done
        done.add(recipe)
        below = [] if again else [branch(before) for before in by_recipe[recipe]["after"]]
        return {"step": by_recipe[recipe], "below": below, "again": again}

    return branch(recipe)


def story(told: dict) -> RenderableType:
    """One question's story for a terminal."""
    row = told["question"]
    lines: list[RenderableType] = [Text(row["text"], style="bold"), Text(opening(told))]
    if row.get("tree"):
        lines.append(Text(f"seed {row['seed']}: subgraph {row['tree']} of {row['start_scene']}"))
    for scene in told["scenes"]:
        lines += [Text("  " + line) for line in scene_lines(scene)]
    lines += [Text(line) for line in told.get("drawn", ())]
    if told.get("facets"):
        lines.append(Text(", ".join(f"{name}: {value}" for name, value in told["facets"].items())))
    if told["trace"]:
        table = Table("row", "operator", "arguments", "value", box=None, padding=(0, 2, 0, 0))
        for line in told["trace"]:
            table.add_row(*(Text(str(value)) for value in line))
        lines += [table, Text(f"run again now, the program gives {told['again']}")]
    return Group(*lines)


def opening(told: dict) -> str:
    """A question's id, template, answer and parts."""
    row = told["question"]
    said = f"question {row['question_id']}, {row['template']}, answer {row['answer']}, {row['part']}"
    return said + "".join(f"; in split {name}: {part}" for name, part in told["splits"].items())


def scene_lines(scene: dict) -> list[str]:
    """What is said of one scene of a question: where it is from, its part in the question, what filters said."""
    lines = [f"{scene['scene_id']} (image {scene.get('image')}): {place(scene)}", f"  {role(scene)}"]
    for pair in scene.get("overlap", ()):
        lines.append(f"  m({pair['x']}, {pair['y']}) = {pair['m']:.3f} by {pair['model']}")
    for seen in scene["presence"]:
        by = "no model" if seen["fold"] is None else f"the model of fold {seen['fold']}"
        masked = " where known ones are masked" if seen["masked"] else ""
        lines.append(f"  {seen['subgraph']}{masked}: p = {seen['p']:.3f} by {by}")
    return lines


def place(scene: dict) -> str:
    """Where a scene lies in the raw files."""
    return f"record {scene['record']:,} of {scene['file']}" if scene.get("record") else "raw file no longer there"


def role(scene: dict) -> str:
    """What a scene is to its question."""
    if scene["role"] != "distractor":
        return {"start": "the scene that the subgraph was found in", "other": "shown with the others"}.get(
            scene["role"], scene["role"]
        )
    return f"distractor by {scene['key']}, rank {scene['rank']}: {', '.join(scene['differs']) or 'lacks it'}"


def label(step: dict) -> str:
    """A step in a line: stage, number of runs, what came in and went out."""
    runs = f" × {len(step['records'])}" if len(step["records"]) > 1 else ""
    counts = step["counts"]
    flow = ", ".join(f"{key} {counts[key]:,}" for key in ("in", "out") if key in counts)
    flow += f", dropped {dropped(step):,}" if dropped(step) else ""
    return f"{step['stage']}{runs}" + (f"  {flow.lstrip(', ')}" if flow else "") + f"  recipe {step['recipe'][:8]}"


def dropped(step: dict) -> int:
    """How many things a step dropped, for whatever reasons."""
    return sum(n for key, n in step["counts"].items() if "dropped" in key)


def given(step: dict) -> list[str]:
    """The files that a step was given, in a few words."""
    paths = sorted(step["given"])
    return paths if len(paths) <= 3 else [f"{len(paths)} files: {paths[0]} … {paths[-1]}"]


def _tree(branch: dict, tree: Tree | None = None) -> Tree:
    line = Text(label(branch["step"]) + (" (see above)" if branch["again"] else ""))
    tree = Tree(line) if tree is None else tree.add(line)
    if not branch["again"]:
        for path in given(branch["step"]):
            tree.add(Text(f"given: {path}", style="dim"))
        if facts := branch["step"]["facts"]:
            tree.add(Text(", ".join(f"{key} {value}" for key, value in facts.items()), style="dim"))
        if "url" in (branch["step"]["settings"] or {}):
            tree.add(Text(f"from {branch['step']['settings']['url']}", style="dim"))
    for below in branch["below"]:
        _tree(below, tree)
    return tree


def _counts(made: Sequence[dict]) -> Table:
    table = Table("stage", "counted", box=None, padding=(0, 2, 0, 0))
    for step in made:
        table.add_row(step["stage"], Text(", ".join(f"{key} {n:,}" for key, n in step["counts"].items())))
    return table


def _folds(rows: Sequence[dict]) -> list[RenderableType]:
    if not rows:
        return [Text("no image filter had a part in this split")]
    lines: list[RenderableType] = []
    for row in rows:
        if row["missing"]:
            lines.append(Text(f"{row['table']}, {row['model']}: not checked, {', '.join(row['missing'])} is gone"))
            continue
        verdict = "none seen" if not row["both"] else f"{row['both']:,} SEEN, among them {row['first']}"
        lines.append(
            Text(
                f"{row['table']}: {row['model']} scored {row['pairs']:,} pairs of {row['images']:,} images, "
                f"was trained on {row['saw']:,}: {verdict}"
            )
        )
    return lines


def origin(row: dict) -> str:
    """Where a raw file is from, with the licence of a download."""
    if "url" in row:
        return f"from {row['url']} ({row['licence']}, {row['trust']})"
    return "given" if row["from"] == "given" else f"made by {row['from']}"


def _few(rows: Sequence[dict]) -> list[dict]:
    return list(rows)[:RAW_SHOWN]


def _hidden(rows: Sequence[dict]) -> int:
    return max(len(rows) - RAW_SHOWN, 0)


def heading(words: str) -> Text:
    """A heading, with a line before it."""
    return Text(f"\n{words}", style="bold underline")


def show(told: RenderableType, console: Console | None = None) -> None:
    """Print to the terminal; where there is none, in lines of 160 characters."""
    console = console or Console()
    if not console.is_terminal:
        console = Console(width=160)
    console.print(told, highlight=False, soft_wrap=False)
