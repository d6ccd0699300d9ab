# Which templates and words CLEVR's questions are made of, or told by.
FAMILIES = [DATASET.templates] if DATASET.templates else TEMPLATES.folders
WORDS = DATASET.words or next(file for folder in FOLDERS if (file := folder / "words/clevr.json").is_file())
if missing := [path for path in (*FAMILIES, WORDS) if not path.exists()]:
    raise WorkflowError(f"{missing[0]} does not exist: correct dataset.templates or dataset.words in the config.")
# How a command is given them, and their content, which counts instead of their place and date.
ASKING = [*repeated("--templates", map(near, FAMILIES)), f"--words={near(WORDS)}"]
ASKING_DIGEST = files_digest(*FAMILIES, WORDS)
