"""What models declare is read without importing them, and every model of the package keeps the contract."""

import importlib
import pkgutil
from pathlib import Path

import pytest

from compvqa import models
from compvqa.asking.prompts import Prompt
from compvqa.asking.settings import AskedModel
from compvqa.cli.models import ModelRequest
from compvqa.covr.cli.images import FilterRequest
from compvqa.covr.filters.images.training import PresenceTraining
from compvqa.covr.pretraining.training import MatchSettings
from compvqa.errors import InputError
from compvqa.files import read_yaml
from compvqa.models.declared import has_backbone, reads, sees
from compvqa.plugins import module_name
from compvqa.settings import Settings
from compvqa.training.loop import TrainingSettings
from compvqa.training.settings import PredictionSettings
from unit.test_imports import heavy

EVERY = [name for _, name, _ in pkgutil.iter_modules(models.__path__)]
TRAINED = [name for name in EVERY if hasattr(importlib.import_module(f"compvqa.models.{name}"), "ModelSettings")]


@pytest.mark.parametrize("name", TRAINED)
def test_a_model_has_what_the_contract_says(name):
    module = importlib.import_module(f"compvqa.models.{name}")
    assert issubclass(module.ModelSettings, Settings) and module.ModelSettings().longest > 0 and module.build
    assert reads(name) == getattr(module, "READS", ()) and has_backbone(name) == hasattr(module, "Backbone")
    assert bool(sees(name)) == ("images" in module.ModelSettings.model_fields)


class Request(ModelRequest, FilterRequest):
    """All sections of a file of ``config/models``."""

    fine_tuned: bool = False  # whether its weights are all there, so that it is not trained


FOLDER = Path(__file__).parents[3] / "config/models"
ASKED = {path.name for path in FOLDER.glob("*.yaml") if "inspect" in read_yaml(path)}  # by others' servers
FILES = sorted({path.name for path in FOLDER.glob("*.yaml")} - ASKED)


@pytest.mark.parametrize("file", FILES)
def test_a_file_of_a_model_has_settings_that_its_module_and_the_stages_know(root, file):
    told = read_yaml(root / "config/models" / file)
    zeroed = told.pop("zeroed", {})  # what a run without images changes
    request = Request(**told)
    for section, changed in zeroed.items():
        told[section] = {key: {**told[section].get(key, {}), **of} for key, of in changed.items()}
    TrainingSettings(**Request(**told).training)
    module = importlib.import_module(module_name("compvqa.models", request.model))
    module.ModelSettings(**request.settings)
    for settings, given in ((TrainingSettings, request.training), (PredictionSettings, request.prediction)):
        settings(**given)
    MatchSettings(**request.pretraining)
    PresenceTraining(**request.presence)


@pytest.mark.parametrize("file", sorted(ASKED))
def test_a_file_of_a_model_that_is_asked_has_settings_and_a_prompt_that_there_is(root, file):
    model = AskedModel(**read_yaml(FOLDER / file))
    Prompt(**read_yaml(root / f"config/prompts/{model.prompt}.yaml"))


def test_the_models_are_those():
    seeing = {"": ["lstm", "lstm_program"], "pooled": ["cnn_bow", "cnn_lstm", "cnn_lstm_mcb"]}
    seeing["regions"] = ["cnn_lstm_sa", "lxmert", "lxmert_vqa", "tensor_nmn", "vilbert", "visualbert"]
    assert {kind: [name for name in TRAINED if sees(name) == kind] for kind in seeing} == seeing


@pytest.mark.parametrize("name", ["gone", "a.b", ""])
def test_a_model_that_is_not_there_is_refused(name):
    with pytest.raises(InputError, match=f"there is no model {name}"):
        reads(name)


@pytest.mark.parametrize("declared", ["words()", '("words",)', '"regions"', '("regions", "pooled")'])
def test_a_declaration_that_is_no_literal_of_known_kinds_is_refused(tmp_path, monkeypatch, declared):
    (tmp_path / "odd.py").write_text(f"READS = {declared}")
    monkeypatch.setattr(models, "__path__", [str(tmp_path)])
    reads.cache_clear()
    with pytest.raises(InputError, match="odd.py has a READS that is no tuple of"):
        reads("odd")


def test_to_read_it_loads_no_torch():
    assert not heavy("compvqa.models.declared") and heavy("compvqa.models.visualbert")
