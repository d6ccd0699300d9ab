"""The module network of CLEVR's programs: what it gives is what its program gives, question by question."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from compvqa import tables
from compvqa.clevr import executor
from compvqa.clevr.language import GROUPS, LANGUAGE, OBJECT, OBJECTS
from compvqa.clevr.models import module_net
from compvqa.clevr.models.module_net import KIND, LITTLE, NUMBER_OF, WORD, ModelSettings, encoded
from compvqa.errors import InputError
from compvqa.features.store import ImageRegions, Regions, write
from compvqa.models.declared import reads
from compvqa.models.task import Task
from compvqa.programs.rows import Row, from_json, to_json
from compvqa.questions.dataset import CORE, dataset_schema
from compvqa.scenes.tables import SCENES
from compvqa.seeds import generator
from compvqa.training import loop
from compvqa.training.data import Examples, collate, word_tokenizer
from compvqa.training.prediction import predict
from fixtures.clevr_scenes import WORDS, drawn_programs, drawn_scenes
from fixtures.trainings import stopped

SIZE = ModelSettings(hidden_size=6, relation_size=5)
SEEN = ("left", "front", "right", "behind")
SURVEY = {
    "filter": sorted(f"filter_{group} {word}" for group, words in WORDS.items() for word in words),
    "relate": sorted(SEEN),
}
ANSWERS = sorted([*(word for words in WORDS.values() for word in words), "yes", "no", *map(str, range(8))])
DIMENSION = 4
TASK = Task(word_tokenizer(["what is it ?"]), ANSWERS, DIMENSION, 36, SURVEY)
encode = module_net.encoder(TASK)


def new_net(seed: int, size: ModelSettings = SIZE):
    torch.manual_seed(seed)
    return module_net.build(size, TASK).eval()


def asked(programs, counts, seed=0):
    """A batch of programs, each about a picture of so many random regions."""
    draw, shown = np.random.default_rng(seed), {}
    for number, count in enumerate(counts):
        parts = draw.normal(size=(count, DIMENSION)), draw.random((count, 5))
        shown[str(number)] = Regions(*(part.astype(np.float32) for part in parts))
    rows = [encode(to_json(program)) for program in programs]
    return Examples([[1]] * len(rows), [[name] for name in shown], [0] * len(rows), shown, None, rows)


def scores(net, examples, chosen=None):
    """The scores of questions, by their numbers, as one batch."""
    with torch.no_grad():
        found = net(**collate([examples[number] for number in chosen or range(len(examples))]))
    return found["logits"]


def alone(net, program, features, geometry):
    """What a program gives of one picture's regions [K, D], by recursion from its last row: the answers' scores."""
    regions = torch.from_numpy(np.concatenate([features, geometry], axis=1))
    if net.standard is not None:
        regions = (regions - net.standard.running_mean) / (net.standard.running_var + net.standard.eps).sqrt()
    regions, geometry, count = net.regions(regions), regions[:, -5:], len(features)
    sharp = float(net.sharpness.exp())

    def moved(shares, how):
        return torch.stack(
            [sum((shares[i] * how(i, j) for i in range(count) if i != j), 0 * shares[j]) for j in range(count)]
        )

    def relates(word, i, j):
        places = torch.cat([geometry[i], geometry[j]])
        return net.relations(places)[1 + SURVEY["relate"].index(word)].sigmoid()

    def like(group, i, j):
        return net.values[group](regions[i]).softmax(0) @ net.values[group](regions[j]).softmax(0)

    def value(at):
        row = program[at]
        given = [value(other) for other in row.dependencies]
        name, _, group = row.operation.partition("_")
        if row.operation == "scene":
            return torch.ones(count)
        if name == "filter":
            word = 1 + SURVEY["filter"].index(f"{row.operation} {row.arguments[0]}")
            return given[0] * net.words(regions)[:, word].sigmoid()
        if name == "unique":
            return given[0] / (given[0].sum() + LITTLE)
        if name == "relate":
            return moved(given[0], lambda i, j: relates(row.arguments[0], i, j))
        if name == "same":
            return moved(given[0], lambda i, j: like(group, i, j))
        if name == "query":
            return sum(share * net.values[group](region) for share, region in zip(given[0], regions, strict=True))
        plain = {
            "union": lambda a, b: torch.max(a, b),
            "intersect": lambda a, b: a * b,
            "count": lambda a: a.sum(),
            "exist": lambda a: 1 - (1 - a).prod(),
            "equal_object": lambda a, b: a @ b,
            "equal_integer": lambda a, b: torch.exp(-sharp * (a - b) ** 2),
            "less_than": lambda a, b: torch.sigmoid(sharp * (b - a - 0.5)),
            "greater_than": lambda a, b: torch.sigmoid(sharp * (a - b - 0.5)),
        }
        return plain.get(row.operation, lambda a, b: a.softmax(0) @ b.softmax(0))(*given)

    found, kind = value(len(program) - 1), LANGUAGE.check(program)
    if found.ndim:
        return found
    if kind == "number":
        numbers = torch.tensor([float(answer) if answer.isdecimal() else torch.nan for answer in ANSWERS])
        return torch.nan_to_num(-sharp * (found - numbers) ** 2, module_net.NEVER)
    told = dict.fromkeys(ANSWERS, torch.tensor(module_net.NEVER))
    told |= {word: p.clamp(min=LITTLE).log() for word, p in (("yes", found), ("no", 1 - found))}
    return torch.stack([told[word] for word in ANSWERS])


def answerable(program):
    return LANGUAGE.check(program) not in (OBJECT, OBJECTS)


def test_a_batch_of_one_region_is_taken_by_what_was_counted_before():
    net = new_net(0, ModelSettings(hidden_size=6, relation_size=5, standardised=True))
    program = [Row("scene", ()), Row("exist", (), (0,))]
    several = asked([program, program], [3, 4])
    net.train()(**collate([several[0], several[1]]))
    alone = asked([program], [1], seed=1)
    expected = scores(net.eval(), alone)
    assert torch.equal(scores(net.train(), alone), expected)


answerables = drawn_programs(longest=20).filter(answerable)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(answerables, st.integers(1, 6)), min_size=1, max_size=6), st.integers(0, 99))
def test_a_batch_gives_what_each_program_gives_alone(drawn, seed):
    net = new_net(seed)
    net.standard.running_mean.uniform_(-1, 1)
    net.standard.running_var.uniform_(0.5, 2)
    examples = asked(*zip(*drawn, strict=True), seed)
    found = scores(net, examples)
    for number, (program, _) in enumerate(drawn):
        picture = examples.store[str(number)]
        with torch.no_grad():
            wanted = alone(net, program, picture.features, picture.geometry)
        assert torch.allclose(found[number].softmax(0), wanted.softmax(0), atol=1e-5), program


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(answerables, st.integers(1, 6)), min_size=2, max_size=6), st.randoms(use_true_random=False))
def test_padding_and_the_order_of_a_batch_change_nothing(drawn, order):
    net, examples = new_net(1), asked(*zip(*drawn, strict=True))
    whole, numbers = scores(net, examples), list(range(len(drawn)))
    order.shuffle(numbers)
    assert torch.allclose(scores(net, examples, numbers), whole[numbers], atol=1e-5)
    for number in numbers:
        assert torch.allclose(scores(net, examples, [number])[0], whole[number], atol=1e-5)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(answerables, st.integers(0, 2), st.integers(0, 7)), min_size=1, max_size=8))
def test_questions_that_share_a_picture_learn_from_it_as_if_each_had_its_own(drawn):
    """Without numbers brought to what is standard: there a picture counts once, however many questions it has."""
    shown = asked([drawn[0][0]] * 3, (2, 4, 1)).store
    rows, pictures, labels = [encode(to_json(p)) for p, _, _ in drawn], [n for _, n, _ in drawn], [n for *_, n in drawn]
    examples = Examples([[1]] * len(rows), [[str(n)] for n in pictures], labels, shown, None, rows)
    own = [examples[number] for number in range(len(rows))]
    found = []
    for items in (own, [item | {"picture": n} for item, n in zip(own, pictures, strict=True)]):
        net = new_net(0, SIZE.model_copy(update={"standardised": False}))
        gave = net(**collate(items))
        if gave["loss"].requires_grad:  # not of questions whether there is anything at all
            gave["loss"].backward()
        found.append([gave["logits"], *(value.grad for value in net.parameters() if value.grad is not None)])
    assert len(found[0]) == len(found[1])
    assert all(torch.allclose(*pair, rtol=1e-4, atol=1e-6) for pair in zip(*found, strict=True))


@settings(max_examples=60, deadline=None)
@given(drawn_scenes(least=1), answerables)
def test_with_weights_that_see_perfectly_it_answers_as_the_executor(drawn, program):
    """Regions tell their values one by one, and places how many things are to the left and in front."""
    scene, objects, related = drawn
    answer = executor.answer(program, scene)
    assume(answer is not None)
    columns = [word for group in GROUPS for word in WORDS[group]]
    features = np.array([[item[group] == word for group in GROUPS for word in WORDS[group]] for item in objects])
    geometry = np.zeros((len(objects), 5))
    for column, name in enumerate(("left", "front")):
        geometry[:, column] = [sum((i, name, j) in related for i in range(len(objects))) for j in range(len(objects))]
    task = Task(TASK.tokenizer, ANSWERS, len(columns), 36, SURVEY)
    net = module_net.build(ModelSettings(layers=0, relation_size=4, standardised=False), task).eval()
    sure = 50.0
    with torch.no_grad():
        for weights in net.parameters():
            weights.zero_()
        net.sharpness.fill_(4.0)
        for number, name in enumerate(SURVEY["filter"], 1):
            net.words.weight[number, columns.index(name.split()[1])] = 2 * sure
        net.words.bias.fill_(-sure)
        for group in GROUPS:
            for word in WORDS[group]:
                net.values[group].weight[ANSWERS.index(word), columns.index(word)] = sure
        for number, name in enumerate(SEEN):  # how far the second is before the first, by one unit each
            sign, column = (1, -1)[number // 2], number % 2
            net.relations[0].weight[number, [column, 5 + column]] = torch.tensor([1.0, -1.0]) * sign
            net.relations[2].weight[1 + SURVEY["relate"].index(name), number] = 2 * sure
        net.relations[2].bias.fill_(-sure)
    shown = {"0": Regions(features.astype(np.float32), geometry.astype(np.float32))}
    examples = Examples([[1]], [["0"]], [0], shown, None, [encode(to_json(program))])
    assert ANSWERS[int(scores(net, examples)[0].argmax())] == answer


def test_filters_that_follow_each_other_are_one_module_unless_another_reads_between_them():
    rows = [Row("scene"), Row("filter_size", ("small",), (0,)), Row("filter_color", ("red",), (1,))]
    kinds = [module_net.KINDS[kind - 1] for kind in encode(to_json([*rows, Row("count", (), (2,))]))[:, KIND]]
    assert kinds == ["scene", "filter", "word", "word", "count"]
    both = [*rows, Row("union", (), (1, 2)), Row("count", (), (3,))]
    kinds = encode(to_json(both))[:, KIND].tolist()
    assert kinds.count(NUMBER_OF["filter"]) == 2 and kinds.count(NUMBER_OF[WORD]) == 2


def test_a_word_that_train_has_not_is_told_by_a_module_that_nothing_taught():
    (word,) = (row for row in encode(to_json([Row("scene"), Row("filter_color", ("pink",), (0,))])) if row[KIND] == 1)
    assert word[1] == module_net.UNKNOWN
    with pytest.raises(InputError, match="knows no function 'Find': it is for CLEVR's"):
        encoded(to_json([Row("Find", ("dog",))]), {})


KIND_OF = {"color": ("red", "blue", "gray"), "shape": ("cube", "sphere")}


def question(number: int) -> tuple[list[Row], str, list[dict]]:
    """A question about one of the colours and shapes of a picture's things, its answer, and these."""
    draw = generator(0, "module net", number)
    things = [{group: draw.choice(words) for group, words in KIND_OF.items()} for _ in range(draw.randint(1, 4))]
    color, shape, count = draw.choice(KIND_OF["color"]), draw.choice(KIND_OF["shape"]), draw.random() < 0.5
    having = sum(thing == {"color": color, "shape": shape} for thing in things)
    rows = [Row("scene"), Row("filter_color", (color,), (0,)), Row("filter_shape", (shape,), (1,))]
    return (
        [*rows, Row("count" if count else "exist", (), (2,))],
        str(having) if count else ("no", "yes")[having > 0],
        things,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Questions, all of one text, about pictures whose regions tell colours and shapes in some mixture."""
    folder, draw = tmp_path_factory.mktemp("modules"), np.random.default_rng(0)
    mixed, columns = draw.normal(size=(5, 8)), [word for words in KIND_OF.values() for word in words]
    rows, scenes, images = [], [], []
    for number in range(500):
        program, answer, things = question(number)
        seen = np.array([[word in thing.values() for word in columns] for thing in things]) @ mixed
        name = f"s:{number}"
        images.append(ImageRegions(name, draw.random((len(things), 4)), (9.0, 9.0), seen))
        scenes.append(dict.fromkeys(SCENES.fields.names) | {"scene_id": name, "image": name})
        told = {"question_id": f"{number:03d}", "text": "what ?", "program": to_json(program), "answer": answer}
        told |= {"scene_ids": [name], "part": "train" if number < 400 else "dev"}
        rows.append(dict.fromkeys(CORE.names) | told)
    write(folder / "regions.parquet", folder / "features.safetensors", images, 8)
    pq.write_table(pa.Table.from_pylist(scenes, schema=SCENES.fields), folder / "scenes.parquet")
    tables.write(folder / "questions.parquet", dataset_schema("clevr", CORE), rows)
    return folder


def train(folder, out, **steps):
    files = [folder / "questions.parquet", None, ["train"], ["dev"], folder / "scenes.parquet"]
    store = [folder / "regions.parquet", folder / "features.safetensors"]
    how = {"batch_size": 32, "learning_rate": 1e-2, "patience": 0, "keep": "last", "epochs": 99, "evaluations": 2}
    optimisation = loop.TrainingSettings(optimisation=how | steps)
    size = ModelSettings(hidden_size=16, relation_size=4)
    return loop.train("clevr.module_net", *files, *store, None, out, size, optimisation, 1)


def test_it_learns_what_words_look_like_and_reads_each_question_s_own_program_to_answer(folder, tmp_path):
    counts = train(folder, tmp_path, most_steps=150)
    assert counts["held-out accuracy, per mille"] > 950  # texts are equal: without programs it would be half of that
    store = [folder / "regions.parquet", folder / "features.safetensors"]
    rows, right = tables.read(folder / "questions.parquet").to_pylist(), []
    for program in (lambda row: row["program"], turned):
        changed = [row | {"program": program(row)} for row in rows]
        tables.write(tmp_path / "asked.parquet", dataset_schema("clevr", CORE), changed)
        files = [tmp_path / "asked.parquet", None, ["dev"], folder / "scenes.parquet", *store]
        right.append(predict(tmp_path, "a.b.c.1", *files, tmp_path / "predictions.parquet")["generated: right"])
    assert right[0] > 95 and right[1] == 0


def turned(row):
    """The program of a question that asks whether there is one where this asks how many, and the other way."""
    *before, last = from_json(row["program"])
    return to_json([*before, Row({"exist": "count", "count": "exist"}[last.operation], (), last.dependencies)])


def test_a_run_that_was_stopped_goes_on_to_the_same_bytes(folder, tmp_path):
    train(folder, tmp_path / "whole", most_steps=10)
    with stopped(7):
        train(folder, tmp_path / "cut", most_steps=10)
    train(folder, tmp_path / "cut", most_steps=10)
    for name in ("model.safetensors", "model.json", "history.parquet"):
        assert (tmp_path / "cut" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_it_says_that_it_reads_programs_when_it_answers():
    assert reads("clevr.module_net") == ("regions", "own_programs")
