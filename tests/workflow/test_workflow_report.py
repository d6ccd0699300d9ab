"""The Snakemake report holds every table and figure that is shown, each with its caption."""

import re

import pytest
import yaml

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
