"""The Snakemake report holds every table and figure, each with its caption."""

import re

import pytest
import yaml

pytestmark = pytest.mark.xdist_group("finished")  # one process, so that the chain runs once


def test_the_report_holds_every_table_and_figure_with_its_caption(finished, tmp_path):
    page = tmp_path / "report.html"
    finished.run("--report", str(page))
    shown = page.read_text(encoding="utf-8")
    for path in (finished.folder / "config/paper").glob("*.yaml"):
        caption = yaml.safe_load(path.read_text(encoding="utf-8"))["caption"]
        first_words = " ".join(caption.split()[:4])
        assert first_words in shown, f"{path.stem} has no caption in the report"
        assert re.search(rf"paper/{path.stem}\.(html|png)", shown), f"{path.stem} is not in the report"
