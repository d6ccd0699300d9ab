"""What is asked: the questions of the parts, their pictures in order, and shots that share no image with them."""

import pytest
from pydantic import ValidationError

from compvqa import tables
from compvqa.asking.guard import check_shots
from compvqa.asking.questions import Questions
from compvqa.asking.replies import REPLIES
from compvqa.asking.settings import AskedModel
from compvqa.errors import InputError
from compvqa.scenes.tables import SCENES
from compvqa.splits.setups import find_setup
from fixtures.asked import Bed


@pytest.fixture(scope="module")
def bed(tmp_path_factory):
    return Bed(tmp_path_factory.mktemp("asked") / "bed")


def asked(bed, seed=1, split=None, parts=("test",), left_out=(), **settings):
    model = AskedModel(inspect="mockllm/model", **settings)
    folders = {"toy": bed.folder / "images"}
    questions = Questions(bed.folder / "questions.parquet", split, bed.folder / "scenes.parquet", folders, model, seed)
    return list(questions.asked(parts, ["train"], left_out=left_out))


def test_each_question_of_the_parts_is_asked_of_its_pictures_in_order(bed):
    found = {one.question_id: one.shown for one in asked(bed)}
    assert {name: shown.answer for name, shown in found.items()} == bed.right()
    for name, shown in found.items():
        assert shown.pictures == tuple(bed.picture(number) for number in bed.shown(int(name[1:])))


def test_parts_and_scenes_of_another_split_are_told_in_a_sentence(bed, tmp_path):
    with pytest.raises(InputError, match="has no question of the dataset in tset: choose of test, train"):
        asked(bed, parts=["tset"])
    with pytest.raises(InputError, match="scenes.parquet is no splits table: it lacks the column split_name"):
        asked(bed, split=bed.folder / "scenes.parquet")
    others, dataset = tmp_path / "scenes.parquet", bed.folder / "questions.parquet"
    tables.write(others, SCENES, [])
    questions = Questions(dataset, None, others, {}, AskedModel(inspect="a/b"), 1)
    with pytest.raises(InputError, match="is about the scene .*, which .*scenes.parquet has not: give the"):
        list(questions.asked(["test"]))


def test_blind_there_is_no_picture_and_permuted_the_same_in_an_order_of_the_seed(bed):
    fixed = [one.shown.images for one in asked(bed)]
    assert {one.shown.pictures for one in asked(bed, images="zeroed")} == {()}
    one, again, other = (
        [question.shown.images for question in asked(bed, seed, order="permuted")] for seed in (1, 1, 2)
    )
    assert one == again != other != fixed
    assert [sorted(images) for images in one] == [sorted(images) for images in fixed]


@pytest.mark.parametrize("shots", [1, 5])
def test_shots_are_train_questions_that_share_no_image_with_theirs(bed, shots):
    train = {f"Question {number}?" for number in range(0, bed.questions, 3)}
    found = asked(bed, shots=shots)
    for one in found:
        assert len({shot.question for shot in one.shots}) == len(one.shots) == shots
        assert {shot.question for shot in one.shots} <= train
        assert all(set(one.shown.images).isdisjoint(shot.images) for shot in one.shots)
    assert asked(bed, shots=shots) == found != asked(bed, seed=2, shots=shots)


@pytest.mark.parametrize("shots", [1, 5])
def test_no_shot_shares_an_image_with_its_question_where_most_could(bed, shots):
    found = asked(bed, parts=["train"], shots=shots)  # of three images only
    assert len({one.shown.images for one in found}) == 3 and len(found) == 10
    assert all(set(one.shown.images).isdisjoint(shot.images) for one in found for shot in one.shots)


def test_fewer_shots_do_not_change_which_come_first(bed):
    assert [one.shots for one in asked(bed, shots=1)] == [one.shots[:1] for one in asked(bed, shots=5)]


@pytest.mark.parametrize("m", [0, 1])
def test_shots_of_a_split_are_what_it_keeps_or_all_have_what_it_leaves_out(bed, m):
    train, small = range(0, bed.questions, 3), {f"q{number:03}" for number in range(0, bed.questions, 2)}
    named = {f"q{number:03}" for number in train}
    with_it = [f"q{number:03}" for number in train if number % 2 == 0]
    shots = {}
    for variant, left_out in (("comp", ()), ("shown", ("train",))):
        found = asked(bed, split=bed.few_shot(m), parts=["test_comp"], left_out=left_out, shots=1)
        assert {one.question_id for one in found} == small - named
        assert all(set(one.shown.images).isdisjoint(shot.images) for one in found for shot in one.shots)
        shots[variant] = {shot.question_id for one in found for shot in one.shots}
    assert shots["comp"] <= named and shots["comp"] & small <= set(with_it[:m])
    assert shots["shown"] and shots["shown"] <= set(with_it[m:])


@pytest.mark.parametrize("variant", ["comp", "shown"])
def test_the_guard_counts_shots_and_finds_one_that_is_not_allowed(bed, tmp_path, variant):
    split, left_out = bed.few_shot(1), ("train",) if variant == "shown" else ()
    found = asked(bed, split=split, parts=["train"], left_out=left_out, shots=2)
    replies = tmp_path / f"vlm.few.{variant}.1.replies.parquet"
    given = (replies, find_setup("few-shot"), split, bed.folder / "questions.parquet", bed.folder / "scenes.parquet")

    def write(shots):
        empty = dict.fromkeys(REPLIES.fields.names) | {"run": f"vlm.few.{variant}.1", "text": "generated"}
        rows = [{**empty, "question_id": one.question_id, "shots": shots(one)} for one in found]
        tables.write(replies, REPLIES, rows)

    write(lambda one: [shot.question_id for shot in one.shots])
    assert check_shots(*given) == 2 * len(found)
    other = "q000" if variant == "shown" else "q006"  # the one of M, and one that is held out
    write(lambda one: [other])
    with pytest.raises(InputError, match=f"the shot {other} is not of what {variant} takes"):
        check_shots(*given)
    near = "q021" if variant == "comp" else "q012"  # of the image of q003
    write(lambda one: [near])
    with pytest.raises(InputError, match=f"q003 and its shot {near} share the image toy:3"):
        check_shots(*given)


def test_shots_that_there_are_not_stop_the_run(bed):
    with pytest.raises(InputError, match="shots that share no image with it, of 20: ask with fewer"):
        asked(bed, shots=20)


@pytest.mark.parametrize("name", ["api_key", "token", "aws_secret", "Authorization"])
def test_a_secret_in_a_models_file_is_refused(name):
    with pytest.raises(ValidationError, match="may be a secret: give it by the environment"):
        AskedModel(inspect="mockllm/model", arguments={name: "x"})
    AskedModel(inspect="mockllm/model", generation={"max_tokens": 3})
