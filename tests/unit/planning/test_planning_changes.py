"""What is said of changed settings."""

import json

from compvqa.planning.changes import change


def test_the_keys_that_changed_are_named():
    old, new = (repr(json.dumps({"caps": {"per_key": n}, "tau": 0.5})) for n in (10, 4))
    assert change({old}, {new}, {new: "config"}) == "settings changed: caps.per_key"


def test_changed_code_is_said_before_changed_settings():
    assert change({"'abc'", "'1'"}, {"'def'", "'2'"}, {"'def'": "code", "'2'": "seed"}) == "code changed"


def test_a_value_that_is_no_settings_is_called_by_its_name():
    assert change({"'1'"}, {"'2'"}, {"'2'": "seed"}) == "settings changed: seed"


def test_a_parameter_that_is_gone_has_no_name():
    assert change({"'1'"}, set(), {}) == "settings changed"
