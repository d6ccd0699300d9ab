from compvqa.cli import run

run()
