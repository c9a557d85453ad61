"""Sources of dependencies for one text: three styles of heads from its trees, and a parser trained on some of them.

python bench/dependency_sources.py train.en train.en.tree.xz --out DIR [--sentences 4000] [--model FILE]

Writes DIR/table.conllu, johansson-nugues.conllu, content.conllu and parser.conllu: what a model of UDPipe gives that is
trained on the first sentences with the heads of the table. A failed parse has words, but no heads.
"""

import argparse
import time
from pathlib import Path

from treeglot.parse.adapters import open_parser
from treeglot.syntax import Dependency, heads, write
from treeglot.syntax.constituents import to_dependencies
from treeglot.syntax.formats import read_text, read_trees
from treeglot.syntax.head_style import STYLES


def over_text(trees, lines):
    for tree, words in zip(trees, lines, strict=True):
        if len(tree):
            yield Dependency(words, tree.heads.tolist(), tree.tags)
        else:
            yield Dependency(words, [Dependency.NO_HEAD] * len(words))


TAGGER = (
    "models=1;templates_1=tagger;guesser_suffix_rules_1=6;guesser_enrich_dictionary_1=6;use_lemma_1=0;use_xpostag_1=1;"
    "use_feats_1=0;provide_lemma_1=0;provide_xpostag_1=1;provide_feats_1=0;iterations_1=6"
)
PARSER = (
    "iterations=4;embedding_upostag=20;embedding_feats=0;embedding_xpostag=0;embedding_form=30;embedding_lemma=0;"
    "embedding_deprel=10;learning_rate=0.02;learning_rate_final=0.001;l2=0.5;hidden_layer=120;batch_size=10;"
    "transition_system=projective;transition_oracle=static;structured_interval=0"
)


def train_parser(trees):
    """A model of UDPipe 1, tagger and projective parser."""
    from ufal import udpipe

    rows = []
    for tree in trees:
        for place, (word, tag, head) in enumerate(zip(tree.words, tree.tags, tree.heads.tolist(), strict=True), 1):
            relation = "root" if head < 0 else "dep"
            rows.append(f"{place}\t{word}\t_\t{tag}\t{tag}\t_\t{head + 1}\t{relation}\t_\t_\n")
        rows.append("\n")
    reader, sentences, error = udpipe.InputFormat.newConlluInputFormat(), udpipe.Sentences(), udpipe.ProcessingError()
    reader.setText("".join(rows))
    sentence = udpipe.Sentence()
    while reader.nextSentence(sentence, error):
        sentences.push_back(sentence)
        sentence = udpipe.Sentence()
    model = udpipe.Trainer.train("morphodita_parsito", sentences, udpipe.Sentences(), "none", TAGGER, PARSER, error)
    if error.occurred():
        raise SystemExit(error.message)
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("text")
    parser.add_argument("trees")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--sentences", type=int, default=4000, help="that the parser is trained on")
    parser.add_argument("--model", type=Path, help="where it is kept, and taken from if it is there")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    lines, trees, table = list(read_text(arguments.text)), list(read_trees(arguments.trees)), heads.load("english")
    for name, style in STYLES.items():
        found = list(over_text(to_dependencies(trees, table, style), lines))
        write(arguments.out / f"{name}.conllu", found, tags="xpos")
        if name == "table":
            gold = found
    model = arguments.model or arguments.out / "parser.udpipe"
    if not model.exists():
        model.write_bytes(train_parser([tree for tree in gold if tree.is_tree()][: arguments.sentences]))
        print(f"the parser is trained: {time.process_time():.0f} CPU s", flush=True)
    parsed = list(open_parser("udpipe", str(model)).parse(lines))
    write(arguments.out / "parser.conllu", parsed, tags="xpos")
    rest = [(p, g) for p, g in zip(parsed, gold, strict=True)][arguments.sentences :]
    same = sum(int((p.heads == g.heads).sum()) for p, g in rest)
    share = 100 * same / sum(len(g) for _, g in rest)
    print(f"{time.process_time():.0f} CPU s; heads as the trees', on the other sentences: {share:.1f} %")


if __name__ == "__main__":
    main()
