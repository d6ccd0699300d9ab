# COVR's questions from scene graphs: takes scene tables, features and all models' answers; gives the dataset, the weights
# that small models start from, and what COVR's pages show beside scores.
include: "covr/chains.smk"
include: "covr/graphs.smk"
include: "covr/words.smk"
include: "covr/filters.smk"
include: "covr/images.smk"
include: "covr/questions.smk"
include: "covr/risk.smk"
include: "covr/balance.smk"
include: "covr/pretrain.smk"
include: "covr/statistics.smk"
include: "covr/judge.smk"
include: "covr/neo4j.smk"


SHOWN |= {
    "statistics": [rules.statistics.output.statistics],
    "validity": [rules.validity.output.validity] if CONFIG.truth else [],
    "risks": risks_of(""),
    "generated": expand(rules.generated_validity.output.validity, arm="") if CONFIG.truth else [],
    "filters": [rules.filters.output.filters] if DATASET.judged.arms else [],
    "distractors": [rules.distractors.output.distractors] if DATASET.judged.arms else [],
    "word_scores": [rules.word_scores.output.scores],
    "word_shares": expand(rules.overlap.output.shares, arm=""),
    "thresholds": [rules.thresholds.output.table] if DATASET.presence.calibrated else [],
    "word_histories": expand(rules.word_filter.output.history, names=WORD_KINDS),
    "questions": expand(rules.gather_questions.output.questions, arm=""),
    "dropped": expand(rules.gather_questions.output.dropped, arm=""),
    "related": gather.shards(rules.related.output.related, arm=""),
}
REQUIRED |= {
    "thresholds": "thresholds that are set by annotated images: set dataset.presence.calibrated",
    "validity": "the truth of the scenes: name its folder as truth",
    "risks": "a learned image filter, images apart from its folds and a target: set dataset.presence.method, aside and"
    " dataset.balance.target_risk",
    "generated": "the truth of the scenes: name its folder as truth",
    "filters": "chains to judge beside the main one: name them in dataset.judged.arms",
    "distractors": "chains to judge beside the main one: name them in dataset.judged.arms",
}
if DATASET.neo4j.load:
    ALSO.append(rules.load_testbed.output.loaded)
