"""ROC areas of a model's confidence on test sentences, against length and score alone.

python bench/confidence.py MODEL DEV DEV_REFERENCES TEST TEST_REFERENCES [--threads 2]
"""

import argparse
from pathlib import Path

import numpy as np
from record import add_option, column, record

import treeglot
from treeglot.base.files import read_lines
from treeglot.decode.confidence import SENTENCE, WORD
from treeglot.models.confidence import judge, roc_area


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("model", "dev", "dev_references", "test", "test_references"):
        parser.add_argument(name)
    parser.add_argument("--threads", type=int, default=2)
    add_option(parser)
    options = parser.parse_args()
    model = treeglot.load(options.model)
    dev, test = (
        judge(model, list(model.read(Path(source))), list(read_lines(references)), options.threads)
        for source, references in ((options.dev, options.dev_references), (options.test, options.test_references))
    )
    fitted = dev.fit(float(np.median(dev.chrf)))
    good = test.chrf >= np.median(test.chrf)
    rows = np.array([row for row, _ in test.rows])
    words = np.array([word for _, each in test.rows for word in each])
    has = [one for each in test.words for one in each]
    print("| | sentence chrF below the median | word not in the reference |\n|---|---|---|")
    table = {
        "confidence": (fitted.sentence(rows), fitted.word(words)),
        "length": (-rows[:, SENTENCE.index("log_length")], -words[:, WORD.index("sentence_log_length")]),
        "score": (rows[:, SENTENCE.index("score")], words[:, WORD.index("sentence_score")]),
        "posterior": (rows[:, SENTENCE.index("best@1")], words[:, WORD.index("word@1")]),
    }
    areas = [[name, roc_area(sentences, good), roc_area(each, has)] for name, (sentences, each) in table.items()]
    for name, of_sentences, of_words in areas:
        print(f"| {name} | {of_sentences:.3f} | {of_words:.3f} |")
    columns = [column("measure"), column("chrF below the median", 3), column("word not in the reference", 3)]
    record(options.json, columns, areas)
    for what, p, label in (("sentences", fitted.sentence(rows), good), ("words", fitted.word(words), has)):
        bins = [np.minimum((np.asarray(p) * 5).astype(int), 4) == number for number in range(5)]
        shown = [f"{np.mean(p[one]):.2f}→{np.mean(np.asarray(label)[one]):.2f}" for one in bins if one.any()]
        print(f"calibration of {what}, predicted→observed: {', '.join(shown)}")


if __name__ == "__main__":
    main()
