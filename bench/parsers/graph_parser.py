"""A graph-based dependency parser for comparisons: a biaffine scorer (Dozat and Manning 2017) and Eisner's algorithm.

python bench/parsers/graph_parser.py --train train.conllu.xz --dev dev.conllu.xz --out DIR TEXT…

A TEXT is a file of tokens or a CoNLL-U file, of which the words alone are taken. DIR/NAME.conllu has its trees: all are
projective, with one root. Tags are the treebank's XPOS, which the network learns beside the heads. PyTorch is needed;
a GPU trains in minutes. The parser is no part of the package.
"""

import argparse
import lzma
import random
import time
from collections import Counter
from pathlib import Path

import torch
from torch import nn

PAD, UNKNOWN = 0, 1
LONGEST = 100  # words; longer sentences of a text get a flat tree, which is counted


def read_conllu(path):
    """Sentences as lists of (form, tag, head)."""
    sentence = []
    with (lzma.open if path.suffix == ".xz" else open)(path, "rt", encoding="utf-8") as stream:
        for line in stream:
            fields = line.rstrip("\n").split("\t")
            if len(fields) > 6 and fields[0].isdecimal():
                sentence.append((fields[1], fields[4] if fields[4] != "_" else fields[3], int(fields[6])))
            elif not line.strip() and sentence:
                yield sentence
                sentence = []
    if sentence:
        yield sentence


def read_words(path):
    if ".conllu" in path.name:
        return [[form for form, _, _ in sentence] for sentence in read_conllu(path)]
    return [line.split() for line in path.read_text(encoding="utf-8").splitlines()]


def shape(word):
    return word if any(map(str.isalpha, word)) else "".join("0" if one.isdigit() else one for one in word)


class Numbers:
    """Words and characters by number."""

    def __init__(self, bank):
        words = Counter(shape(form).lower() for sentence in bank for form, _, _ in sentence)
        self.words = {word: n for n, word in enumerate((w for w, c in words.items() if c > 1), 2)}
        letters = Counter(one for sentence in bank for form, _, _ in sentence for one in form)
        self.letters = {one: n for n, one in enumerate((x for x, c in letters.items() if c > 2), 2)}
        self.tags = sorted({tag for sentence in bank for _, tag, _ in sentence})

    def batch(self, sentences, device):
        """The words and letters of sentences, padded."""
        longest = max(map(len, sentences))
        words = torch.zeros(len(sentences), longest, dtype=torch.long)
        letters = torch.zeros(len(sentences), longest, 16, dtype=torch.long)
        for row, sentence in enumerate(sentences):
            for place, form in enumerate(sentence):
                words[row, place] = self.words.get(shape(form).lower(), UNKNOWN)
                for k, one in enumerate(form[:8] + form[-8:]):
                    letters[row, place, k] = self.letters.get(one, UNKNOWN)
        return words.to(device), letters.to(device)


class Parser(nn.Module):
    """Scores of heads and tags from three layers of bidirectional LSTMs over words and letters."""

    def __init__(self, numbers, size=300, arc=300):
        super().__init__()
        self.word = nn.Embedding(len(numbers.words) + 2, 150, padding_idx=PAD)
        self.letter = nn.Embedding(len(numbers.letters) + 2, 48, padding_idx=PAD)
        self.spelling = nn.Conv1d(48, 100, 3, padding=1)
        self.lstm = nn.LSTM(250, size, 3, batch_first=True, bidirectional=True, dropout=0.4)
        self.head, self.dependent = nn.Linear(2 * size, arc), nn.Linear(2 * size, arc)
        self.arc = nn.Parameter(torch.zeros(arc + 1, arc))
        self.root = nn.Parameter(torch.randn(2 * size) * 0.01)
        self.tag = nn.Linear(2 * size, len(numbers.tags))
        self.drop = nn.Dropout(0.4)

    def forward(self, words, letters):
        """Scores [sentence, head, dependent], where head 0 is the root, and scores of tags."""
        rows, width, long = letters.shape
        if self.training:
            words = torch.where((torch.rand_like(words, dtype=torch.float) < 0.15) & (words > 0), UNKNOWN, words)
        spelt = self.letter(letters).view(rows * width, long, -1).transpose(1, 2)
        spelt = torch.relu(self.spelling(spelt)).amax(2).view(rows, width, -1)
        lengths = (words > 0).sum(1).cpu()
        packed = nn.utils.rnn.pack_padded_sequence(
            self.drop(torch.cat([self.word(words), spelt], 2)), lengths, batch_first=True, enforce_sorted=False
        )
        states = nn.utils.rnn.pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=width)[0]
        states = self.drop(states)
        heads = torch.cat([self.root.expand(rows, 1, -1), states], 1)
        heads = self.drop(torch.relu(self.head(heads)))
        dependents = self.drop(torch.relu(self.dependent(states)))
        heads = torch.cat([heads, torch.ones_like(heads[..., :1])], 2)
        return heads @ self.arc @ dependents.transpose(1, 2), self.tag(states)


def best_trees(scores):
    """The best projective trees with one root of sentences of one length (Eisner 1996): heads from 1 on, 0 the root."""
    rows, _, n = scores.shape
    scores = scores.double()
    root, arcs = scores[:, 0], scores[:, 1:]
    low = torch.finfo(torch.double).min / 4
    whole = {side: torch.full((rows, n, n), low, dtype=torch.double, device=scores.device) for side in "lr"}
    open_ = {side: torch.full((rows, n, n), low, dtype=torch.double, device=scores.device) for side in "lr"}
    back = {}
    each = torch.arange(n, device=scores.device)
    for side in "lr":
        whole[side][:, each, each] = 0
    for width in range(1, n):
        i = torch.arange(n - width, device=scores.device)
        j, k = i + width, torch.arange(width, device=scores.device)
        middle = i[:, None] + k
        value, at = (whole["r"][:, i[:, None], middle] + whole["l"][:, middle + 1, j[:, None]]).max(2)
        open_["r"][:, i, j] = value + arcs[:, i, j]
        open_["l"][:, i, j] = value + arcs[:, j, i]
        value, right = (open_["r"][:, i[:, None], middle + 1] + whole["r"][:, middle + 1, j[:, None]]).max(2)
        whole["r"][:, i, j] = value
        value, left = (whole["l"][:, i[:, None], middle] + open_["l"][:, middle, j[:, None]]).max(2)
        whole["l"][:, i, j] = value
        back[width] = [(i + found).cpu().tolist() for found in (at, right + 1, left)]
    roots = (whole["l"][:, 0] + whole["r"][:, :, n - 1] + root).argmax(1).tolist()
    return [_heads(n, back, row, top) for row, top in enumerate(roots)]


def _heads(n, back, row, top):
    heads = [0] * n
    todo = [("l", 0, top), ("r", top, n - 1)]
    while todo:
        kind, i, j = todo.pop()
        if i == j:
            continue
        split, right, left = (found[row][i] for found in back[j - i])
        if kind == "r":
            heads[right] = i + 1
            todo += [("open", i, right), ("r", right, j)]
        elif kind == "l":
            heads[left] = j + 1
            todo += [("l", i, left), ("open", left, j)]
        else:
            todo += [("r", i, split), ("l", split + 1, j)]
    return heads


def parse(model, numbers, sentences, device):
    """The heads and tags of each sentence."""
    model.eval()
    found = [None] * len(sentences)
    by_length = {}
    for number, sentence in enumerate(sentences):
        by_length.setdefault(len(sentence), []).append(number)
    for length, members in by_length.items():
        if length == 0 or length > LONGEST:
            for number in members:
                found[number] = ([0] + [1] * (length - 1), ["X"] * length) if length else ([], [])
            continue
        for start in range(0, len(members), 256):
            some = members[start : start + 256]
            with torch.no_grad():
                scores, tags = model(*numbers.batch([sentences[number] for number in some], device))
            best = tags.argmax(2).tolist()
            for number, heads, tagged in zip(some, best_trees(scores), best, strict=True):
                found[number] = (heads, [numbers.tags[tag] for tag in tagged])
    return found


def train(bank, dev, epochs, seed, device):
    """A parser, trained on sentences of (form, tag, head); prints how many heads of `dev` it finds."""
    torch.manual_seed(seed)
    draw = random.Random(seed)
    numbers = Numbers(bank)
    model = Parser(numbers).to(device)
    tag_of = {tag: n for n, tag in enumerate(numbers.tags)}
    steps = epochs * (len(bank) // 48 + 1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.002, betas=(0.9, 0.95), weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: max(0.01, 1 - step / steps))
    started = time.time()
    for epoch in range(1, epochs + 1):
        model.train()
        order = sorted(bank, key=lambda sentence: (len(sentence) + draw.uniform(0, 6), draw.random()))
        groups = [order[at : at + 48] for at in range(0, len(order), 48)]
        draw.shuffle(groups)
        for group in groups:
            words, letters = numbers.batch([[form for form, _, _ in sentence] for sentence in group], device)
            scores, tags = model(words, letters)
            blank = [[-100] * (words.shape[1] - len(sentence)) for sentence in group]
            heads = [[head for _, _, head in one] + rest for one, rest in zip(group, blank, strict=True)]
            gold = [[tag_of[tag] for _, tag, _ in one] + rest for one, rest in zip(group, blank, strict=True)]
            lengths = (words > 0).sum(1)
            outside = torch.arange(scores.shape[1], device=device)[None, :] > lengths[:, None]
            scores = scores.masked_fill(outside[:, :, None], -1e9).transpose(1, 2).flatten(0, 1)
            loss = nn.functional.cross_entropy(scores, torch.tensor(heads, device=device).flatten())
            loss = loss + 0.3 * nn.functional.cross_entropy(
                tags.flatten(0, 1), torch.tensor(gold, device=device).flatten()
            )
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            schedule.step()
        if epoch % 4 == 0 or epoch == epochs:
            given = [[form for form, _, _ in sentence] for sentence in dev]
            parsed = parse(model, numbers, given, device)
            same = [
                h == gold[2]
                for one, sentence in zip(parsed, dev, strict=True)
                for h, gold in zip(one[0], sentence, strict=True)
            ]
            right = sum(same) / len(same)
            print(f"epoch {epoch}: {100 * right:.2f} % of the heads of dev, {time.time() - started:.0f} s", flush=True)
    return model, numbers


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", type=Path, nargs="+")
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--dev", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    bank = [sentence for sentence in read_conllu(arguments.train) if 1 < len(sentence) <= LONGEST]
    model, numbers = train(bank, list(read_conllu(arguments.dev)), arguments.epochs, arguments.seed, device)
    for path in arguments.texts:
        sentences = read_words(path)
        parsed = parse(model, numbers, sentences, device)
        long = sum(len(sentence) > LONGEST for sentence in sentences)
        with (arguments.out / f"{path.name.split('.conllu')[0]}.conllu").open("w", encoding="utf-8") as stream:
            for words, (heads, tags) in zip(sentences, parsed, strict=True):
                for place, (word, tag, head) in enumerate(zip(words, tags, heads, strict=True), 1):
                    relation = "root" if head == 0 else "dep"
                    stream.write(f"{place}\t{word}\t_\t_\t{tag}\t_\t{head}\t{relation}\t_\t_\n")
                stream.write("\n")
        print(f"{path.name}: {len(sentences):,} sentences, {long:,} longer than {LONGEST} words got a flat tree")


if __name__ == "__main__":
    main()
