"""The Snakemake report holds every table and figure that is shown, each with its caption."""

import re
from pathlib import Path

import pytest
import yaml
from snakemake.report import render_metadata

ENTRIES = Path(__file__).resolve().parents[2] / "workflow/report/metadata.yaml"
pytestmark = pytest.mark.xdist_group("finished")  # one process, so that the chain runs once


def test_the_report_holds_every_table_and_figure_that_is_shown_with_its_caption(finished, tmp_path):
    page = tmp_path / "report.html"
    finished.run("--report", str(page), "--report-metadata", "workflow/report/metadata.yaml")
    shown = page.read_text(encoding="utf-8")
    assert "What a run makes, stage by stage" in shown and "compvqa audit FILE" in shown  # the page that it opens on
    config = yaml.safe_load((finished.folder / finished.config).read_text(encoding="utf-8"))
    assert len(config["paper"]["show"]) > 30
    for path in (finished.folder / f"config/paper/{name}.yaml" for name in config["paper"]["show"]):
        caption = yaml.safe_load(path.read_text(encoding="utf-8"))["caption"]
        first_words = " ".join(caption.split()[:4])
        assert first_words in shown, f"{path.stem} has no caption in the report"
        assert re.search(rf"paper/covr/{path.stem}\.(html|png)", shown), f"{path.stem} is not in the report"


def test_what_the_report_opens_on_has_nothing_of_docutils_in_it():
    """Of text Snakemake would show ENCODING, ERRORS and VERSION as well."""
    entries = yaml.safe_load(ENTRIES.read_text(encoding="utf-8"))
    shown = dict(entries)
    render_metadata(shown)
    assert shown == entries and entries
