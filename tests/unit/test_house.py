"""The rules of the house: no shared folder knows an engine, no engine another, and folders import in no circle; only a
setup spells the parts of its splits; text files are in UTF-8 whatever the locale.

What still breaks a rule is listed, and the lists may only shrink: a line that is no longer true fails too.
"""

import ast
import re
from pathlib import Path

import networkx
import pytest

pytestmark = pytest.mark.xdist_group("house")  # one process, so that the rooms are read once

PACKAGE = Path(__file__).resolve().parents[2] / "workflow/compvqa"
WINGS = ("covr", "clevr")  # what is one engine's own
# Shared folders and modules that know an engine.
KNOWING: dict[str, set[str]] = {"covr": set(), "clevr": set()}
# Folders that import each other, directly or by others.
CIRCLES: list[set[str]] = []
PARTS = r"train_size|dev_iid|dev_comp|test_comp"  # in any text
SIDES = ("dev", "test")  # also common words, and of files: as a whole string alone
# Parts of splits that stages spell.
SPELT: dict[str, set[str]] = {}


def room(module: str) -> str:
    """The folder of the package that a module is in, or the module itself where it lies beside the folders."""
    return module.split(".")[1] if "." in module else ""


def named_in(path: Path) -> set[str]:
    """The modules of the package that a file imports or names in a string, docstrings apart."""
    found = set()
    tree = ast.parse(path.read_text())
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module == "compvqa":
            found |= {f"compvqa.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            found |= set(re.findall(r"\bcompvqa\.[a-z_.]*[a-z_]", node.value))
    return {name for name in found if name.startswith("compvqa.")}


@pytest.fixture(scope="module")
def rooms() -> networkx.DiGraph:
    """Who imports or names whom."""
    graph = networkx.DiGraph()
    for path in PACKAGE.rglob("*.py"):
        here = room("compvqa." + path.relative_to(PACKAGE).with_suffix("").as_posix().replace("/", "."))
        graph.add_edges_from((here, room(name)) for name in named_in(path) if room(name) != here)
    return graph


def test_the_walk_sees_imports_in_functions_and_names_in_strings(tmp_path):
    file = tmp_path / "a.py"
    file.write_text("def f():\n    from compvqa.covr import x\nY = 'compvqa.questions.{kind}'\nimport json\n")
    assert named_in(file) == {"compvqa.covr", "compvqa.questions"}


@pytest.mark.parametrize("wing", WINGS)
def test_no_shared_folder_knows_an_engine(rooms, wing):
    assert set(rooms.predecessors(wing)) == KNOWING[wing]


def test_no_engine_knows_another(rooms):
    assert not [(one, other) for one in WINGS for other in WINGS if rooms.has_edge(one, other)]


def test_folders_import_in_no_circle(rooms):
    found = [set(part) for part in networkx.strongly_connected_components(rooms) if len(part) > 1]
    assert sorted(map(sorted, found)) == sorted(map(sorted, CIRCLES))


def spelt_in(path: Path) -> set[str]:
    """The parts of splits that a file spells: in any place, or, of those that are common words, as a whole string."""
    text = path.read_text()
    if path.suffix == ".py":
        strings = {node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)}
    else:
        strings = set(re.findall(r"""["'](\w+)["']""", text))
    return set(re.findall(rf"\b(?:{PARTS})\b", text)) | {side for side in SIDES if side in strings}


def test_only_setups_spell_the_parts_of_splits():
    root = PACKAGE.parents[1]
    shared = [path for path in PACKAGE.rglob("*") if path.suffix in (".py", ".j2")]
    shared = [path for path in shared if not {*WINGS, "setups"} & {*path.relative_to(PACKAGE).parts}]
    rules = [*root.glob("rules/**/*.smk"), root / "workflow/Snakefile"]
    found = {path.relative_to(root).as_posix(): spelt_in(path) for path in [*shared, *rules]}
    assert {path: parts for path, parts in found.items() if parts} == SPELT


def test_parts_are_found_in_code_texts_and_rules(tmp_path):
    for name, text in {
        "a.py": "X = 'test'\n",
        "b.smk": 'x=["dev"],\n',
        "c.j2": "`dev_comp`\n",
        "d.py": "test = 1\n",
    }.items():
        (tmp_path / name).write_text(text)
    assert [spelt_in(tmp_path / name) for name in ("a.py", "b.smk", "c.j2", "d.py")] == [
        {"test"},
        {"dev"},
        {"dev_comp"},
        set(),
    ]


def without_encoding(path: Path) -> list[int]:
    """The lines of a file that open, read or write a text file in the locale's encoding."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.Call) or any(word.arg == "encoding" for word in node.keywords):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        texts = [arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
        opens = name == "open" and any(re.fullmatch(r"[rwax][+t]*", text) for text in texts)
        if opens or (name == "read_text" and not node.args) or (name == "write_text" and len(node.args) == 1):
            found.append(node.lineno)
    return found


def test_text_files_are_in_utf_8_whatever_the_locale(tmp_path):
    file = tmp_path / "a.py"
    file.write_text('p.open("w", newline="")\np.open("rb")\nopen(p, "r+")\np.read_text()\np.write_text("", "utf-8")\n')
    assert without_encoding(file) == [1, 3, 4]
    found = {path.relative_to(PACKAGE).as_posix(): without_encoding(path) for path in PACKAGE.rglob("*.py")}
    assert not {path: lines for path, lines in found.items() if lines}
