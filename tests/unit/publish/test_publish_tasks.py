"""Tasks for other harnesses: files that their loaders read, and replies that score as ours do."""

import base64
import importlib.util
import json

import pandas as pd
import pytest
import yaml
from PIL import Image
from typer.testing import CliRunner

from compvqa.cli import app, commands
from compvqa.errors import InputError
from compvqa.evaluation.submitted import score_file
from compvqa.files import read_yaml
from fixtures.asked import ROOT, Bed
from fixtures.chat_protocols import pixels


@pytest.fixture(scope="module")
def bed(tmp_path_factory) -> Bed:
    made = Bed(tmp_path_factory.mktemp("exports") / "bed")
    made.few_shot(0)
    return made


def run(*words: object) -> None:
    commands()
    done = CliRunner().invoke(app, [str(word) for word in words])
    if done.exception:
        raise done.exception


def exported(bed: Bed, form: str, prompt: str = "short") -> None:
    given = ["--dataset", bed.folder / "questions.parquet", "--scenes", bed.folder / "scenes.parquet"]
    given += ["--images", f"toy={bed.folder / 'images'}", "--prompt", ROOT / f"config/prompts/{prompt}.yaml"]
    run(
        "export-tasks",
        bed.folder / form,
        "--form",
        form,
        "--testbed",
        "toy",
        "--split",
        bed.folder / "few-0.parquet",
        *given,
    )


def test_two_splits_of_one_task_and_two_folders_of_one_space_are_refused(bed, tmp_path):
    few, given = bed.folder / "few-0.parquet", ["--dataset", bed.folder / "questions.parquet"]
    given += ["--scenes", bed.folder / "scenes.parquet", "--prompt", ROOT / "config/prompts/short.yaml"]
    words = ["export-tasks", tmp_path, "--form", "vlmevalkit", "--testbed", "toy", "--split", few, *given]
    with pytest.raises(InputError, match="few-0.parquet: there is a task .* already"):
        run(*words, "--images", f"toy={bed.folder / 'images'}", "--split", few)
    for images, told in ((["a=b", "a=c"], "two folders of a, b and c"), (["b"], "'b' is not of the form SPACE=FOLDER")):
        with pytest.raises(InputError, match=told):
            run(*words, *(word for image in images for word in ("--images", image)))
    with pytest.raises(InputError, match="there is no folder .*gone, where pictures should be"):
        run(*words, "--images", f"toy={tmp_path / 'gone'}")


def test_a_question_has_one_reply(bed, tmp_path):
    given = ["--dataset", bed.folder / "questions.parquet", "--prompt", ROOT / "config/prompts/short.yaml"]
    name = sorted(bed.right())[0]
    (tmp_path / "replies.tsv").write_text(f"index\tprediction\n{name}\t1\n{name}\t2\n")
    with pytest.raises(InputError, match=f"replies.tsv, line 3: question {name} has a reply already; keep one"):
        run("read-replies", tmp_path / "answers.csv", "--replies", tmp_path / "replies.tsv", *given)
    with pytest.raises(InputError, match="answers.parquet is written as CSV: end its name in .csv"):
        run("read-replies", tmp_path / "answers.parquet", "--replies", tmp_path / "replies.tsv", *given)


def loaded(path, name):
    """A function that a YAML file names, as lmms-eval imports it."""
    spec = importlib.util.spec_from_file_location("utils", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def test_a_split_is_a_task_of_lmms_eval_and_its_replies_are_read_as_ours(bed):
    from datasets import load_dataset

    exported(bed, "lmms-eval")
    folder = bed.folder / "lmms-eval"

    class Loader(yaml.FullLoader):
        """As lmms-eval's: a function is imported from a file beside the YAML."""

    Loader.add_constructor("!function", lambda load, node: loaded(folder / "utils.py", node.value.split(".")[1]))
    configs = [yaml.load(path.read_text(), Loader) for path in sorted(folder.glob("*.yaml"))]  # noqa: S506
    group, task = configs
    assert group["group"] == "toy_all" and group["task"] == ["toy_few"] == [task["task"]]
    files = {part: str(folder / path) for part, path in task["dataset_kwargs"]["data_files"].items()}
    docs = load_dataset(task["dataset_path"], data_files=files, cache_dir=str(bed.folder / "hub"))[task["test_split"]]
    assert len(docs) == 10 and task["generation_kwargs"]["max_new_tokens"] == 16
    for doc in docs:
        number = int(doc["question_id"][1:])
        shown = [Image.open(bed.picture(picture)) for picture in bed.shown(number)]
        assert [one.tobytes() for one in task["doc_to_visual"](doc)] == [one.tobytes() for one in shown]
        said = task["doc_to_text"](doc, lmms_eval_specific_kwargs=None)
        assert said.startswith(f"Question {number}?") and "single word or number" in said
    scored = task["process_results"]
    doc = next(doc for doc in docs if doc[task["doc_to_target"]] == "true")
    assert [scored(doc, [text])["accuracy"] for text in ("Yes.", "**True**", "No.", "I cannot tell.")] == [1, 1, 0, 0]


def test_a_split_is_a_tsv_of_vlmevalkit_whose_predictions_are_scored(bed, tmp_path):
    exported(bed, "vlmevalkit")
    files = sorted((bed.folder / "vlmevalkit").glob("*.tsv"))
    assert [path.name for path in files] == ["toy_all_openended.tsv", "toy_few_openended.tsv"]
    data = pd.read_csv(files[1], sep="\t")
    assert list(data.columns) == ["index", "image", "question", "answer"] and len(data) == 10
    for row in data.itertuples():
        pictures = json.loads(row.image.replace("'", '"')) if row.image.startswith("[") else [row.image]
        shown = bed.shown(int(row.index[1:]))
        assert [pixels(base64.b64decode(one)) for one in pictures] == [
            pixels(bed.picture(n).read_bytes()) for n in shown
        ]
    said = {"true": "Yes, it is.", "false": "False", "3": "three"}
    data["prediction"] = [said.get(str(answer), str(answer)) for answer in data["answer"]]
    data.drop(columns="image").to_csv(tmp_path / "replies.tsv", sep="\t", index=False)
    given = ["--dataset", bed.folder / "questions.parquet", "--prompt", ROOT / "config/prompts/short.yaml"]
    run("read-replies", tmp_path / "answers.csv", "--replies", tmp_path / "replies.tsv", *given)
    rows, _ = score_file(tmp_path / "answers.csv", bed.folder / "few-0.parquet", bed.folder / "questions.parquet")
    assert {row["score"] for row in rows if row["measure"] == "accuracy"} == {1.0}


def test_a_reply_without_an_answer_is_told_as_such(bed, tmp_path):
    (tmp_path / "replies.csv").write_text("index,prediction\nq002,I cannot tell.\n")
    given = ["--dataset", bed.folder / "questions.parquet", "--prompt", ROOT / "config/prompts/short.yaml"]
    run("read-replies", tmp_path / "answers.csv", "--replies", tmp_path / "replies.csv", *given)
    assert (tmp_path / "answers.csv").read_text() == "question_id,answer\nq002,no answer\n"


def test_what_cannot_be_said_is_refused(bed):
    assert read_yaml(ROOT / "config/prompts/labelled.yaml")["label"]
    with pytest.raises(InputError, match="a text before each picture, which no export can say"):
        exported(bed, "vlmevalkit", "labelled")
