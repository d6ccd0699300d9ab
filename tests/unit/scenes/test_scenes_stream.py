"""Large JSON files: what is wrong with a broken one, and where."""

import json

import pytest

from compvqa.errors import InputError
from compvqa.scenes import stream

GOOD = json.dumps({"7": {"name": "caf\u00e9 \u05d0", "t": [True, None, -1.5e3, {"q": "\\"}]}, "8": [1, 2]})


def error_of(path, text, read=stream.members):
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as error:
        list(read(path))
    return str(error.value)


@pytest.mark.parametrize("chunk", [3, 1 << 20])
def test_a_file_cut_at_any_character_ends_too_early(tmp_path, monkeypatch, chunk):
    monkeypatch.setattr(stream, "CHUNK", chunk)
    for end in range(1, len(GOOD)):
        assert "ends too early" in error_of(tmp_path / "cut.json", GOOD[:end]), GOOD[:end]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"7": 1,}', "there is a comma before the closing '}' (line 1, byte 9, record '7'): correct it there."),
        ('{"7": 1,\n\n "8": {"a": 1,}}', "there is a comma before the closing '}' (line 3, byte "),
        ('{"7": [1, 2 , ], "8": 1}', "there is a comma before the closing ']' (line 1, byte "),
        ('{"7": "\u00e9", "8" 1}', "a key and a colon were expected (line 1, byte 17, record '7')"),
        ('{"7": 1\n "8": 2}', "',' or '}' was expected (line 2, byte 10, record '7')"),
        ('{"7": [tru]}', "is not valid JSON: Expecting value (line 1, byte 8, record '7')"),
        ('{"7": 1} x', "goes on after the end of its JSON value (line 1, byte 10, record '7')"),
        ("[1]", "holds no JSON object at the top (line 1, byte 1): give a file that begins with '{'."),
    ],
)
def test_what_is_no_json_is_called_what_it_is(tmp_path, text, words):
    found = error_of(tmp_path / "bad.json", text)
    assert words in found and "ends too early" not in found and "download" not in found


def test_a_comma_too_much_in_an_array(tmp_path):
    assert "there is a comma before the closing ']'" in error_of(tmp_path / "bad.json", "[1, 2,]", stream.elements)


def test_line_and_byte_are_those_of_the_file_whatever_the_window(tmp_path, monkeypatch):
    text = '\ufeff{"first":\n"' + "\u00e9" * 50 + '",\r\n"second": nil, "third": [' + "1, " * 50 + "1]}"
    place = f"(line 3, byte {text.encode().index(b'nil') + 1}, record 'second')"
    for chunk in (7, 64, 1 << 20):
        monkeypatch.setattr(stream, "CHUNK", chunk)
        assert place in error_of(tmp_path / "bad.json", text)
