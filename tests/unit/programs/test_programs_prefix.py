"""Programs in prefix notation: a tree and its list of tokens tell the same, and any list means a tree."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compvqa.errors import InputError
from compvqa.programs.prefix import Tree, nodes, parsed, tree_of
from compvqa.programs.rows import Row

TAKES = {"scene": 0, "filter_color[red]": 1, "filter_color[blue]": 1, "count": 1, "union": 2, "choose[1,or]": 3}
ROWS = {
    "filter_color[red]": ("filter_color", ("red",)),
    "filter_color[blue]": ("filter_color", ("blue",)),
    "choose[1,or]": ("choose", (1, "or")),
}
LEAF = st.just(Tree("scene"))


def above(trees):
    """Trees of a token over such as ``trees`` gives."""
    tokens = st.sampled_from([token for token, takes in TAKES.items() if takes])
    return tokens.flatmap(
        lambda token: st.tuples(*[trees] * TAKES[token]).map(lambda inputs: Tree(token, tuple(inputs)))
    )


TREES = st.recursive(LEAF, above, max_leaves=8)


def rows(tree):
    """A program of the tree: inputs before what takes them."""
    found = []

    def add(part):
        taken = tuple(add(each) for each in part.inputs)
        found.append(Row(*ROWS.get(part.token, (part.token, ())), taken))
        return len(found) - 1

    add(tree)
    return found


@given(TREES)
def test_a_programs_tokens_mean_its_tree(tree):
    assert tree_of(rows(tree)) == tree
    tokens = [node.token for node in nodes(tree)]
    assert parsed(tokens, TAKES.__getitem__, "scene") == tree
    assert parsed([*tokens, "count", "scene"], TAKES.__getitem__, "scene") == tree  # what comes after is left out


@given(st.lists(st.sampled_from(sorted(TAKES)), max_size=12))
def test_any_list_means_a_tree_which_lacks_its_end_or_has_more_inputs(tokens):
    found = [node.token for node in nodes(parsed(tokens, TAKES.__getitem__, "scene"))]
    assert found == (tokens + ["scene"] * len(found))[: len(found)]
    assert len(found) - 1 == sum(TAKES[token] for token in found)  # each but the first is an input of another


def test_a_row_that_two_take_stands_twice():
    program = [Row("scene"), Row("count", (), (0,)), Row("union", (), (0, 1))]
    assert [node.token for node in nodes(tree_of(program))] == ["union", "scene", "count", "scene"]


def test_a_program_without_rows_or_with_another_inside_is_refused():
    with pytest.raises(InputError, match="a question has no program"):
        tree_of([])
    with pytest.raises(InputError, match="the operator KeepIf takes a sub-program"):
        tree_of([Row("Scene"), Row("KeepIf", ((Row("Exists"),),), (0,))])
