"""Tensor-NMN: an engine that runs all questions together as each alone, a generator that learns what pays."""

from collections import Counter
from itertools import product

import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import given, strategies
from pydantic import ValidationError
from torch.nn import functional

from compvqa.clevr.language import OPERATORS
from compvqa.errors import InputError
from compvqa.models import execution_engine, tensor_nmn
from compvqa.models.execution_engine import Engine, EngineSettings, Node, Slots
from compvqa.models.lstm_program import END, Taught
from compvqa.models.task import Task
from compvqa.models.tensor_nmn import SPECIAL, Executed, ModelSettings, TensorNmn
from compvqa.programs.prefix import Tree
from compvqa.programs.rows import Row, to_json
from compvqa.training.data import Questions, word_tokenizer
from fixtures.trainings import stopped, watched
from unit.models.asked import files_of
from unit.models.grids import SIZE, Grids

SCENE, RED, BLUE, UNION, CHOOSE = range(SPECIAL, SPECIAL + 5)
FUNCTIONS = {"scene": 0, "filter[red]": 1, "filter[blue]": 1, "union": 2, "choose": 3}
SURVEY = {"functions": FUNCTIONS, "source": "scene"}
INPUTS = [1] * SPECIAL + list(FUNCTIONS.values())


@pytest.fixture(scope="module")
def grids(tmp_path_factory):
    return Grids(tmp_path_factory.mktemp("grids"))


@pytest.fixture(scope="module")
def whole(grids, tmp_path_factory):
    """The folder of a short run that nothing stopped."""
    folder = tmp_path_factory.mktemp("whole")
    grids.train(folder, most_steps=40)
    return folder


def engine(**changes):
    """A small engine with random weights, on 4x4 cells of 5 numbers."""
    torch.manual_seed(0)
    sizes = EngineSettings(**{"stem": (6,), "width": 8, "projection": 7, "classifier": (9,)} | changes)
    return Engine(sizes, 5, 16, INPUTS, SCENE, END, 3).eval()


def alone(net, picture, tokens):
    """The scores of one question, by recursion through its tokens as the released code does it."""

    def run(at):
        token = tokens[at] if at < len(tokens) and END not in tokens[: at + 1] else SCENE
        given, at = ([grid] if not INPUTS[token] else []), at + 1
        while len(given) < max(INPUTS[token], 1):
            value, at = run(at)
            given.append(value)
        part = net.functions[token]
        if len(given) > 1:
            given, part = [functional.relu(part.join(torch.cat(given, dim=1)))], part.block
        (x,) = given
        hidden = functional.conv2d(x, part.first.weight, part.first.bias, padding=1).relu()
        return (x + functional.conv2d(hidden, part.second.weight, part.second.bias, padding=1)).relu(), at

    grid = net.stem(picture.T.reshape(1, 5, 4, 4))
    return net.classifier(net.projection(run(0)[0]))


def random_programs(n, longest):
    """Token lists as nobody would write them, most of them malformed, and one of each kind that is told apart."""
    given = torch.Generator().manual_seed(1)
    drawn = torch.randint(0, len(INPUTS), (n, longest), generator=given)
    for row, tokens in enumerate(([END], [UNION], [UNION, RED, SCENE, BLUE, SCENE], [CHOOSE, RED], [RED, SCENE, BLUE])):
        drawn[row] = END
        drawn[row, : len(tokens)] = torch.tensor(tokens)
    return drawn


def test_all_questions_together_are_answered_as_each_alone():
    net, programs = engine(), random_programs(24, 12)
    picture = torch.randn(24, 16, 5)
    together = net(picture, programs)
    apart = torch.cat([alone(net, *each) for each in zip(picture, programs.tolist(), strict=True)])
    assert torch.allclose(together, apart, atol=1e-5)
    weights = torch.randn(24, 3)
    learnt = dict(net.named_parameters())
    one = torch.autograd.grad((together * weights).sum(), list(learnt.values()), allow_unused=True)
    other = torch.autograd.grad((apart * weights).sum(), list(learnt.values()), allow_unused=True)
    for name, ours, theirs in zip(learnt, one, other, strict=True):
        assert (ours is None) == (theirs is None), name
        assert ours is None or torch.allclose(ours, theirs, atol=1e-4, rtol=1e-4), name
    assert len({tuple(row) for row in together.tolist()}) == 24  # each question by its own program and picture


def test_cells_are_read_row_by_row():
    """A picture turned on its side is another; so is the order of the channels that a cell tells."""
    net, picture = engine(stem=()), torch.randn(1, 16, 5)
    seen = []
    net.stem.register_forward_hook(lambda layer, given, made: seen.append(given[0]))
    net(picture, torch.tensor([[SCENE]]))
    assert torch.equal(seen[0][0, :, 2, 1], picture[0, 2 * 4 + 1])


@pytest.mark.parametrize(
    ("tokens", "tree"),
    [
        ([], Tree(SCENE)),
        ([END, RED, SCENE], Tree(SCENE)),
        ([UNION], Tree(UNION, (Tree(SCENE), Tree(SCENE)))),
        ([UNION, RED, END, SCENE], Tree(UNION, (Tree(RED, (Tree(SCENE),)), Tree(SCENE)))),
        ([RED, SCENE, BLUE, SCENE], Tree(RED, (Tree(SCENE),))),
        ([3, BLUE], Tree(3, (Tree(BLUE, (Tree(SCENE),)),))),
    ],
)
def test_malformed_programs_mean_something(tokens, tree):
    assert engine().tree(tokens) == tree


@pytest.mark.parametrize(
    ("questions", "runs"),
    [
        # The picture is read once a question; a lone call waits for those that are farther from the answer,
        (1, [(1, 1), (1, 1), (2, 1), (1, 1)]),
        # and many run at once, beside those of another function.
        (10, [(1, 10), (2, 10), (1, 10), (1, 10)]),
    ],
)
def test_calls_of_all_questions_run_together(questions, runs, monkeypatch):
    net, seen, run = engine(), [], execution_engine.with_shortcut

    def watched(grids, first, second):
        seen.append((grids.shape[1] // 8, len(grids)))
        return run(grids, first, second)

    monkeypatch.setattr(execution_engine, "with_shortcut", watched)
    net(torch.randn(questions, 16, 5), torch.tensor([[UNION, RED, RED, SCENE, BLUE, SCENE]]).repeat(questions, 1))
    assert seen == runs


@given(strategies.dictionaries(strategies.integers(0, 9), strategies.integers(1, 20), min_size=1))
def test_slots_keep_each_call_with_its_function(counts):
    calls = {token: [Node(0, token, 0, None) for _ in range(count)] for token, count in counts.items()}
    grids = {node: torch.randn(2, 3, 3) for nodes in calls.values() for node in nodes}
    slots = Slots.of(calls)
    taken = {node: [grid] for node, grid in grids.items()}
    opened = slots.opened(slots.filled(taken))
    assert opened.keys() == grids.keys() and all(torch.equal(opened[node], grids[node]) for node in grids)
    rows, left_over = divmod(len(slots.calls), len(slots.tokens))
    assert not left_over
    assert all(
        node is None or node.token == token for node, token in zip(slots.calls, slots.tokens * rows, strict=True)
    )
    assert slots.filled(taken).shape == (rows, 2 * len(slots.tokens), 3, 3)
    least = min(len(counts) * (max(counts.values()) + 1), 2 * sum(counts.values()))
    assert len(slots.tokens) * (rows + 1) <= least  # no dearer than either extreme


def test_grids_that_the_engine_was_not_made_for_are_refused():
    with pytest.raises(InputError, match="was made for 16 cells a picture, and there are 36"):
        engine()(torch.zeros(1, 36, 5), torch.tensor([[SCENE]]))
    for cells in (35, 1, 0):
        with pytest.raises(InputError, match=f"{cells} regions make none"):
            Engine(EngineSettings(), 5, cells, INPUTS, SCENE, END, 3)


def surveyed(*programs):
    return tensor_nmn.survey(Questions([], [], [], [], [to_json(program) for program in programs]))


def test_functions_are_those_of_the_train_programs():
    red = [Row("scene"), Row("filter", ("red",), (0,))]
    both = [*red, Row("other"), Row("union", (), (1, 2))]
    assert surveyed(red, both) == {
        "functions": {"filter[red]": 1, "other": 0, "scene": 0, "union": 2},
        "source": "scene",  # read more often than the other
    }
    with pytest.raises(InputError, match="the function union takes 1 inputs in one program and another number"):
        surveyed(both, [Row("scene"), Row("union", (), (0,))])
    with pytest.raises(InputError, match="has no program"):
        surveyed([])


def test_the_paper_size_has_42_million_numbers():
    """As CLEVR-HOPE says: 42 million; we count 42.3 in its sizes, with the four further tokens of the released code."""
    values = {"filter_size": 2, "filter_color": 8, "filter_material": 2, "filter_shape": 3, "relate": 4}
    functions = {
        f"{name}[{number}]" if name in values else name: len(operator.inputs)
        for name, operator in OPERATORS.items()
        for number in range(values.get(name, 1))
        if name != "equal_object"  # which no template of CLEVR's has
    }
    assert len(functions) + SPECIAL == 44
    words = word_tokenizer([" ".join(f"w{number}x" for number in range(85))])
    task = Task(words, [str(number) for number in range(28)], 1024, 196, {"functions": functions, "source": "scene"})
    with torch.device("meta"):
        net = tensor_nmn.build(ModelSettings(), task)
    assert sum(value.numel() for value in net.parameters()) == pytest.approx(42.3e6, abs=0.1e6)


def small(longest=2, **changes):
    """A net in float64 on 2x2 cells, and its question."""
    torch.manual_seed(0)
    settings = SIZE.model_copy(
        update={"longest_program": longest, "word_size": 4, "hidden_size": 5, "width": 4} | changes
    )
    survey = {"functions": {"filter[red]": 1, "scene": 0}, "source": "scene"}
    net = tensor_nmn.build(settings, Task(word_tokenizer(["is it red ?"]), ["no", "yes"], 3, 4, survey)).double()
    with torch.no_grad():
        for value in net.generator.parameters():
            value.mul_(3)  # so that programs are not all alike
    ids = torch.tensor([[2, 7, 8, 3]])
    return net, {"input_ids": ids, "attention_mask": torch.ones_like(ids)}


def all_programs(tokens, longest):
    """All that can be told: any token, END only from the end on."""
    for program in product(range(tokens), repeat=longest):
        ends = [at for at, token in enumerate(program) if token == END]
        if not ends or all(token == END for token in program[ends[0] :]):
            yield program


def likelihood(generator, question, program):
    """Of a program, token by token, each by what was shown of it until then."""
    p = torch.ones((), dtype=torch.float64)
    for at in range(len(program)):
        if at and program[at - 1] == END:
            break
        shown = torch.tensor([[END, *program[:at]]])
        p = p * generator(**question, before=shown)[0, -1].softmax(dim=0)[program[at]]
    return p


def test_programs_are_drawn_as_often_as_they_are_likely():
    net, question = small()
    wanted = {program: likelihood(net.generator, question, program).item() for program in all_programs(6, 2)}
    assert len(wanted) == 31 and sum(wanted.values()) == pytest.approx(1)
    n = 4000
    many = {name: value.expand(n, -1) for name, value in question.items()}
    told = net.generator.told(**many, drawn=True)
    found = Counter(map(tuple, told.tolist()))
    for program, p in wanted.items():
        assert abs(found[program] - n * p) < 4.5 * (n * p * (1 - p)) ** 0.5 + 1, program
    likeliest = [tuple(row) for row in net.generator.told(**question).tolist()]
    assert max(wanted[(*row, END)[:2]] for row in likeliest) > 1 / 31


class Rewarding(torch.nn.Module):
    """In an engine's place: "yes" by some programs, "no" by others."""

    def forward(self, picture, programs):
        yes = torch.tensor(
            [sum((at + 2) * token for at, token in enumerate(row)) % 3 == 0 for row in programs.tolist()]
        )
        return functional.one_hot(yes.long(), 2).double()


def test_the_generators_gradient_is_that_of_the_expected_reward(monkeypatch):
    """Over all programs, each as often as it is likely, against finite differences of the expected reward.

    A reward is compared to a mean that has taken a tenth of it in, so that nine tenths of the gradient are left.
    """
    net, question = small()
    net.engine = Rewarding()
    programs = list(all_programs(6, 2))
    learnt = list(net.generator.parameters())
    rewards = [float(Rewarding()(None, torch.tensor([program]))[0, 1]) for program in programs]
    assert 5 < sum(rewards) < 26
    towards = [torch.randn_like(value) for value in learnt]

    def expected(step):
        with torch.no_grad():
            for value, by in zip(learnt, towards, strict=True):
                value.add_(by, alpha=step)
            p = [likelihood(net.generator, question, program) for program in programs]
            for value, by in zip(learnt, towards, strict=True):
                value.sub_(by, alpha=step)
        return sum(each * reward for each, reward in zip(p, rewards, strict=True)).item()

    slope = (expected(1e-5) - expected(-1e-5)) / 2e-5
    seen = {"features": torch.zeros(1, 4, 3), "geometry": None, "region_mask": None, "question_of": torch.arange(1)}
    found = 0.0
    for program in programs:
        net.baseline.fill_(0.3)
        monkeypatch.setattr(net.generator, "told", lambda *asked, program=program, drawn: torch.tensor([program]))
        p = likelihood(net.generator, question, program).item()
        loss = net.train()(**question, **seen, labels=torch.tensor([1]))["loss"]
        by = torch.autograd.grad(loss, learnt)
        found -= p * sum((one * other).sum().item() for one, other in zip(by, towards, strict=True))
    assert abs(slope) > 1e-3 and found == pytest.approx(0.9 * slope, rel=1e-5)


def test_rewards_are_compared_to_their_moving_mean():
    net, _ = small()
    assert net._gained(torch.tensor([1.0, 1, 0, 0]).double()).tolist() == pytest.approx([0.95, 0.95, -0.05, -0.05])
    assert net._gained(torch.ones(4).double()).mean() == pytest.approx(1 - (0.9 * 0.05 + 0.1))
    assert net.state_dict()["baseline"].item() == pytest.approx(0.145)  # goes on where a run is stopped


def test_what_is_drawn_in_training_is_the_likeliest_when_it_answers():
    net, question = small(longest=6)
    many = {name: value.expand(64, -1) for name, value in question.items()}
    seen = {"features": torch.randn(1, 4, 3).expand(64, -1, -1), "geometry": None, "region_mask": None}
    given = many | seen | {"question_of": torch.arange(64)}
    net.float()
    answered = net.eval()(**given)["logits"]
    assert torch.allclose(answered, answered[:1]) and not torch.allclose(net.train()(**given)["logits"], answered)


def test_all_of_its_phases_learn(grids, tmp_path):
    steps = {"most_steps": 320, "batch_size": 32, "evaluations": 1, "precision": "float32"}
    counts = grids.train(tmp_path, learning_rate=2e-2, **steps)
    rows = {row["phase"]: row for row in pq.read_table(tmp_path / "history.parquet").to_pylist()}
    assert {phase: row["step"] for phase, row in rows.items()} == {"program": 80, "engine": 160, "joint": 80}
    rates = [rows[phase]["learning_rate"] for phase in ("program", "engine", "joint")]
    assert rates == pytest.approx([4e-2, 2e-2, 1e-2])
    assert rows["program"]["eval_accuracy"] > 0.95 and rows["engine"]["eval_accuracy"] > 0.75  # a constant answer: .61
    assert grids.right(tmp_path) > 0.9 and counts["answers"] == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "history.parquet", "model.json", "model.safetensors", "predictions.parquet",
    ]  # fmt: skip


@pytest.mark.parametrize(("phase", "step"), [(1, 7), (2, 13), (3, 7)])
def test_a_run_stopped_in_any_phase_goes_on_there_to_the_same_bytes(grids, whole, tmp_path, phase, step):
    with stopped(step, phase) as begun:
        grids.train(tmp_path, most_steps=40)
    torch.manual_seed(99)  # whatever was drawn in the meantime
    with watched() as left:
        grids.train(tmp_path, most_steps=40)
    phases = [Taught, Executed, TensorNmn]
    assert begun == phases[:phase] and left == phases[phase - 1 :]
    assert files_of(tmp_path) == files_of(whole)


def test_phases_need_steps_each():
    with pytest.raises(ValidationError, match="leave no steps for both"):
        ModelSettings(program_share=0.5, engine_share=0.5)


def test_the_text_alone_answers_where_images_are_zeroed():
    net, question = small(images="zeroed")
    net.float().eval()
    rest = {"geometry": None, "region_mask": None, "question_of": torch.arange(1)}
    one, other = (net(**question, **rest, features=torch.randn(1, 4, 3))["logits"] for _ in range(2))
    assert torch.equal(one, other)
