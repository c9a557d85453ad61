"""The C++ core of Treeglot."""

from collections.abc import (
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence
)
import enum
from typing import Annotated, Any, Final, overload

import numpy
import numpy.typing
from numpy.typing import NDArray


def new_aside(target: bytes) -> tuple[int, bytes]:
    """
    A new file aside of `target`: its descriptor, locked until it is closed, and its path.
    """

def remove_leftovers(target: bytes) -> None:
    """
    Remove files and folders aside of `target` that nobody writes any more.
    """

class Ending:
    """Ends the process soon after a signal, whatever it is doing."""

    def __init__(self, words: Mapping[int, str], grace: float) -> None:
        """
        Last words by signal; after one of these signals the process has `grace` seconds to end by itself.
        """

    @property
    def descriptor(self) -> int:
        """Where the numbers of signals are written, as bytes."""

class Opening(enum.Enum):
    """How the checks of a binary file are made."""

    trusted = 0
    """Not at all."""

    verified = 1
    """All of them before it opens."""

    on_use = 2
    """Those of what is used, each time."""

    background = 3
    """
    Those of what is used, until it pays that a thread checks all; a small file is verified before it opens.
    """

def is_container(begin: bytes) -> bool:
    """
    Whether a file that begins with these bytes is a binary file of named sections.
    """

def container_kind(begin: bytes) -> bytes:
    """
    The kind of the binary file that begins with these 64 bytes; empty if it is none.
    """

def write_sections(path: str, kind: str, version: int, content: Mapping[str, bytes]) -> None:
    """Write a binary file of named sections: aside, then renamed."""

def read_sections(path: str, kind: str, version: int, verify: bool = True) -> dict[str, bytes]:
    """
    Read a binary file of named sections; one that is damaged or of another kind or version is a FormatError.
    """

class Hypergraph:
    """
    Nodes in topological order and edges grouped by head; scores and labels are arrays beside it.
    """

    @staticmethod
    def from_arrays(first_edge: Sequence[int] | numpy.typing.NDArray[numpy.uint32], first_tail: Sequence[int] | numpy.typing.NDArray[numpy.uint32], tails: Sequence[int] | numpy.typing.NDArray[numpy.uint32], goal: int | None) -> Hypergraph:
        """
        A graph on these arrays: contiguous uint32 is not copied but closed to writing; views and all else are copied.
        """

    @property
    def nodes(self) -> int:
        """The number of nodes."""

    @property
    def edges(self) -> int:
        """The number of edges."""

    @property
    def goal(self) -> int | None:
        """The goal node; None when there is no derivation to be had."""

    @property
    def first_edge(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', writable=False)]:
        """The edges into node v are first_edge[v] … first_edge[v + 1]."""

    @property
    def first_tail(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', writable=False)]:
        """The tails of edge e are tails[first_tail[e]:first_tail[e + 1]]."""

    @property
    def tails(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', writable=False)]:
        """The tails of all edges, one after another."""

    @property
    def heads(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', writable=False)]:
        """The head of every edge."""

    def __eq__(self, other: object | None) -> bool:
        """The same nodes, edges, order and goal."""

    def __hash__(self) -> int:
        """A hash of its content: graphs are immutable."""

    def __repr__(self) -> str:
        """Its size and its goal."""

    def __getstate__(self) -> tuple[object, ...]:
        """Its arrays and its goal."""

    def __setstate__(self, state: tuple[object, ...]) -> None:
        """From its arrays and its goal."""

class Mapped:
    """A graph that a stage made, and where its nodes and edges came from."""

    @property
    def graph(self) -> Hypergraph:
        """The new graph."""

    @property
    def edge_map(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', writable=False)]:
        """For each edge of the new graph its number in the old one, or NO_EDGE."""

    @property
    def node_map(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', writable=False)]:
        """For each node of the new graph its number in the old one, or NO_NODE."""

NO_EDGE: int = 4294967295

NO_NODE: int = 4294967295

class Builder:
    """Nodes and edges in, a frozen hypergraph out."""

    def __init__(self) -> None: ...

    def add_node(self) -> int:
        """Add a node after those that are there; its number."""

    def add_nodes(self, number: int) -> int:
        """Add several nodes; the number of the first."""

    def add_edge(self, head: int, tails: Sequence[int] = ()) -> int:
        """Add an edge; without tails it derives a leaf. Tails come before heads."""

    @property
    def nodes(self) -> int:
        """How many nodes have been added."""

    @property
    def edges(self) -> int:
        """How many edges have been added."""

    def freeze(self, goal: int | None) -> Mapped:
        """
        The graph, and in its edge_map what add_edge returned; the builder is empty afterwards.
        """

class GraphDerivation:
    """A derivation: its score, and its edges in preorder."""

    @property
    def score(self) -> float:
        """The sum of its edges' scores."""

    @property
    def edges(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', writable=False)]:
        """An edge, then the derivations of its tails from left to right."""

    def __repr__(self) -> str:
        """Its score and how many edges it has."""

class GraphKBest:
    """The derivations of the goal from the best down."""

    def __init__(self, graph: Hypergraph, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], first_symbol: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, symbols: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> None: ...

    def next(self) -> GraphDerivation | None:
        """The next derivation, or None."""

    def take(self, number: int) -> list[GraphDerivation]:
        """The next few derivations."""

def graph_viterbi(graph: Hypergraph, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> GraphDerivation | None:
    """The best derivation of the goal, or None."""

def graph_with_gains(graph: Hypergraph, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], first_symbol: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], symbols: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], references: Sequence[tuple[Sequence[int], float]], per_word: float, by_order: Sequence[float], beam: int) -> tuple[Mapped, Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
    """
    The graph whose edges score what the n-grams of yields gain, too: where it came from, and the scores. References have shares.
    """

def graph_sample(graph: Hypergraph, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], number: int, seed: int) -> list[GraphDerivation]:
    """Derivations drawn in proportion to e^score."""

def graph_inside(semiring: str, graph: Hypergraph, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """The inside value of every node."""

def graph_outside(semiring: str, graph: Hypergraph, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, inside: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """The outside value of every node."""

def graph_posteriors(graph: Hypergraph, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """The logarithm of every edge's posterior."""

def graph_node_ranks(graph: Hypergraph, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float32], dict(shape=(None,))]:
    """By node: the share of nodes with a better derivation."""

def graph_topological_order(nodes: int, heads: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], first_tail: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], tails: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,))], int]:
    """The nodes, tails first, and NO_NODE; or nothing and a node on a cycle."""

def graph_assemble(nodes: int, heads: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], first_tail: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], tails: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], goal: int | None) -> Mapped:
    """A graph from edges in any order."""

def graph_prune(graph: Hypergraph, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], margin: float) -> Mapped:
    """Drop what the best derivation beats by more than the margin."""

class Tree:
    """
    A constituency tree: a sequence of nodes in preorder; without nodes, a failed parse.
    """

    @overload
    def __init__(self) -> None:
        """The empty tree: no parse."""

    @overload
    def __init__(self, labels: Sequence[str], sizes: Sequence[int]) -> None:
        """
        From the labels (a word's is the word) and subtree sizes of its nodes in preorder.
        """

    @staticmethod
    def parse(text: str) -> Tree:
        """The tree in Penn Treebank brackets: (S (NP I) (VP run))."""

    @staticmethod
    def from_nested(nested: tuple[Any, ...] | list[Any]) -> Tree:
        """
        The tree of nested tuples or lists (label, child, ...); a child is a word or nested likewise.
        """

    def to_nested(self) -> object:
        """The tree as nested tuples (label, child, ...)."""

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

    def __len__(self) -> int: ...

    def __eq__(self, other: object | None) -> bool: ...

    def __hash__(self) -> int: ...

    def __getstate__(self) -> tuple[tuple[bytes, bytes], bytes]: ...

    def __setstate__(self, arg: tuple[tuple[bytes, bytes], bytes], /) -> None: ...

    def __getitem__(self, node: int) -> TreeNode:
        """A handle on a node."""

    @property
    def root(self) -> TreeNode:
        """A handle on the root."""

    @property
    def size(self) -> int:
        """The number of nodes, words included."""

    def label(self, node: int) -> str:
        """The label of a node; the word of a leaf."""

    def parent(self, node: int) -> int | None:
        """The number of a node's parent; None for the root."""

    def children(self, node: int) -> list[int]:
        """The numbers of a node's children."""

    def span(self, node: int) -> tuple[int, int]:
        """The words below a node, as (begin, end)."""

    def is_word(self, node: int) -> bool:
        """Whether a node is a leaf."""

    @property
    def labels(self) -> list[str]:
        """The labels of all nodes in preorder."""

    @property
    def sizes(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', writable=False)]:
        """The number of nodes in each node's subtree, itself included: a view."""

    @property
    def words(self) -> list[str]:
        """The words."""

    @property
    def tags(self) -> list[str]:
        """The label of each word's parent."""

class TreeNode:
    """A node of a tree: a light handle on the tree and the node's number."""

    @property
    def tree(self) -> Tree:
        """The tree that the node belongs to."""

    @property
    def index(self) -> int:
        """The node's number in preorder."""

    @property
    def label(self) -> str:
        """The label; the word of a leaf."""

    @property
    def is_word(self) -> bool:
        """Whether it is a leaf."""

    @property
    def span(self) -> tuple[int, int]:
        """The words below, as (begin, end)."""

    @property
    def words(self) -> list[str]:
        """The words below."""

    @property
    def tags(self) -> list[str]:
        """The label of each word's parent."""

    @property
    def parent(self) -> TreeNode | None:
        """The parent; None for the root."""

    @property
    def children(self) -> list[TreeNode]:
        """The children, from left to right."""

    def subtree(self) -> Tree:
        """The tree below the node, itself the root; a word has none."""

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

class Dependency:
    """A head for every word: a position, -1 for a root, -2 for none."""

    def __init__(self, words: Sequence[str], heads: Sequence[int], tags: Sequence[str] | None = None, relations: Sequence[str] | None = None) -> None:
        """tags and relations are as long as words, or None."""

    ROOT: Final[int] = ...
    """The head of a root."""

    NO_HEAD: Final[int] = ...
    """The head of a word that the parser gave none."""

    @property
    def words(self) -> list[str]:
        """The words."""

    @property
    def heads(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', writable=False)]:
        """The head of every word: a view."""

    @property
    def tags(self) -> list[str] | None:
        """The tag of every word, or None."""

    @property
    def relations(self) -> list[str] | None:
        """The relation of every word to its head, or None."""

    def __len__(self) -> int: ...

    def __eq__(self, other: object | None) -> bool: ...

    def __hash__(self) -> int: ...

    def __getstate__(self) -> tuple[tuple[bytes, bytes], bytes, tuple[bytes, bytes], tuple[bytes, bytes]]: ...

    def __setstate__(self, arg: tuple[tuple[bytes, bytes], bytes, tuple[bytes, bytes], tuple[bytes, bytes]], /) -> None: ...

    def __repr__(self) -> str: ...

    @staticmethod
    def from_brackets(text: str) -> Dependency:
        """
        The dependency tree in brackets: (Bush) held ((a) talk) (with (Sharon)).
        """

    def to_brackets(self) -> str:
        """
        In brackets; refuses what is not projective, has a cycle or lacks a head.
        """

    def roots(self) -> list[int]:
        """The positions of the roots."""

    def cycle(self) -> list[int]:
        """
        The positions of the first cycle, each followed by its head; empty if there is none.
        """

    def is_tree(self) -> bool:
        """
        Whether there is one root, every other word has a head, and there is no cycle.
        """

    def nonprojective_arcs(self) -> list[int]:
        """
        The words whose arc passes over a word that does not descend from their head.
        """

    def is_projective(self) -> bool:
        """
        Whether every word between a word and its head descends from that head; there may be several roots.
        """

    def projectivise(self) -> tuple[Dependency, int]:
        """
        Projective, by lifting words to their heads' heads, the shortest arc first; and how many steps that took. Refuses a cycle.
        """

class Alignment:
    """A set of (source, target) links, sorted."""

    def __init__(self, links: Iterable[tuple[int, int]] = ()) -> None:
        """Positions count from 0; doubles are dropped."""

    @staticmethod
    def parse(text: str) -> Alignment:
        """The links of a Pharaoh line: 0-0 1-2."""

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[tuple[int, int]]: ...

    def __contains__(self, link: tuple[int, int]) -> bool: ...

    def __eq__(self, other: object | None) -> bool: ...

    def __hash__(self) -> int: ...

    def __getstate__(self) -> bytes: ...

    def __setstate__(self, arg: bytes, /) -> None: ...

    @property
    def links(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None, 2), order='C', writable=False)]:
        """The links as rows (source, target): a view."""

    def transpose(self) -> Alignment:
        """The alignment with source and target exchanged."""

    def check(self, source_length: int, target_length: int) -> None:
        """Refuse a link outside a sentence pair of these lengths."""

class Symmetrization(enum.Enum):
    """How the alignments of two directions become one."""

    intersection = 0

    union = 1

    grow_diag = 2

    grow_diag_and = 3

    grow_diag_final = 4

    grow_diag_final_and = 5

def symmetrize(forward: Alignment, backward: Alignment, method: Symmetrization) -> Alignment:
    """
    One alignment from those of two directions, both from source to target.
    """

class ScoreKind(enum.Enum):
    """What the edge scores of a forest are: natural logarithms all."""

    conditional = 0
    """log P(tails | head), as a PCFG's"""

    posterior = 1
    """log of the edge's posterior, as a max-rule parser's"""

    arbitrary = 2
    """any log score"""

class ParseForest:
    """
    A packed parse forest: a hypergraph of labelled spans and words, with edge scores.
    """

    def __init__(self, graph: Hypergraph, labels: Sequence[str], spans: Sequence[tuple[int, int]], scores: Sequence[float], kind: ScoreKind) -> None:
        """
        Labels and spans for every node, the words first; a score for every edge.
        """

    @property
    def graph(self) -> Hypergraph:
        """The hypergraph."""

    @property
    def kind(self) -> ScoreKind:
        """What the scores are."""

    @property
    def parsed(self) -> bool:
        """Whether there is a parse."""

    @property
    def words(self) -> list[str]:
        """The words."""

    @property
    def scores(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', writable=False)]:
        """The score of every edge: a view."""

    @property
    def spans(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None, 2), order='C', writable=False)]:
        """The span (begin, end) of every node: a view."""

    @property
    def labels(self) -> list[str]:
        """The label of every node; a word's is the word."""

    def label(self, node: int) -> str:
        """The label of a node; the word of a word node."""

    def span(self, node: int) -> tuple[int, int]:
        """The words below a node, as (begin, end)."""

    def is_word(self, node: int) -> bool:
        """Whether a node is a word."""

    @staticmethod
    def from_tree(tree: Tree) -> ParseForest:
        """The forest that has this tree alone."""

    @staticmethod
    def from_kbest(trees: Sequence[tuple[float, Tree]], top: str = 'TOP') -> ParseForest:
        """
        The forest of a k-best list of (log probability, tree); `top` is put above roots that differ.
        """

    def edges_with(self, edges: Sequence[int]) -> list[int]:
        """
        The edges, in preorder, of the best tree by the scores as given that takes these edges where it uses their heads.
        """

    def tree_with(self, edges: Sequence[int]) -> Tree:
        """The tree of edges_with(edges)."""

    def viterbi(self) -> Tree:
        """The best tree by the scores as given; without a parse, the empty tree."""

    def best_spans(self) -> Tree:
        """
        The tree with the fewest expected errors of spans; without a parse, the empty tree.
        """

    def kbest(self, k: int) -> list[tuple[float, Tree]]:
        """The k best derivations as (score, tree), the best first."""

    def sample(self, n: int, seed: int) -> list[Tree]:
        """Random trees, each drawn with a probability in proportion to e^score."""

    def count(self) -> float:
        """How many derivations there are: exact up to 2^53."""

    def prune(self, margin: float) -> ParseForest:
        """
        Without the edges whose best tree is worse than the best by more than margin, in natural log units.
        """

    def conditional(self) -> ParseForest:
        """
        With conditional log probabilities: scores normalised over the edges into each node.
        """

    TRAINING_MARGIN: Final[float] = ...
    """The margin to prune with before training."""

    DECODING_MARGIN: Final[float] = ...
    """The margin to prune with before decoding."""

    def __bool__(self) -> bool: ...

    def __eq__(self, other: object | None) -> bool: ...

    def __hash__(self) -> int: ...

    def __getstate__(self) -> tuple[bytes, bytes, bytes, int, tuple[bytes, bytes], bytes, bytes, ScoreKind]: ...

    def __setstate__(self, arg: tuple[bytes, bytes, bytes, int, tuple[bytes, bytes], bytes, bytes, ScoreKind], /) -> None: ...

    def __repr__(self) -> str: ...

class HeadTable:
    """Which child of a constituent is its head."""

    @staticmethod
    def read(text: str, file: str) -> HeadTable:
        """A table from its text; `file` is named in errors."""

    @property
    def text(self) -> str:
        """What it was read from."""

    def base(self, label: str) -> str:
        """The label without functional tags, unless the table knows the whole."""

    def head_child(self, label: str, children: Sequence[str]) -> int:
        """The position of the head among the children's labels."""

    def __getstate__(self) -> tuple[str, str]: ...

    def __setstate__(self, arg: tuple[str, str], /) -> None: ...

    def __repr__(self) -> str: ...

def to_dependencies(trees: Sequence[Tree], heads: HeadTable, style: object) -> list[Dependency]:
    """The dependency trees of constituency trees."""

def to_dependency(tree: Tree, heads: HeadTable, style: object) -> Dependency:
    """The dependency tree of a constituency tree."""

class HeadLearner:
    """Learns a head table from trees and dependencies of the same sentences."""

    def __init__(self) -> None: ...

    def add(self, tree: Tree, dependency: Dependency) -> None:
        """
        Adds a sentence; refuses a dependency tree with another number of words.
        """

    @property
    def words(self) -> list[str]:
        """Different words."""

    @property
    def without_head(self) -> int:
        """
        Constituents whose words have several heads outside: nothing is learnt of them.
        """

    def learn(self, punctuation: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[str, int, int]:
        """
        The table's text, the constituents it is learnt from, and how many of their heads it finds. `punctuation` says it of each word.
        """

def structure_roots(dependency: Dependency, begin: int, end: int, strict: bool = False) -> list[int]:
    """
    The word that the span is fixed on, the words that float in it, or none.
    """

def structures(dependency: Dependency, max_length: int, strict: bool = False) -> list[tuple[int, int, list[int]]]:
    """Begin, end and roots of every well-formed span up to a length."""

def span_categories(tree: Tree, max_length: int) -> list[tuple[int, int, str]]:
    """Begin, end and simplest category of every span up to a length."""

def span_category(tree: Tree, begin: int, end: int) -> str:
    """The simplest category of a span."""

def crossed_constituents(tree: Tree, begin: int, end: int) -> int:
    """How many constituents the span crosses; a unary chain is one."""

def escaped_label(label: str) -> str:
    """A label as part of a category's text."""

class TreeBatch:
    """Many constituency trees, as extractors read them."""

    def __init__(self) -> None: ...

    def __len__(self) -> int: ...

    def append(self, tree: Tree, words: Sequence[str], leaves: Sequence[str]) -> None:
        """
        Adds the tree of a sentence; refuses one whose leaves are not the sentence's words.
        """

class ArcScores(enum.Enum):
    """What the scores of arcs in a file are."""

    probability = 0

    log = 1

    cost = 2

class Lattice:
    """
    Several ways to read a sentence: arcs with words and scores between nodes, which count from 0.
    """

    def __init__(self, arcs: Sequence[tuple[int, int, str, float]]) -> None:
        """
        An arc has the node that it leaves, a later one that it leads to, its word and its score (natural log). Paths begin at node 0 and end at the last one. The word of an arc without one is empty.
        """

    @staticmethod
    def from_words(words: Sequence[str]) -> Lattice:
        """The lattice with one path, which is a sentence."""

    @staticmethod
    def parse(text: str, scores: ArcScores = ArcScores.probability) -> Lattice:
        """
        The lattice of a line as Moses and cdec read it: ((('a',1.0,1),('b',0.5,2),),(('c',1.0,1),),)
        """

    @property
    def arcs(self) -> list[tuple[int, int, str, float]]:
        """In the order of the nodes that they leave."""

    @property
    def words(self) -> list[str]:
        """The words of the arcs; empty for an arc without one."""

    @property
    def nodes(self) -> int:
        """How many nodes there are."""

    def words_on(self, path: Sequence[int]) -> list[str]:
        """The words of a path, which is a list of arcs by number."""

    def __len__(self) -> int: ...

    def __eq__(self, other: object | None) -> bool: ...

    def __hash__(self) -> int: ...

    def __getstate__(self) -> tuple[list[tuple[int, int, str, float]]]: ...

    def __setstate__(self, arg: tuple[Sequence[tuple[int, int, str, float]]], /) -> None: ...

    def __repr__(self) -> str: ...

class LatticeForest:
    """
    A forest whose words may be read in other ways: those of a lattice, one path of which was parsed.
    """

    def __init__(self, forest: ParseForest, lattice: Lattice) -> None:
        """A lattice without a path that has the forest's words is refused."""

    @property
    def forest(self) -> ParseForest:
        """Of the path that was parsed."""

    @property
    def lattice(self) -> Lattice:
        """All paths."""

    @property
    def words(self) -> list[str]:
        """Of the path that was parsed."""

    @property
    def variants(self) -> list[tuple[tuple[int, int], list[str], float]]:
        """
        Spans of the forest's words, the words that they may be read as, and their scores (natural log), less those of the path that was parsed.
        """

    @property
    def left_out(self) -> int:
        """How many ways insert words, or leave words out: these are not used."""

    def __eq__(self, other: object | None) -> bool: ...

    def __hash__(self) -> int: ...

    def __getstate__(self) -> tuple[ParseForest, Lattice]: ...

    def __setstate__(self, arg: tuple[ParseForest, Lattice], /) -> None: ...

    def __repr__(self) -> str: ...

class BracketReader:
    """Reads Penn Treebank brackets."""

    def __init__(self, file: str, skip_bad: bool = False) -> None: ...

    def feed(self, chunk: bytes) -> list[Tree | None]:
        """
        The values that are complete with these bytes; None for a bad record that was skipped.
        """

    def finish(self) -> list[Tree | None]:
        """The values that the end of the file completes."""

    @property
    def skipped(self) -> int:
        """How many bad records have been skipped."""

    @property
    def problems(self) -> list[tuple[int, str]]:
        """Line and problem of the first bad records that were skipped."""

def write_brackets(tree: Tree) -> str:
    """The tree in brackets; refuses what would be read differently."""

class Conll(enum.Enum):
    """A version of the CoNLL format."""

    x = 0

    u = 1

class TagColumn(enum.Enum):
    """Which of CoNLL's two columns of tags is meant."""

    coarse = 3

    fine = 4

class ConllReader:
    """Reads CoNLL-X or CoNLL-U."""

    def __init__(self, file: str, skip_bad: bool, version: Conll, tags: TagColumn) -> None: ...

    def feed(self, chunk: bytes) -> list[Dependency | None]:
        """
        The values that are complete with these bytes; None for a bad record that was skipped.
        """

    def finish(self) -> list[Dependency | None]:
        """The values that the end of the file completes."""

    @property
    def skipped(self) -> int:
        """How many bad records have been skipped."""

    @property
    def problems(self) -> list[tuple[int, str]]:
        """Line and problem of the first bad records that were skipped."""

def write_conll(dependency: Dependency, version: Conll, tags: TagColumn) -> str:
    """The lines of a sentence; refuses what would be read differently."""

class PharaohReader:
    """Reads Pharaoh links."""

    def __init__(self, file: str, skip_bad: bool = False) -> None: ...

    def feed(self, chunk: bytes) -> list[Alignment | None]:
        """
        The values that are complete with these bytes; None for a bad record that was skipped.
        """

    def finish(self) -> list[Alignment | None]:
        """The values that the end of the file completes."""

    @property
    def skipped(self) -> int:
        """How many bad records have been skipped."""

    @property
    def problems(self) -> list[tuple[int, str]]:
        """Line and problem of the first bad records that were skipped."""

def write_pharaoh(alignment: Alignment) -> str:
    """The links as a line."""

def link_posteriors(alignment: Alignment, tokens: Sequence[str], source_length: int, target_length: int) -> list[float]:
    """
    The mean posterior of each link, by tokens such as 3-0:0.9:0.75; 0 for links that they lack.
    """

class EgretReader:
    """Reads packed forests as Egret prints them."""

    def __init__(self, file: str, skip_bad: bool = False, keep_suffix: bool = False, unit: float = 1.0) -> None: ...

    def feed(self, chunk: bytes) -> list[ParseForest | None]:
        """
        The values that are complete with these bytes; None for a bad record that was skipped.
        """

    def finish(self) -> list[ParseForest | None]:
        """The values that the end of the file completes."""

    @property
    def skipped(self) -> int:
        """How many bad records have been skipped."""

    @property
    def problems(self) -> list[tuple[int, str]]:
        """Line and problem of the first bad records that were skipped."""

def write_egret(forest: ParseForest, number: int) -> str:
    """The record of a forest; refuses what the format cannot hold."""

class ForestJsonReader:
    """Reads forests from JSON lines."""

    def __init__(self, file: str, skip_bad: bool = False) -> None: ...

    def feed(self, chunk: bytes) -> list[ParseForest | None]:
        """
        The values that are complete with these bytes; None for a bad record that was skipped.
        """

    def finish(self) -> list[ParseForest | None]:
        """The values that the end of the file completes."""

    @property
    def skipped(self) -> int:
        """How many bad records have been skipped."""

    @property
    def problems(self) -> list[tuple[int, str]]:
        """Line and problem of the first bad records that were skipped."""

def write_forest_json(forest: ParseForest) -> str:
    """The forest as a line of JSON."""

class PlfReader:
    """Reads lattices in the Python Literal Format."""

    def __init__(self, file: str, skip_bad: bool = False, scores: ArcScores = ArcScores.probability) -> None: ...

    def feed(self, chunk: bytes) -> list[Lattice | None]:
        """
        The values that are complete with these bytes; None for a bad record that was skipped.
        """

    def finish(self) -> list[Lattice | None]:
        """The values that the end of the file completes."""

    @property
    def skipped(self) -> int:
        """How many bad records have been skipped."""

    @property
    def problems(self) -> list[tuple[int, str]]:
        """Line and problem of the first bad records that were skipped."""

class LatticeJsonReader:
    """Reads lattices from JSON lines."""

    def __init__(self, file: str, skip_bad: bool = False) -> None: ...

    def feed(self, chunk: bytes) -> list[Lattice | None]:
        """
        The values that are complete with these bytes; None for a bad record that was skipped.
        """

    def finish(self) -> list[Lattice | None]:
        """The values that the end of the file completes."""

    @property
    def skipped(self) -> int:
        """How many bad records have been skipped."""

    @property
    def problems(self) -> list[tuple[int, str]]:
        """Line and problem of the first bad records that were skipped."""

def write_lattice_json(lattice: Lattice) -> str:
    """The lattice as a line of JSON."""

class PlainReader:
    """Reads plain tokenised text."""

    def __init__(self, file: str, skip_bad: bool = False) -> None: ...

    def feed(self, chunk: bytes) -> list[list[str] | None]:
        """
        The values that are complete with these bytes; None for a bad record that was skipped.
        """

    def finish(self) -> list[list[str] | None]:
        """The values that the end of the file completes."""

    @property
    def skipped(self) -> int:
        """How many bad records have been skipped."""

    @property
    def problems(self) -> list[tuple[int, str]]:
        """Line and problem of the first bad records that were skipped."""

def write_plain(sentence: Sequence[str]) -> str:
    """The tokens as a line; refuses what would be read differently."""

class Tokens:
    """
    A sentence in words, each with the characters of the text that it stands for.
    """

    def __init__(self, text: str, words: Sequence[str], spans: Sequence[tuple[int, int]]) -> None: ...

    @property
    def text(self) -> str:
        """The sentence as it was given."""

    @property
    def words(self) -> list[str]:
        """The words, as text has them."""

    @property
    def spans(self) -> list[tuple[int, int]]:
        """The characters of the text that each word stands for, half open."""

    @property
    def line(self) -> str:
        """The words, separated by blanks."""

    def __len__(self) -> int: ...

    def __eq__(self, other: object | None) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

    def __reduce__(self) -> tuple[object, ...]: ...

def split_words(text: str, ends: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], clitics: Sequence[str], elisions: Sequence[str], threads: int = 1) -> list[Tokens]:
    """The words of each line, from ICU's boundaries, which count UTF-16."""

def join_by_rules(sentences: Sequence[Sequence[str]], clitics: Sequence[str], elisions: Sequence[str], spaces: bool, threads: int = 1) -> list[Tokens]:
    """The texts of words, by rules that suit most languages."""

class Segmenter:
    """A tokeniser learnt from text and its words."""

    @staticmethod
    def open(path: str) -> Segmenter:
        """Map a file; one that is damaged is a FormatError."""

    @staticmethod
    def train(text: str, ends: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], lines: Sequence[str]) -> tuple[Segmenter, int]:
        """
        Learn from lines, with ICU's boundaries, and their words, separated by blanks; and how many lines have other characters than their words.
        """

    def write(self, path: str) -> None:
        """Write the file."""

    def segment(self, text: str, ends: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int = 1) -> list[Tokens]:
        """The words of each line, with ICU's boundaries."""

class Spacer:
    """What stands between words, learnt from text."""

    @staticmethod
    def open(path: str) -> Spacer:
        """Map a file; one that is damaged is a FormatError."""

    @staticmethod
    def train(sentences: Sequence[Tokens]) -> Spacer:
        """Learn from sentences."""

    def write(self, path: str) -> None:
        """Write the file."""

    def join(self, sentences: Sequence[Sequence[str]], threads: int = 1) -> list[Tokens]:
        """The texts of words."""

class Caser:
    """The case of words, learnt from text."""

    @staticmethod
    def open(path: str) -> Caser:
        """Map a file; one that is damaged is a FormatError."""

    @staticmethod
    def train(words: Sequence[Sequence[str]], lower: Sequence[Sequence[str]], upper: Sequence[tuple[int, int]]) -> Caser:
        """
        Learn from sentences, the same in lower case, and pairs of lower and upper characters.
        """

    def write(self, path: str) -> None:
        """Write the file."""

    def restore(self, sentences: Sequence[Sequence[str]], threads: int = 1) -> list[list[str]]:
        """Words in lower case, with the case they have in text."""

class SignatureKind(enum.Enum):
    """How unknown words are put into classes."""

    english = 0

    german = 1

    chinese = 2

class ParseStatus(enum.Enum):
    """How a sentence was parsed."""

    parsed = 0
    """With the finest grammar."""

    narrowed = 1
    """With the finest, though the first pass kept only the best states."""

    coarser = 2
    """With a coarser one: the finest has no parse."""

    narrowed_coarser = 3
    """With a coarser one, though the first pass kept only the best states."""

    fewer = 4
    """With some of several grammars: the others have no parse."""

    flat = 5
    """Without a parse: a flat tree over tags."""

    narrowed_flat = 6
    """The same, and the first pass kept only the best states."""

    late = 7
    """The same, because time was up."""

    too_long = 8
    """The same, because it has too many words."""

    too_large = 9
    """The same, because its chart would take too much memory."""

    no_words = 10
    """An empty sentence: no tree."""

class SplitGrammar:
    """A PCFG whose labels are split into sub-states, from coarse to fine."""

    @staticmethod
    def read(levels: Sequence[tuple[tuple[str, bytes], tuple[str, bytes], tuple[str, bytes]]], signature: SignatureKind = SignatureKind.english, steps: bool = False, classes: WordClasses | None = None) -> SplitGrammar:
        """
        From the names and bytes of each level's stateInfo, grammar and lexicon files; steps: unary rules are single ones; classes: of words that the lexicon may lack.
        """

    def texts(self, level: int) -> tuple[bytes, bytes, bytes]:
        """The same three files of one level."""

    @property
    def labels(self) -> list[str]:
        """Labels by number; the first is the root."""

    @property
    def states(self) -> list[list[int]]:
        """Sub-states of each label, for each level."""

    @property
    def words(self) -> int:
        """Words and classes of unknown ones."""

    @property
    def signature(self) -> SignatureKind:
        """How unknown words are put into classes."""

    def lookup(self, word: str, position: int) -> str:
        """
        The word of the lexicon that stands for a word; empty when there is none.
        """

def signatures(kind: SignatureKind, word: str, position: int = 1, known_lower: bool = False) -> list[str]:
    """The classes of an unknown word, from the narrowest on."""

class SplitParser:
    """Parses with a split grammar, from coarse to fine."""

    def __init__(self, grammar: SplitGrammar, finest: int) -> None: ...

    def trees(self, sentences: Sequence[Sequence[str]], options: object, threads: int = 1) -> list[tuple[Tree, ParseStatus, float, list[ParseStatus]]]:
        """
        The best tree of each sentence, how it was found, the sentence's log probability, and an empty list.
        """

    def forests(self, sentences: Sequence[Sequence[str]], options: object, threads: int = 1) -> list[tuple[ParseForest, ParseStatus, float, int, list[ParseStatus]]]:
        """
        The same with forests, and after the log probability how many nodes have more edges than stay.
        """

    def first_pass(self, words: Sequence[str], margin: float, most: int = 0, width: int | None = None) -> tuple[float, list[tuple[int, int, int]]]:
        """
        The best derivation's log probability at level 0, and the states that it keeps: begin, end, state. Of more than `most` states the best; 0: all. For tests; registers have `width` floats.
        """

class ProductParser:
    """Parses with several grammars together: products of their posteriors."""

    def __init__(self, grammars: Sequence[SplitGrammar], finest: Sequence[int]) -> None: ...

    def trees(self, sentences: Sequence[Sequence[str]], options: object, threads: int = 1) -> list[tuple[Tree, ParseStatus, float, list[ParseStatus]]]:
        """
        The best tree of each sentence, how it was found, its mean log probability, and each grammar's status.
        """

    def forests(self, sentences: Sequence[Sequence[str]], options: object, threads: int = 1) -> list[tuple[ParseForest, ParseStatus, float, int, list[ParseStatus]]]:
        """
        The same with forests, and after the log probability how many nodes have more edges than stay.
        """

    def lacking(self) -> list[list[str]]:
        """Of each grammar the labels in trees that it lacks and another has."""

class BracketCounts:
    """Labelled brackets in common: statistics that add up."""

    def __init__(self) -> None: ...

    @property
    def matched(self) -> int:
        """Brackets in both trees."""

    @property
    def gold(self) -> int:
        """Brackets of the gold trees."""

    @property
    def test(self) -> int:
        """Brackets of the trees under test."""

    @property
    def exact(self) -> int:
        """Sentences whose brackets are all the same."""

    @property
    def sentences(self) -> int:
        """Sentences in all."""

    @property
    def right_tags(self) -> int:
        """Words with the gold tag."""

    @property
    def words(self) -> int:
        """Words that count."""

    @property
    def missing(self) -> int:
        """Sentences without a tree: nothing matched."""

    @property
    def precision(self) -> float:
        """Matched brackets among those of the test."""

    @property
    def recall(self) -> float:
        """Matched brackets among the gold ones."""

    @property
    def f1(self) -> float:
        """The harmonic mean of both."""

    def __add__(self, other: BracketCounts) -> BracketCounts: ...

class BracketOptions:
    """Which labels count, and which are taken for others."""

    def __init__(self, left_out: Sequence[str], equal: Sequence[tuple[str, str]]) -> None: ...

def count_brackets(pairs: Sequence[tuple[Tree, Tree]], options: BracketOptions) -> BracketCounts:
    """The brackets in common of gold trees and others, as EVALB counts them."""

def count_oracle(pairs: Sequence[tuple[Tree, ParseForest]], options: BracketOptions) -> BracketCounts:
    """The same for the tree of each forest that has the best F1."""

def clean_tree(tree: Tree) -> Tree:
    """
    The tree without traces, functional tags, indices and unary rules of a label by itself; empty if nothing stays.
    """

class Treebank:
    """Binarised trees, ready for training."""

    def __init__(self, horizontal: int = 0, vertical: int = 1, root: str = 'ROOT') -> None: ...

    def add(self, tree: Tree) -> None:
        """Adds a tree; refuses the empty one and words beside other children."""

    def __len__(self) -> int: ...

    @property
    def unary_cycles(self) -> int:
        """Unary chains that came back to a label and were cut short."""

    @property
    def first_cycle(self) -> str:
        """The labels of the first of them."""

class Trainer:
    """Trains split grammars, a step at a time."""

    def __init__(self, bank: Treebank, signature: SignatureKind, classes: WordClasses | None = None) -> None: ...

    def log_likelihood(self, threads: int = 1) -> float:
        """Of the trees."""

    def em(self, threads: int = 1) -> float:
        """One iteration of EM; the log likelihood before it."""

    def split(self, seed: int, noise: float = 0.01) -> None:
        """Splits every state in two."""

    def merge(self, share: float = 0.5, threads: int = 1) -> int:
        """Undoes the splits that matter least; how many."""

    def smooth(self, grammar: float, lexicon: float) -> None:
        """Smooths towards the mean of a label's states."""

    def finish_level(self, threads: int = 1, least: float = 0.0, lexicon: float = 0.0) -> None:
        """
        Makes the level as it is the grammar's next: rules below `least` become 0, words are smoothed by `lexicon`.
        """

    @property
    def levels(self) -> int:
        """Levels that are finished."""

    @property
    def states(self) -> int:
        """States of all labels at the level at hand."""

    @property
    def grammar(self) -> SplitGrammar:
        """The levels that are finished."""

    @property
    def rules(self) -> list[tuple[str, list[str], bool, float]]:
        """
        Head, children or word, whether it is a word, and probability, of states.
        """

    def state(self) -> bytes:
        """All that further steps depend on."""

    def restore(self, state: bytes) -> None:
        """Goes on from a state of the same treebank."""

class NgramState:
    """
    The last words of a text, as far as they matter to what comes after it.
    """

    def __init__(self) -> None:
        """That of an empty text without <s>."""

    @property
    def words(self) -> list[int]:
        """Their numbers, newest first."""

    def __len__(self) -> int: ...

    def __eq__(self, other: object | None) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

class ChartState:
    """
    A piece of text, as far as it matters to what comes before and after it.
    """

    def __init__(self) -> None:
        """That of an empty text."""

    @property
    def left(self) -> list[int]:
        """The numbers of its first words, whose scores may still change."""

    @property
    def right(self) -> NgramState:
        """The state after it."""

    @property
    def full(self) -> bool:
        """Whether no word after `left` depends on what comes before."""

    def __eq__(self, other: object | None) -> bool: ...

    def __hash__(self) -> int: ...

class NgramLayout(enum.Enum):
    """How a compiled n-gram model lies in memory."""

    fast = 0
    """Hashed, exact."""

    small = 1
    """Hashed, with fingerprints and quantised values."""

class NgramModel:
    """A compiled n-gram model; all scores are log10."""

    @staticmethod
    def open(path: str, how: Opening = Opening.verified) -> NgramModel:
        """Map a compiled file; damage is a FormatError when it is met."""

    def verify(self) -> None:
        """
        Verify all of its file, if it is not verified yet; damage is a FormatError.
        """

    def write(self, path: str) -> None:
        """Write the compiled file."""

    def arpa(self) -> list[bytes]:
        """The model as the pieces of an ARPA file."""

    @property
    def order(self) -> int:
        """The length of its longest n-grams."""

    @property
    def layout(self) -> NgramLayout:
        """How it lies in memory."""

    @property
    def bytes(self) -> int:
        """The size of its compiled file."""

    @property
    def counts(self) -> list[int]:
        """The n-grams given, by order."""

    @property
    def blanks(self) -> list[int]:
        """The n-grams put in because longer ones end in them, by order."""

    @property
    def unknown_added(self) -> bool:
        """Whether <unk> was not given."""

    @property
    def prob_error(self) -> list[float]:
        """How far a stored probability is from the given one at most, by order."""

    @property
    def backoff_error(self) -> list[float]:
        """How far a stored backoff is from the given one at most, by order."""

    @property
    def shadowed(self) -> list[int]:
        """
        The n-grams that another one with the same fingerprint hides, by order.
        """

    @property
    def words(self) -> int:
        """How many words it has."""

    def word(self, id: int) -> str:
        """The word of a number."""

    def id(self, word: str) -> int:
        """
        The number of a word, or of its class; 0, that of <unk>, when it is not known.
        """

    @property
    def classed(self) -> int:
        """How many words its own are classes of; 0: they are words."""

    def encode(self, texts: Sequence[str]) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint64], dict(shape=(None,))]]:
        """
        The numbers of the words of texts, and where each text begins and ends in them.
        """

    @property
    def has_rests(self) -> bool:
        """Whether it has rest costs, without a look at them."""

    @property
    def rests(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', writable=False)]:
        """
        The rest cost of each word: what it is likely to score, whatever stands before it. Empty if it has none.
        """

    def begin_state(self) -> NgramState:
        """The state after <s>."""

    def score_word(self, state: NgramState, word: int) -> tuple[float, int, NgramState]:
        """
        A word's log10 probability, the length of the n-gram found, and the state after it.
        """

    def score_rule(self, parts: Sequence[int | ChartState], begins_sentence: bool = False) -> tuple[float, ChartState]:
        """
        The log10 score of words and pieces from left to right, less what the pieces have, and the state of the whole.
        """

    def score_texts(self, ids: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], begin: bool = True, end: bool = True) -> Annotated[NDArray[numpy.float32], dict(shape=(None,))]:
        """The log10 score of each text."""

    def score_words(self, ids: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], begin: bool = True, end: bool = True) -> tuple[Annotated[NDArray[numpy.float32], dict(shape=(None,))], Annotated[NDArray[numpy.uint8], dict(shape=(None,))]]:
        """
        The log10 score of each word, and the length of the n-gram found for it.
        """

    def score_ngrams(self, rows: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float32], dict(shape=(None,))]:
        """The log10 score of each row's last word after the others."""

def compile_ngrams(estimate: EstimatedNgrams, layout: NgramLayout, classes: WordClasses | None = None) -> NgramModel:
    """A compiled model of what training estimated."""

class ArpaReader:
    """Reads an ARPA file that is fed to it."""

    def __init__(self, file: str, bytes: int = 0, memory: int = 0, folder: str = '') -> None:
        """
        Tables of more than `memory` bytes are in files in `folder`; 0: in memory.
        """

    def feed(self, chunk: bytes) -> None:
        """The next bytes."""

    def finish(self, layout: NgramLayout, classes: WordClasses | None = None) -> NgramModel:
        """The end: the compiled model, in memory."""

    @property
    def spills(self) -> bool:
        """Whether the tables are in files: then write ends the reading."""

    def write(self, path: str, layout: NgramLayout, classes: WordClasses | None = None) -> None:
        """The end: the compiled model, as a file."""

class NgramTrainReport:
    """What training saw and made."""

    @property
    def sentences(self) -> int:
        """Lines of the text."""

    @property
    def tokens(self) -> int:
        """Words of the text."""

    @property
    def types(self) -> int:
        """Different words of the text."""

    @property
    def counted(self) -> list[int]:
        """N-grams of each order before pruning."""

    @property
    def kept(self) -> list[int]:
        """N-grams of each order in the model."""

    @property
    def runs(self) -> int:
        """Sorted runs that went through the disk; 0: all fitted into memory."""

    @property
    def discounts(self) -> list[tuple[float, float, float]]:
        """The discounts of each order for the counts 1, 2, and 3 or more."""

    @property
    def fallbacks(self) -> list[tuple[int, str]]:
        """
        The orders whose discounts could not be estimated, each with the reason.
        """

class EstimatedNgrams:
    """An estimated model in memory, as plain tables."""

    @property
    def order(self) -> int:
        """The highest order."""

    @property
    def vocabulary(self) -> list[str]:
        """The words, by number."""

    def words(self, order: int) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', writable=False)]:
        """The numbers of the words, `order` for each n-gram."""

    def log10_probability(self, order: int) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', writable=False)]:
        """The logarithm of the probability of each n-gram."""

    def log10_backoff(self, order: int) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', writable=False)]:
        """
        The logarithm of the back-off weight of each n-gram; empty in the highest order.
        """

    def write_arpa(self, write: Callable[[bytes], object]) -> None:
        """Call `write` with the bytes of the ARPA file, block by block."""

class WordSink:
    """What learns from the words of a text."""

class WordClasses:
    """Words, each with the number of its class."""

    def __init__(self, words: Sequence[str], classes: Sequence[int]) -> None: ...

    def __len__(self) -> int: ...

class WordClassTrainer(WordSink):
    """Counts bigrams and puts words into classes."""

    def __init__(self, options: object, memory: int = 0, folder: str = '') -> None:
        """
        Bigrams beyond `memory` bytes are in files in `folder`; 0: all are in memory.
        """

    @property
    def tokens(self) -> int:
        """Words so far."""

    def finish(self, progress: Callable[[str, int, int], object] | None) -> tuple[list[str], list[int], list[float], list[int]]:
        """
        The words, the more frequent first, their classes, the log likelihood of the text before the first round and after each, and the words that moved in each; to be called once.
        """

def mix_ngrams(models: Sequence[NgramModel], weights: Sequence[float]) -> EstimatedNgrams:
    """One back-off model that interpolates models linearly."""

def prune_ngrams(model: NgramModel, threshold: float) -> tuple[EstimatedNgrams, list[int]]:
    """
    The model without n-grams that change its perplexity by a smaller share, and its n-grams before, by order.
    """

class NgramTrainer(WordSink):
    """Counts n-grams of sentences and estimates a model from them."""

    def __init__(self, options: object, classes: WordClasses | None = None) -> None: ...

    @property
    def sentences(self) -> int:
        """Sentences so far."""

    @property
    def tokens(self) -> int:
        """Words so far."""

    @property
    def waiting(self) -> int:
        """Words that `take_block` would give."""

    def take_block(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
        """
        The sentences since the last call, in numbers of words, for `sort_ngrams`. All runs must come back.
        """

    def add_run(self, path: str) -> None:
        """Add the sorted run of a block, from a file."""

    def write_arpa(self, name: str, write: Callable[[bytes], object], progress: Callable[[str, int, int], object] | None) -> NgramTrainReport:
        """
        Estimate the model and call `write` with the bytes of the ARPA file, block by block; to be called once.
        """

    def estimate(self, name: str, progress: Callable[[str, int, int], object] | None) -> tuple[EstimatedNgrams, NgramTrainReport]:
        """Estimate the model in memory; to be called once."""

def sort_ngrams(words: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], order: int, write: Callable[[bytes], object]) -> None:
    """
    Count the n-grams of a block that a trainer gave, and call `write` with the bytes of its sorted run.
    """

class TrainingText:
    """A text that a trainer is fed with, in chunks of any size."""

    def __init__(self, file: str, trainer: WordSink) -> None: ...

    def feed(self, chunk: bytes) -> None:
        """More of the text."""

    def finish(self) -> None:
        """The text is at its end."""

class DependencyUnit(enum.Enum):
    """What a dependency language model is over."""

    words = 0

    tags = 1

class DependencyConditioning(enum.Enum):
    """What a dependency language model predicts from."""

    sibling = 0
    """The head and the last sibling."""

    trigram = 1
    """The last two of the head and its children so far."""

class WindowModel:
    """A model over windows: its n-grams and how they were discounted."""

    @property
    def ngrams(self) -> EstimatedNgrams:
        """The model."""

    @property
    def discounts(self) -> list[tuple[float, float, float]]:
        """The discounts of each order for the counts 1, 2, and 3 or more."""

    @property
    def fallbacks(self) -> list[tuple[int, str]]:
        """
        The orders whose discounts could not be estimated, each with the reason.
        """

class DependencyEstimate:
    """A dependency language model: three models over windows."""

    @property
    def left(self) -> WindowModel:
        """Over two units and a left child."""

    @property
    def right(self) -> WindowModel:
        """Over two units and a right child."""

    @property
    def root(self) -> WindowModel:
        """Over roots."""

class DependencyTrainer:
    """Counts the events of dependency trees and estimates a model."""

    def __init__(self, unit: DependencyUnit, fallback: Sequence[float], conditioning: DependencyConditioning) -> None: ...

    @property
    def sentences(self) -> int:
        """Sentences so far."""

    @property
    def events(self) -> tuple[int, int, int]:
        """Left children, right children and roots so far."""

    def add(self, sentences: Sequence[Dependency]) -> None:
        """More sentences."""

    def finish(self) -> DependencyEstimate:
        """Estimate the model; to be called once."""

class DependencySide(enum.Enum):
    """On which side of its head a child is."""

    left = 0

    right = 1

class DependencyState:
    """
    A part of a dependency tree, as far as it matters to what it is put into.
    """

    def __init__(self) -> None:
        """That of an empty part."""

    MAX_ROOTS: Final[int] = ...
    """The most roots that can float."""

    @property
    def roots(self) -> list[int]:
        """The numbers of its roots, in order."""

    @property
    def left(self) -> tuple[int, int]:
        """
        The outermost left child of the first root, and the next one inside: 1 is none, 0 one that does not matter.
        """

    @property
    def right(self) -> tuple[int, int]:
        """The outermost right children of the first root, likewise."""

    @property
    def fixed(self) -> bool:
        """Whether it has one root."""

    @property
    def floating(self) -> bool:
        """Whether it has several roots."""

    def __eq__(self, other: object | None) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

class DependencyTally:
    """What did not fit when a rule was put together."""

    @property
    def ill_heads(self) -> int:
        """Floating pieces in head position."""

    @property
    def overflows(self) -> int:
        """1 if more roots were left than can float."""

    def __eq__(self, other: object | None) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

class DependencyPiece:
    """A part of a dependency tree: the heads of its words, and its roots."""

    @staticmethod
    def word() -> DependencyPiece:
        """That of one word."""

    @property
    def heads(self) -> list[int]:
        """For each word a position in the piece; -1 for its roots."""

    @property
    def roots(self) -> list[int]:
        """The positions of its roots, in order."""

def join_pieces(heads: Sequence[int], items: Sequence[DependencyPiece | None]) -> tuple[DependencyPiece, DependencyTally]:
    """The tree that a rule makes of its items; None is a word."""

def check_rule_heads(heads: Sequence[int]) -> None:
    """
    Refuse what cannot be the heads of a rule's items: cycles, crossing arcs, heads outside the rule.
    """

class DependencyModel:
    """A compiled dependency language model; all scores are log10."""

    @staticmethod
    def open(path: str, verify: bool = True) -> DependencyModel:
        """Map a compiled file; one that is damaged is a FormatError."""

    def write(self, path: str) -> None:
        """Write the compiled file."""

    @property
    def unit(self) -> DependencyUnit:
        """What it is over."""

    @property
    def conditioning(self) -> DependencyConditioning:
        """What a child is predicted from."""

    @property
    def bytes(self) -> int:
        """The size of its compiled file."""

    @property
    def counts(self) -> list[list[int]]:
        """The n-grams of the left, right and root model, by order."""

    @property
    def words(self) -> int:
        """How many words it has."""

    def word(self, id: int) -> str:
        """The word of a number."""

    def id(self, word: str) -> int:
        """The number of a word; 0, that of <unk>, when it is not known."""

    def score_child(self, side: DependencySide, siblings: tuple[int, int], head: int, child: int) -> tuple[float, int]:
        """
        The score of a child after the last sibling and the one before (1: none) and a head, and how many units were found together.
        """

    def score_root(self, root: int) -> float:
        """The score of a root of the sentence."""

    def score_sentences(self, sentences: Sequence[Dependency]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The score of each sentence."""

    def score_words(self, sentences: Sequence[Dependency]) -> tuple[Annotated[NDArray[numpy.float32], dict(shape=(None,))], Annotated[NDArray[numpy.uint8], dict(shape=(None,))], Annotated[NDArray[numpy.uint8], dict(shape=(None,))]]:
        """
        Of the words of all sentences: scores, how much was found, and whether they are unknown.
        """

    def score_rule(self, heads: Sequence[int], parts: Sequence[int | DependencyState]) -> tuple[float, DependencyState, DependencyTally]:
        """
        The score of the arcs that a rule makes, the state of the whole, what did not fit.
        """

    def complete(self, state: DependencyState) -> float:
        """The score of the roots of a part as roots of the sentence."""

    def waiting(self, state: DependencyState) -> float:
        """An estimate of what the roots of a part will score."""

def compile_dependency(unit: DependencyUnit, conditioning: DependencyConditioning, left: EstimatedNgrams, right: EstimatedNgrams, root: EstimatedNgrams) -> DependencyModel:
    """The compiled model of what training estimated."""

class References:
    """The references of a corpus, made ready for BLEU."""

    @property
    def sentences(self) -> int:
        """How many sentences there are."""

    @property
    def width(self) -> int:
        """How many statistics a sentence has."""

    def statistics(self, translations: Sequence[str], sentences: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The statistics of translations of these sentences, row by row."""

class Metric:
    """Statistics of a sentence that add up, and the score of their sum."""

    @property
    def width(self) -> int:
        """How many statistics a sentence has."""

    @property
    def higher_is_better(self) -> bool:
        """Whether a better translation has a higher score."""

    def scores(self, rows: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The score of every row of statistics."""

    def score_of_part(self, part: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], whole: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float:
        """The score of a part of a corpus, of lengths taken from the whole."""

class BleuMetric(Metric):
    """BLEU."""

    def __init__(self, options: object) -> None: ...

    def prepare(self, references: Sequence[Sequence[str]]) -> References:
        """One list of lines for each reference translation."""

class ChrfMetric(Metric):
    """chrF and chrF++."""

    def __init__(self, options: object) -> None: ...

class TerMetric(Metric):
    """TER."""

    def __init__(self) -> None: ...

class SignTest:
    """What the sign test found."""

    @property
    def better(self) -> int:
        """Sentences whose new translation makes the baseline's score better."""

    @property
    def worse(self) -> int:
        """Sentences that make it worse."""

    @property
    def equal(self) -> int:
        """Sentences that leave it as it is."""

    @property
    def p(self) -> float:
        """How likely so uneven a result is by chance, two-sided."""

def sign_test(metric: Metric, baseline: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], system: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> SignTest:
    """The sign test of Collins et al. (2005) on rows of statistics."""

def paired_bootstrap(metric: Metric, baseline: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], system: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], samples: int, seed: int) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
    """Both systems' scores on corpora drawn anew."""

def fit_lengths(paragraphs: Sequence[tuple[Sequence[float], Sequence[float]]]) -> tuple[float, float, float]:
    """
    What lengths translations have: their ratio, variance, and the mean of target sentences.
    """

def align_sentences(lengths: Sequence[tuple[Sequence[float], Sequence[float]]], paragraphs: Sequence[tuple[Sequence[Sequence[str]], Sequence[Sequence[str]]]], model: tuple[float, float, float], aligner: Aligner | None, threads: int) -> list[list[tuple[int, int, int, int, float]]]:
    """
    The beads of each paragraph: sentences from and to on both sides, and the posterior. Words need an aligner.
    """

class SentencePairs:
    """Sentence pairs to train an aligner with."""

    def __init__(self, longest: int) -> None: ...

    def __len__(self) -> int: ...

    def has(self, source: str, target: str) -> bool:
        """Whether both words occur."""

    @property
    def empty(self) -> int:
        """How many pairs have an empty side."""

    @property
    def long(self) -> int:
        """How many have a side that is too long."""

    def extend(self, pairs: Sequence[tuple[Sequence[str], Sequence[str]]]) -> None:
        """More pairs, in order."""

class Aligner:
    """Trained models of both directions."""

    @staticmethod
    def open(path: str) -> Aligner:
        """From a file."""

    def save(self, path: str) -> None:
        """Into a file."""

    def align(self, pairs: Sequence[tuple[Sequence[str], Sequence[str]]], method: Symmetrization, threads: int) -> list[Alignment]:
        """The links of each pair."""

    def agreed(self, pairs: Sequence[tuple[Sequence[str], Sequence[str]]], agreement: float, threads: int) -> list[Alignment]:
        """The links on whose posteriors both directions agree."""

    def directions(self, pairs: Sequence[tuple[Sequence[str], Sequence[str]]], threads: int) -> list[tuple[Alignment, Alignment]]:
        """The links of each pair in both directions."""

    def scores(self, pairs: Sequence[tuple[Sequence[str], Sequence[str]]], threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """How well each pair's sides predict each other, in nats a word."""

    def mended(self, pairs: Sequence[tuple[Sequence[str], Sequence[str]]], links: Sequence[Alignment], source_parses: Sequence[Tree | ParseForest], target_parses: Sequence[Tree | ParseForest], cost: float, threads: int) -> list[Alignment]:
        """The links of each pair without doubtful ones that break constituents."""

    def known(self, words: Sequence[str]) -> tuple[int, int]:
        """How many of the words are known as source words, and as target words."""

    def evidence(self, source: Sequence[str], target: Sequence[str]) -> float:
        """
        How much more probable a pair's sides are together than apart, in nats.
        """

    def posteriors(self, source: Sequence[str], target: Sequence[str], rounds: int = 0) -> tuple[Annotated[NDArray[numpy.float32], dict(shape=(None, None))], Annotated[NDArray[numpy.float32], dict(shape=(None, None))]]:
        """
        The posteriors of links in both directions, source words by target words.
        """

    def likely(self, pairs: Sequence[tuple[Sequence[str], Sequence[str]]], least: float, threads: int) -> list[list[tuple[int, int, float, float]]]:
        """The links of each pair with a posterior of at least so much."""

    def factors(self, source: Sequence[str], target: Sequence[str], backwards: bool) -> tuple[Annotated[NDArray[numpy.float32], dict(shape=(None, None))], Annotated[NDArray[numpy.float32], dict(shape=(None,))], Annotated[NDArray[numpy.float32], dict(shape=(None, None))], Annotated[NDArray[numpy.float32], dict(shape=(None,))]]:
        """
        What a pair's posteriors are made of: links by word and given word, words without link, growth of fertilities, jumps.
        """

    def new_pairs(self, longest: int) -> SentencePairs:
        """An empty corpus to update this aligner with."""

    @property
    def source_words(self) -> int:
        """How many source words it knows."""

    @property
    def target_words(self) -> int:
        """How many target words it knows."""

    @property
    def level(self) -> int:
        """1: words alone, 2: word order too, 3: fertility too."""

    @property
    def can_be_updated(self) -> bool:
        """Whether it was trained by sampling."""

    def lexicon(self, first: int, most: int) -> list[tuple[str, str, float, float]]:
        """
        The word pairs of so many source words: source, target, p(target | source), p(source | target).
        """

def constituents(forest: ParseForest) -> list[tuple[int, int, float]]:
    """
    The spans of a forest's constituents of several words, and how probable each is.
    """

def cognate_similarity(source: str, target: str) -> float:
    """How alike two words are, from 0 to 1."""

def sampler_rounds(pairs: int) -> int:
    """The rounds that a sampler makes over so many pairs."""

def train_sampler(pairs: SentencePairs, before: Aligner | None, lexicon: Sequence[tuple[str, str, float]], options: object, threads: int, folder: str, watch: Callable[[int, int], object]) -> Aligner:
    """Train by Gibbs sampling, or update an aligner."""

def train_hmm(pairs: SentencePairs, options: object, threads: int, watch: Callable[[int, int], object]) -> Aligner:
    """Train by expectation maximisation."""

class RuleTable:
    """A compiled rule table: rules, and a trie over their source sides."""

    @staticmethod
    def open(path: str, how: Opening = Opening.verified) -> RuleTable:
        """Maps a file; damage is a FormatError when it is met."""

    def verify(self) -> None:
        """
        Verifies all of its file, if it is not verified yet; damage is a FormatError.
        """

    def write(self, path: str) -> None:
        """Writes the table aside, then renames it to `path`."""

    @property
    def file_size(self) -> int:
        """In bytes."""

    def __len__(self) -> int: ...

    @property
    def own_rules(self) -> int:
        """How many rules its file has; those of corrections follow."""

    def knows_source_word(self, text: str) -> bool:
        """Whether rules of its file have a source word."""

    def knows_label(self, text: str) -> bool:
        """Whether rules of its file have a label."""

    def corrected(self, file: str, corrections: Sequence[tuple[int, str, str, str, str | None, str, str, str, Sequence[tuple[str, float]]]]) -> tuple[RuleTable, list[int]]:
        """
        The table under corrections in place of those that it has: line, action, left-hand side, sides, alignment, labels, structure and features of each. Gives how many rules each added, forbade or changed, too.
        """

    def origin(self, rule: int) -> tuple[int | None, int | None]:
        """
        The rule of the file that a rule is or was made of, and the number of the correction that made it.
        """

    @property
    def source_words(self) -> list[str]:
        """By number."""

    @property
    def target_words(self) -> list[str]:
        """By number."""

    @property
    def labels(self) -> list[str]:
        """Nonterminals, by number."""

    @property
    def features(self) -> list[str]:
        """Names, in order."""

    @property
    def dense_features(self) -> int:
        """How many of the features every rule has."""

    def rule(self, rule: int) -> tuple[int, list[int], list[int], list[float], list[tuple[int, int]]]:
        """
        Left-hand side, source symbols, target symbols, feature values and links of one rule.
        """

    def sparse_features(self, rule: int) -> list[tuple[int, float]]:
        """
        The features that a rule has beyond the dense ones: numbers and values.
        """

    def notes(self, rule: int) -> tuple[list[int], list[int]]:
        """The labels and the structure of one rule."""

class Provenance:
    """The sentence pairs that the rules of a table come from."""

    @staticmethod
    def open(path: str) -> Provenance:
        """Maps a file."""

    @property
    def rules(self) -> int:
        """Of the table that it was written for."""

    @property
    def file_size(self) -> int:
        """In bytes."""

    def __len__(self) -> int: ...

    def pair(self, pair: int) -> tuple[list[str], list[str], list[tuple[int, int]]]:
        """The words of both sides, and the links between them."""

    def pairs_of(self, rule: int, most: int) -> tuple[int, list[int]]:
        """How many pairs a rule comes from, and the first `most` of them."""

    def mark(self, table: RuleTable, rule: int, pair: int) -> tuple[list[int], list[int]] | None:
        """
        The places of the words that a rule itself took from a pair, on both sides.
        """

    def find(self, source: Sequence[str], target: Sequence[str], most: int) -> tuple[int, list[tuple[int, int, int]]]:
        """
        The pairs that have these words in a row on their source and target sides: how many, and the first `most`, each with the places where the words begin.
        """

def escaped_word(word: str) -> str:
    """A word as a side of a rule has it."""

def find_rules(table: RuleTable, source: str, target: str) -> list[int]:
    """The rules of a table with these sides, as text."""

class LeastProbabilities:
    """The least that a table gives to rules, by their sides."""

    def __init__(self, table: RuleTable, target_given_source: int | None, source_given_target: int | None, rule_given_root: int | None) -> None:
        """Reads all rules of a table; the features are dense ones, by number."""

    def find(self, rules: RuleTable) -> list[tuple[int | None, float, float, float]]:
        """
        For each rule of another table: the same rule, and the least logarithms of the features given its source side, target side and root; infinity where no rule has it.
        """

    @property
    def lone_given_source(self) -> float:
        """Median of sides with one rule."""

    @property
    def lone_given_target(self) -> float:
        """Median of sides with one rule."""

class SourceFilter:
    """Which source sides of rules can meet a sentence of a test set."""

    def __init__(self, strings: bool) -> None:
        """With `strings`, words side by side in a rule are so in the sentence."""

    def add(self, sentence: Sequence[str]) -> None:
        """One more sentence."""

    def keeps(self, offsets: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], bytes: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]:
        """For each source side, as text, whether it can meet a sentence."""

class TableFacts:
    """What parts of a table must know of the whole: names and numbers."""

    def __init__(self, names: Sequence[Sequence[str]], rules: int, values: Sequence[int], uses: Sequence[int], begun: Sequence[int], weights: Sequence[int]) -> None:
        """
        Names of source words, target words, labels and features, the number of rules, values of lists, uses of features, symbols that source sides begin with, and their weights.
        """

    @property
    def rules(self) -> int:
        """How many rules there are."""

    def __getstate__(self) -> tuple[tuple[bytes, bytes], tuple[bytes, bytes], tuple[bytes, bytes], tuple[bytes, bytes], int, bytes, bytes, bytes, bytes]: ...

    def __setstate__(self, arg: tuple[tuple[bytes, bytes], tuple[bytes, bytes], tuple[bytes, bytes], tuple[bytes, bytes], int, bytes, bytes, bytes, bytes], /) -> None: ...

class RuleTableBuilder:
    """Rules in any order in, a RuleTable out."""

    def __init__(self, features: Sequence[str], memory: int = 0, folder: str = '') -> None: ...

    def source_word(self, text: str) -> int:
        """The number of a source word."""

    def target_word(self, text: str) -> int:
        """The number of a target word."""

    def label(self, text: str) -> int:
        """The number of a nonterminal."""

    def add(self, lhs: int, source: Sequence[int], target: Sequence[int], features: Sequence[float], alignment: Sequence[tuple[int, int]], labels: Sequence[int] = [], structure: Sequence[int] = []) -> None:
        """
        Adds a rule; a nonterminal of the source side is its label with the top bit set, variable k of the target side is -1 - k.
        """

    def limit_scope(self, most: int) -> None:
        """
        Leaves out rows added from now on whose source sides have a greater scope.
        """

    @property
    def left_out_by_scope(self) -> int:
        """How many rows that was."""

    @property
    def left_out_by_structure(self) -> int:
        """Rows left out since their structures have cycles or arcs that cross."""

    def expand(self, shapes: bool, source_words: Sequence[str], target_words: Sequence[str], unlinked: tuple[Sequence[str], Sequence[str]] | None = None) -> None:
        """
        Gives rows added from now on features for their shapes, and for the pairs of these words that they link; with `unlinked`, words of both sides, also for words without a link.
        """

    def add_rows(self, file: str, first_row: int, text: Sequence[tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)]]], dense: Sequence[Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]], indicators: Sequence[tuple[str, tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)]]]]) -> int:
        """
        Adds rows of a rule table: lhs, source, target, alignment, labels and structure as (offsets, bytes), a column for each dense feature, and columns of values that become features. Gives how many were too long and left out.
        """

    def know_codes(self, source_words: Sequence[str], target_words: Sequence[str], labels: Sequence[str]) -> None:
        """Says what the numbers in rows of codes mean."""

    def add_coded_rows(self, file: str, first_row: int, codes: Sequence[tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)]]], dense: Sequence[Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]], indicators: Sequence[tuple[str, tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)]]]]) -> int:
        """
        Adds rows as add_rows does, but source, target, alignment and labels are codes.
        """

    def finish(self) -> RuleTable:
        """The table; the builder is empty afterwards."""

    def write(self, path: str) -> tuple[int, int, int]:
        """
        Writes the table to a file; the builder is empty afterwards. Gives the rules, the bytes of the file, and the bytes that went through the disk because they exceeded `memory`.
        """

    def survey(self) -> None:
        """Counts rows added from now on, and does not keep them."""

    def facts(self) -> TableFacts:
        """What it knows of all rows."""

    def add_facts(self, facts: TableFacts) -> None:
        """Adds what a survey of further rows found."""

    def know_names(self, facts: TableFacts) -> None:
        """Numbers names as a survey of all rows does."""

    def split(self, parts: int) -> list[int]:
        """
        The symbols that each of so many parts but the first begins with; fewer if there are few symbols.
        """

    def write_run(self, path: str, begins: Sequence[int]) -> list[int]:
        """
        Writes all rules to a file, sorted, for add_run. Gives the places where the pieces of parts begin, and the end.
        """

    def add_run(self, path: str, begin: int, end: int) -> None:
        """Adds the rules of a piece of a run."""

    def write_part(self, path: str) -> int:
        """
        Writes the part of a table to a file; the builder is empty afterwards. Gives the bytes of the file.
        """

    def join_parts(self, parts: Sequence[str], path: str) -> tuple[int, int, int]:
        """Writes the table of all parts to a file, as `write` does."""

class Bitext:
    """Aligned sentence pairs, as extractors read them."""

    def __len__(self) -> int: ...

    united_parts: Final[int] = ...
    """The parts of an occurrence with several alignments."""

    @property
    def occurrence_parts(self) -> int:
        """
        Rules' occurrences are counted in such parts: 1, or more with several alignments.
        """

    @property
    def source_words(self) -> list[str]:
        """By number: the most frequent first."""

    @property
    def target_words(self) -> list[str]:
        """By number: the most frequent first."""

class BitextBuilder:
    """Collects aligned sentence pairs."""

    @overload
    def __init__(self) -> None: ...

    @overload
    def __init__(self, source_words: Sequence[str], target_words: Sequence[str]) -> None:
        """Numbers words as these lists do, and refuses others."""

    def __len__(self) -> int: ...

    def append(self, source: Sequence[str], target: Sequence[str], alignment: Alignment, weights: Sequence[float] = [], share: tuple[float, float] | None = None) -> None:
        """
        Adds a pair; refuses a link outside it. `weights` has one for each link, or none. A pair with several alignments is added once for each. `share` then has the sum of the weights before this one, and with it.
        """

    def finish(self) -> Bitext:
        """The bitext; the builder is empty afterwards."""

class LexicalTable:
    """Word translation probabilities from the links of a bitext."""

    @overload
    def __init__(self, bitext: Bitext) -> None: ...

    @overload
    def __init__(self, source: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], target: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], target_given_source: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], source_given_target: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """From what `entries` gives."""

    def entries(self) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.float32], dict(shape=(None,))], Annotated[NDArray[numpy.float32], dict(shape=(None,))]]:
        """
        Source words, target words (2^32 - 1 is NULL), w(target|source), w(source|target).
        """

class Vocabulary:
    """The words of a corpus, and their translation probabilities."""

    @property
    def source_words(self) -> list[str]:
        """By number: the most frequent first."""

    @property
    def target_words(self) -> list[str]:
        """By number: the most frequent first."""

    @property
    def lexical(self) -> LexicalTable: ...

class VocabularyBuilder:
    """Counts words and links pair by pair, and keeps no pairs."""

    def __init__(self) -> None: ...

    def append(self, source: Sequence[str], target: Sequence[str], alignment: Alignment, share: tuple[float, float] | None = None) -> None:
        """
        Adds a pair; refuses a link outside it. `share` is as in `BitextBuilder.append`.
        """

    def finish(self) -> Vocabulary:
        """
        The vocabulary, as a bitext of all pairs has it; the builder is empty afterwards.
        """

class Tally:
    """Rules taken from sentence pairs, added up."""

    def __init__(self) -> None: ...

    def __len__(self) -> int: ...

    @property
    def bytes(self) -> int:
        """Memory in use."""

    partitions: Final[int] = ...
    """Rules are kept in so many parts, by their source sides."""

    def clear(self) -> None:
        """Forgets everything."""

    def columns(self, first: int, last: int, lexical: LexicalTable, merged: bool) -> tuple[tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int8], dict(shape=(None,))]], tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int8], dict(shape=(None,))]], tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int8], dict(shape=(None,))]], tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int8], dict(shape=(None,))]], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint8], dict(shape=(None,))], Annotated[NDArray[numpy.float32], dict(shape=(None,))], Annotated[NDArray[numpy.float32], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))]]:
        """
        The rules of some partitions: source, target, alignment and labels (offsets, bytes), count, occurrences, left-hand side, variables, p_lex(target|source), p_lex(source|target), and the first row with the same source side. A row for each rule if `merged`, else for each of its alignments.
        """

def add_up_counts(parts: Sequence[tuple[tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)]], tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)]], tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)]], tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)]], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]]], occurrence_parts: int = 1) -> tuple[tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int8], dict(shape=(None,))]], tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int8], dict(shape=(None,))]], tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int8], dict(shape=(None,))]], tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int8], dict(shape=(None,))]], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint8], dict(shape=(None,))], Annotated[NDArray[numpy.float32], dict(shape=(None,))], Annotated[NDArray[numpy.float32], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))]]:
    """
    The columns of one merged tally from those of several that are not merged, for one partition. The parts come in the order of their pairs, without the first rows with the same source sides.
    """

class Renderer:
    """Turns rules' codes into text."""

    def __init__(self, source_words: Sequence[str], target_words: Sequence[str], labels: Sequence[str]) -> None: ...

    def source(self, offsets: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], bytes: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int8], dict(shape=(None,))]], tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int8], dict(shape=(None,))]]]:
        """Left-hand sides and source sides."""

    def target(self, source_offsets: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], source_bytes: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], bytes: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int8], dict(shape=(None,))]], tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int8], dict(shape=(None,))]]]:
        """Target sides of rules with these source sides, and their structures."""

    def labels(self, offsets: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], bytes: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int8], dict(shape=(None,))]]:
        """Labels of rules and their variables."""

    @staticmethod
    def alignment(offsets: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], bytes: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int8], dict(shape=(None,))]]:
        """Alignments, as 0-0 1-2."""

class RuleScores:
    """Probabilities of counted rules. All rows are read twice."""

    def __init__(self, *, factors: Sequence[float], discounts: Sequence[float], rules: float, least: int, least_gappy: int, targets_per_source: int, roots: bool, apart: bool) -> None:
        """
        By `factors`, counts of one occurrence, two, … are multiplied; or `discounts` are taken from them, the last from all that follow, where there are so many `rules`. Rules need so many occurrences, with and without variables. With `roots`, left-hand sides differ; with `apart`, targets of phrases are counted separately.
        """

    def add(self, targets: tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)]], counts: tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]]) -> None:
        """
        Adds rows: target sides, and the first row with the same source side, count, occurrences, left-hand side and variables.
        """

    def bytes_to_add(self, targets: tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)]], counts: tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]]) -> int:
        """The most memory in use while these rows are added."""

    @property
    def bytes(self) -> int:
        """Memory in use."""

    @property
    def waiting(self) -> int:
        """Rows that were added and not scored."""

    def finish(self) -> None:
        """All rows were added."""

    def score(self, counts: tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.float32], dict(shape=(None,))], Annotated[NDArray[numpy.float32], dict(shape=(None,))], Annotated[NDArray[numpy.float32], dict(shape=(None,))]]:
        """
        Scores rows, which come in the same order, all of a source side at once. Gives the places of those that are kept, and p(target|source), p(source|target) and p(rule|left-hand side), the last with `roots` alone.
        """

class DependencyBank:
    """The dependency trees of one side of a bitext."""

    def __init__(self) -> None: ...

    def __len__(self) -> int: ...

    def append(self, dependency: Dependency) -> None:
        """Adds the next sentence's tree; one without words is none."""

class ForestBank:
    """The forests of one side of a bitext, pruned."""

    def __init__(self, margin: float) -> None: ...

    def __len__(self) -> int: ...

    def append(self, forests: Sequence[ParseForest | None], threads: int) -> None:
        """Adds the forests of the next sentences; None is a failed parse."""

def annotate(tree: Dependency, target_length: int, alignment: Alignment) -> list[tuple[tuple[int, int], bool, tuple[int, int], bool]]:
    """
    For each word of a projective tree: its head span, whether that is consistent, its dependency span, and whether its head-dependents relation is acceptable.
    """

class Extractor:
    """Takes rules from the pairs of a bitext, and counts what it sees."""

    @property
    def bitext(self) -> Bitext: ...

    def extract(self, begin: int, tally: Tally, memory: int, threads: int) -> int:
        """
        Adds the rules of the pairs from `begin` on to the tally until it has grown over `memory` bytes; gives the first pair that was not read.
        """

    def find_keys(self, begin: int, threads: int) -> None:
        """Numbers the labels of the pairs from `begin` on, and takes no rules."""

    @property
    def keys(self) -> list[bytes]:
        """Of the labels that are numbered as pairs come."""

    def number_keys(self, keys: Sequence[bytes]) -> None:
        """Numbers these labels first, as another extractor's `keys` has them."""

    def write_provenance(self, table: RuleTable, path: str, threads: int) -> None:
        """
        Reads all pairs again and writes which of them the rules of a table come from.
        """

    @property
    def counts(self) -> dict[str, int]:
        """What was seen in all pairs so far."""

    @property
    def labels(self) -> list[str]:
        """The labels given so far, by number; X first."""

class PhraseLabels:
    """Which phrases may be used, and under which labels."""

class TargetStructures(PhraseLabels):
    """Dependency structures of the target sides of phrases."""

    def __init__(self, bitext: Bitext, trees: DependencyBank, strict: bool, ill_formed: bool = False) -> None: ...

class FuzzyLabels(PhraseLabels):
    """Labels of phrases from trees on both sides."""

    def __init__(self, bitext: Bitext, source_trees: TreeBatch, target_trees: TreeBatch, source_punctuation: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], target_punctuation: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], nesting: bool, hard: bool) -> None: ...

class HieroExtractor(Extractor):
    """Takes hierarchical phrases."""

    def __init__(self, bitext: Bitext, options: object, labels: PhraseLabels | None = None) -> None: ...

class TreePairExtractor(Extractor):
    """Takes rules from pairs of trees."""

    def __init__(self, bitext: Bitext, source_trees: TreeBatch, target_trees: TreeBatch, options: object) -> None: ...

class HeadDependentsExtractor(Extractor):
    """Takes rules from head-dependents relations, and phrases."""

    def __init__(self, bitext: Bitext, trees: Sequence[Dependency], options: object) -> None:
        """Refuses a tree that does not fit its source sentence or has no tags."""

class GhkmExtractor(Extractor):
    """Takes rules from forests and their translations."""

    def __init__(self, bitext: Bitext, forests: ForestBank, dependencies: DependencyBank | None, options: object, phrases: Sequence[Dependency] = ()) -> None:
        """
        `phrases` are dependency trees, with tags, of target phrases that were parsed on their own.
        """

class PhraseKindCounter(Extractor):
    """Counts phrase pairs that are constituents, and takes no rules."""

    def __init__(self, bitext: Bitext, source_trees: TreeBatch, target_trees: TreeBatch, max_phrase: int) -> None: ...

class PairIndex:
    """Aligned sentence pairs with suffix arrays, to find rules in."""

    @staticmethod
    def build(bitext: Bitext, options: object) -> PairIndex:
        """The index of pairs; `options` are those of the extractor hiero."""

    @staticmethod
    def open(path: str, verify: bool = True) -> PairIndex:
        """
        Maps a file; a damaged one is a FormatError. Without `verify` its bytes are trusted.
        """

    def write(self, path: str) -> None:
        """Writes it to a file."""

    def __len__(self) -> int: ...

    @property
    def file_size(self) -> int:
        """Bytes of its file."""

    def append_to(self, builder: BitextBuilder) -> None:
        """Adds its pairs to a builder."""

class RulesOnDemand:
    """Rules that are found in indexes and scored when a sentence arrives."""

    def __init__(self, indexes: Sequence[PairIndex], features: Sequence[str], options: object, scoring: object) -> None:
        """
        `indexes` hold pairs one after the other; `features` are columns of a rule table.
        """

    columns: Final[list[str]] = ...
    """The columns of a rule table that rules on demand have."""

    @property
    def pairs(self) -> int:
        """Sentence pairs."""

    @property
    def table(self) -> RuleTable:
        """A table without rules: the words, the label and the features."""

    def rules_for(self, words: Sequence[str], span_limit: int) -> RuleTable:
        """
        The rules that can meet a sentence on at most so many words, numbered as those of `table`.
        """

class JointModel:
    """A neural joint model; all scores are natural logs."""

    @staticmethod
    def open(path: str, how: Opening = Opening.verified) -> JointModel:
        """Map a model's file; damage is a FormatError when it is met."""

    def verify(self) -> None:
        """
        Verify all of its file, if it is not verified yet; damage is a FormatError.
        """

    @staticmethod
    def make(facts: dict[str, int], source_words: Sequence[str], target_words: Sequence[str], source_embeddings: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], source_weights: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], tables: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], bias: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], second_weights: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], second_bias: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], output: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], output_bias: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], share: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> JointModel:
        """A model of these parts."""

    def write(self, path: str) -> None:
        """Write the model's file."""

    @property
    def facts(self) -> dict[str, int]:
        """Its dimensions, by name."""

    @property
    def bytes(self) -> int:
        """The size of its file."""

    def source_ids(self, words: Sequence[str]) -> list[int]:
        """The numbers of source words."""

    def target_ids(self, words: Sequence[str]) -> list[int]:
        """The numbers of target words."""

    def source_words(self) -> list[str]:
        """The words of its source vocabulary."""

    def target_words(self) -> list[str]:
        """The words of its target vocabulary."""

    def values(self, section: str) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', writable=False)]:
        """The numbers of a section."""

    def score(self, source: Sequence[str], target: Sequence[str], links: Alignment, normalise: bool = False, parse: Tree | ParseForest | Dependency | None = None, tree: Dependency | None = None) -> tuple[Annotated[NDArray[numpy.float32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """
        The log probability of each target word and of the sentence's end, and the logs of the sums over all words at each. A lexical model has one for each source word: that of its translation. Normalised probabilities are exact; others trust the model's self-normalisation and have no sums. A model that sees parses needs that of the source. A model over heads needs the dependency tree of the target, and scores no end.
        """

def parse_context(parse: Tree | ParseForest | Dependency) -> list[str]:
    """
    What a joint model sees of a source parse: four texts for each word (docs/neural.md).
    """

def affiliations(links: Alignment, target_words: int, none: int) -> list[int]:
    """For each target word the position of its affiliated source word."""

class Mark:
    """Translations that are given for a span of source words."""

    def __init__(self, span: tuple[int, int], translations: Sequence[str], required: bool = True, bonus: float = 0.0, entry: int = -1) -> None: ...

    @property
    def span(self) -> tuple[int, int]:
        """Source words, half open."""

    @property
    def translations(self) -> tuple[str, ...]:
        """Words that blanks part."""

    @property
    def required(self) -> bool:
        """Whether nothing else may translate its words."""

    @property
    def bonus(self) -> float:
        """What using a translation that is not required adds to the score."""

    @property
    def entry(self) -> int:
        """The number of the glossary's entry; -1: none."""

    def __reduce__(self) -> tuple[object, ...]: ...

class Terms:
    """What is asked of the translation of one sentence."""

    def __init__(self, marks: Sequence[Mark] = [], forbidden: Sequence[str] = []) -> None: ...

    @property
    def marks(self) -> tuple[Mark, ...]:
        """Spans with given translations."""

    @property
    def forbidden(self) -> tuple[str, ...]:
        """Phrases that must not appear, words that blanks part."""

def read_sentence(line: str, markup: bool) -> tuple[list[str], list[Mark]]:
    """
    The words of a line, and the translations that its markup gives; ValueError if refused.
    """

class PhraseFinder:
    """Finds phrases in sentences."""

    def __init__(self) -> None: ...

    def add(self, words: Sequence[str], phrase: int) -> None:
        """Adds a phrase under a number; several may have the same."""

    def find(self, sentences: Sequence[Sequence[str]]) -> list[list[tuple[int, int, int]]]:
        """By sentence: the begin, the end and the number of each phrase in it."""

class Step:
    """One use of a rule in a derivation."""

    def __init__(self, label: str, source: str, target: str, span: tuple[int, int], children: int, local: bool, parse_edges: Sequence[int] = [], structure: Sequence[int] = [], links: Sequence[tuple[int, int]] = [], rule: int | None = None, grammar: str = '', values: Sequence[float] = []) -> None: ...

    @property
    def label(self) -> str:
        """The left-hand side."""

    @property
    def source(self) -> str:
        """The source side; nonterminals are printed as [X,1]."""

    @property
    def target(self) -> str:
        """The target side."""

    @property
    def span(self) -> tuple[int, int]:
        """The source words covered, half open."""

    @property
    def children(self) -> int:
        """How many of the steps that follow are directly below it."""

    @property
    def local(self) -> bool:
        """Whether the rule is not the table's: glue, an unknown word."""

    @property
    def parse_edges(self) -> tuple[int, ...]:
        """The edges of the input's forest that its fragment took."""

    @property
    def structure(self) -> tuple[int, ...]:
        """
        Of the target side's symbols, if the model makes trees: 0 for a root, k + 1 for one on symbol k.
        """

    @property
    def links(self) -> tuple[tuple[int, int], ...]:
        """
        Its word alignment: a source word, and the place of its translation among the words that the rule gives.
        """

    @property
    def rule(self) -> int | None:
        """
        Its number in the rule table; None if it is local or was found on demand.
        """

    @property
    def grammar(self) -> str:
        """The part of a joint model that it comes from; empty for other models."""

    @property
    def values(self) -> tuple[float, ...]:
        """
        The values of the table's features, if the rule was found on demand; otherwise empty.
        """

    def __eq__(self, other: object | None) -> bool: ...

    def __hash__(self) -> int: ...

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

    def __reduce__(self) -> tuple[object, ...]: ...

class Derivation:
    """
    The rules that gave a translation, in preorder: a step is followed by those below it.
    """

    def __init__(self, steps: Sequence[Step] = []) -> None: ...

    @property
    def steps(self) -> tuple[Step, ...]:
        """In preorder."""

    def depths(self) -> list[int]:
        """How deep each step stands."""

    def parse_edges(self) -> list[int]:
        """
        The edges of the input's forest that the rules took; its tree_with() makes a tree of them.
        """

    def __eq__(self, other: object | None) -> bool: ...

    def __hash__(self) -> int: ...

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

    def __reduce__(self) -> tuple[object, ...]: ...

class Hypothesis:
    """A translation with its score, features and derivation."""

    def __init__(self, text: str, score: float, features: dict[str, float], derivation: Derivation, dependency: Dependency | None = None, given_by: Sequence[int] = [], affiliations: Sequence[int] = [], links: Sequence[tuple[int, int]] = [], path: Sequence[int] = []) -> None: ...

    @property
    def text(self) -> str:
        """The words, separated by blanks."""

    @property
    def score(self) -> float:
        """The model's score (natural log)."""

    @property
    def features(self) -> dict[str, float]:
        """The features that are not 0, by name."""

    @property
    def derivation(self) -> Derivation:
        """The rules used."""

    @property
    def dependency(self) -> Dependency | None:
        """The dependency tree of the text, if the model makes one."""

    @property
    def given_by(self) -> tuple[int, ...]:
        """Of each word, the step of the derivation whose rule it comes from."""

    @property
    def affiliations(self) -> tuple[int, ...]:
        """
        Of each word, the source word that it is affiliated with; empty if no feature asks for it.
        """

    @property
    def links(self) -> tuple[tuple[int, int], ...]:
        """
        Pairs of a source word and a word that rules link; empty if no feature asks for it.
        """

    @property
    def path(self) -> tuple[int, ...]:
        """
        The arcs of the input's lattice that it took, by number; its steps count the words of this path.
        """

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

    def __reduce__(self) -> tuple[object, ...]: ...

class Translation:
    """What a decoder found for one sentence."""

    @overload
    def __init__(self, given: object, words: Sequence[str], hypotheses: Sequence[Hypothesis], problem: str = '', notes: Sequence[str] = [], tree: Dependency | None = None, seconds: float = 0.0, marks: Sequence[Mark] = [], asked: Terms = ...) -> None: ...

    @overload
    def __init__(self, found: Translation) -> None: ...

    @property
    def given(self) -> str | list[str] | ParseForest | Dependency | Lattice | LatticeForest:
        """
        What was translated: a line, tokens, a forest, a dependency tree or a lattice.
        """

    @property
    def words(self) -> list[str]:
        """
        The words that spans count: of a line, what is left without markup; of a lattice, those of the best path; none of a line that was refused.
        """

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """
        What the search was asked for, best first; nothing for an empty or refused line.
        """

    @property
    def problem(self) -> str:
        """Why the line was refused, or nothing."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be counted and reported: limits that were hit."""

    @property
    def tree(self) -> Dependency | None:
        """
        What a model of dependency trees met: the input's, repaired, or made of a parse.
        """

    @property
    def seconds(self) -> float:
        """CPU time."""

    @property
    def marks(self) -> tuple[Mark, ...]:
        """The spans with given translations, whether or not these were used."""

    @property
    def asked(self) -> Terms:
        """What was asked beside the sentence itself."""

class SearchGraph:
    """What a search kept, each edge with its rule and features."""

    @property
    def graph(self) -> Hypergraph:
        """Its derivations."""

    @property
    def labels(self) -> list[str]:
        """By node."""

    @property
    def spans(self) -> list[tuple[int, int]]:
        """By node: the source words covered, half open."""

    @property
    def scores(self) -> list[float]:
        """By edge: what it adds to the score."""

    @property
    def steps(self) -> list[Step]:
        """By edge: its rule."""

    @property
    def features(self) -> list[dict[str, float]]:
        """By edge: its features that are not 0, by name."""

class FeatureSet:
    """The features of a model: the table's, the search's, and stateful ones."""

    @overload
    def __init__(self, table: RuleTable, prefix: str = '') -> None: ...

    @overload
    def __init__(self, grammars: Sequence[tuple[str, RuleTable]]) -> None:
        """Of several tables, by the names of their grammars."""

    @property
    def parts(self) -> list[FeatureSet]:
        """Those of each grammar, if there are several: what belongs to it alone."""

    @property
    def trees(self) -> bool:
        """Whether hypotheses have dependency trees: some feature scores them."""

    def add_ngram(self, model: NgramModel, name: str = 'lm') -> None:
        """
        An n-gram language model: NAME (natural log), and NAME_unknown unless it has classes.
        """

    def add_joint(self, model: JointModel, name: str = 'neural') -> None:
        """A neural joint model, or a lexical one: NAME (natural log)."""

    def add_context(self, source: Sequence[str], target: Sequence[str]) -> None:
        """
        Linked words f and e with the source word c beside f: left=c|f→e and right=f→e|c. Other words are <unk>.
        """

    def add_labels(self) -> None:
        """
        Soft syntax: match_f, nomatch_f, subst_f[X→Y], the same with e, and root[X,Y].
        """

    def add_dependency(self, model: DependencyModel) -> None:
        """
        A dependency language model: dlm_words or dlm_tags (natural log), ill_formed.
        """

class Matcher:
    """How a table's rules meet an input."""

    @property
    def left_out(self) -> int:
        """Rules that it never uses, because they would close a cycle of labels."""

class ChartMatcher(Matcher):
    """Meets strings: every rule on every span up to a limit."""

    def __init__(self, features: FeatureSet, search: object) -> None: ...

class OnDemandMatcher(Matcher):
    """Meets strings with rules that are found for each."""

    def __init__(self, rules: RulesOnDemand, search: object) -> None: ...

class ForestMatcher(Matcher):
    """
    Meets packed forests: every fragment at every node; adds parse and pseudo.
    """

    def __init__(self, features: FeatureSet, heads: HeadTable | None, search: object, pseudo_nodes: bool = False) -> None: ...

class HeadDependentsMatcher(Matcher):
    """
    Meets dependency trees: the rules of each word with its dependents, and phrases.
    """

    def __init__(self, features: FeatureSet, heads: HeadTable | None, search: object, augmented: bool) -> None: ...

class TreeSpans(enum.Enum):
    """
    The parts of a dependency tree that rules of two words or more may cover.
    """

    structures = 0
    """subtrees, fixed and floating structures"""

    phrases = 1
    """subtrees; structures for rules without variables"""

    subtrees = 2
    """subtrees"""

class StructureMatcher(Matcher):
    """
    Meets dependency trees as strings: every rule on parts of the tree alone.
    """

    def __init__(self, features: FeatureSet, search: object, spans: TreeSpans) -> None: ...

class JointMatcher(Matcher):
    """
    Meets what several matchers meet; the grammars share what covers the same words.
    """

    def __init__(self, features: FeatureSet, matchers: Sequence[Matcher]) -> None: ...

class TargetConstraints:
    """What an output must look like; all that is given holds."""

    def __init__(self, exactly: Sequence[str] | None = None, prefix: Sequence[str] = [], part: str = '', contains: Sequence[Sequence[str]] = [], forbid: Sequence[Sequence[str]] = [], steps: Sequence[tuple[tuple[int, int], str, str | None, str | None]] = []) -> None: ...

    @property
    def prefix(self) -> list[str]:
        """The first words."""

    @property
    def part(self) -> str:
        """What the word after them begins with."""

class Decoder:
    """
    Features, a matcher and weights, ready to translate; threads may share it.
    """

    def __init__(self, features: FeatureSet, matcher: Matcher, weights: Sequence[tuple[str, float]], search: object) -> None: ...

    @property
    def features(self) -> list[str]:
        """Names of the features, by number, without the members of families."""

    @property
    def unknown_weights(self) -> list[str]:
        """Names of weights that no feature has."""

    def translate(self, source: object | None, constraints: TargetConstraints | None = None, terms: Terms = ...) -> Translation:
        """
        Translates a line or list of tokens, a forest, a dependency tree or a lattice. Its search is kept until the next.
        """

    def translate_batch(self, sources: object, kbest: int, distinct: bool, threads: int, constraints: Sequence[TargetConstraints | None] = [], terms: Sequence[Terms] = []) -> list[Translation]:
        """
        Translates sentences; results are in their order, the same for any number of threads.
        """

    def reached(self, source: object, target: Sequence[str]) -> list[tuple[tuple[int, int], tuple[int, int], str]]:
        """
        The largest parts of a target sentence that rules give for parts of a source sentence, without overlap: the words on both sides, half open, and a label.
        """

    def kbest(self, of: Translation, size: int, distinct: bool) -> tuple[Hypothesis, ...]:
        """The best hypotheses of a translation."""

    def runners_up(self, of: Translation) -> list[Hypothesis | None]:
        """
        For each step of the best derivation: the best one that does not use its rule there. None for local rules, and where the search kept no other.
        """

    def graph(self, of: Translation, margin: float) -> SearchGraph | None:
        """
        What the search of a translation kept, within `margin` of its best derivation; None for an empty line.
        """

def agreement(lists: Sequence[Sequence[tuple[str, float]]], order: int, scale: float) -> tuple[list[str], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
    """
    The texts of several k-best lists of one sentence, each once, and rows of numbers: how far each list agrees.
    """

class HypothesisPool:
    """Hypotheses of sentences, on arrays that must stay as they are."""

    def __init__(self, first_hypothesis: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], first_feature: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], features: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], statistics: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], number: int) -> None: ...

    @property
    def sentences(self) -> int:
        """How many sentences there are."""

    @property
    def features(self) -> int:
        """How many features there are."""

    def spreads(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """How much each feature varies among the hypotheses of a sentence."""

    @property
    def hypotheses(self) -> int:
        """How many hypotheses there are."""

    def best(self, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """The best hypothesis of every sentence; -1 where there is none."""

    def scores(self, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The score of every hypothesis."""

    def score(self, metric: Metric, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], chosen: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float:
        """The corpus score of the best hypotheses of the chosen sentences."""

def decode_kbest(decoder: Decoder, sources: object, kbest: int, distinct: bool, threads: int, references: Sequence[Sequence[tuple[str, float]]], hopes: object | None) -> tuple[list[str], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], list[str], Annotated[NDArray[numpy.uint64], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.float32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], list[tuple[int, str]]]:
    """
    K-best lists as arrays: names of features, offsets, texts, features, scores; and the sources that were refused, with why. With references, those of each source with their shares, hopes and fears follow the best.
    """

def upper_envelope(slopes: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], intercepts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
    """
    The lines that are highest somewhere, from left to right, and where they begin.
    """

class LineStep:
    """The best step along a direction."""

    @property
    def length(self) -> float:
        """How far to go; 0 for staying."""

    @property
    def score(self) -> float:
        """The corpus score there."""

    @property
    def here(self) -> float:
        """The corpus score without a step."""

def line_search(pool: HypothesisPool, metric: Metric, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], direction: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> LineStep:
    """The best step along a direction, exactly."""

def ascend(pool: HypothesisPool, metric: Metric, start: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], spreads: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], options: object, seed: int) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], float, float, int]:
    """
    From a start along one direction after another: weights, score, the score before, rounds.
    """

class MiraResult:
    """What MIRA learnt."""

    @property
    def weights(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', writable=False)]:
        """The mean weights of the best epoch."""

    @property
    def best_epoch(self) -> int:
        """From 1; 0 when there was nothing to learn from."""

    @property
    def train(self) -> list[float]:
        """Scores after each epoch on what was learnt from."""

    @property
    def held_out(self) -> list[float]:
        """Scores after each epoch on what was held out."""

def mira(pool: HypothesisPool, sentence_metric: Metric, metric: Metric, start: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], units: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], held_out: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], options: object, seed: int) -> MiraResult:
    """Batch MIRA over a pool."""

def sample_pairs(pool: HypothesisPool, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], options: object, seed: int) -> tuple[Annotated[NDArray[numpy.uint64], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
    """
    Differences of features between better and worse hypotheses, as the arrays of a sparse matrix.
    """

class JointCorpus:
    """Aligned sentence pairs to train a joint model with."""

    def __init__(self, lexical: bool = False, heads: bool = False) -> None: ...

    def __len__(self) -> int: ...

    @property
    def empty(self) -> int:
        """Pairs with an empty side, which are left out."""

    @property
    def unlinked(self) -> int:
        """Pairs without links."""

    @property
    def examples(self) -> int:
        """
        Target words and sentence ends; of a lexical corpus, source words; of heads, target words.
        """

    @property
    def treeless(self) -> int:
        """
        Pairs without the target tree that models over heads learn from, which are left out.
        """

    def add(self, source: Sequence[str], target: Sequence[str], links: Alignment, parse: Tree | ParseForest | Dependency | None = None, tree: Dependency | None = None) -> None:
        """One more pair."""

class JointEpoch:
    """How training stands after an epoch."""

    @property
    def epoch(self) -> int:
        """Its number, from 1 on."""

    @property
    def rate(self) -> float:
        """The learning rate."""

    @property
    def train_loss(self) -> float:
        """The mean loss of its examples, with dropout and penalty."""

    @property
    def perplexity(self) -> float:
        """That of held-out words, exactly normalised."""

    @property
    def mean_log_sum(self) -> float:
        """The mean log Z of held-out examples."""

    @property
    def log_sum_error(self) -> float:
        """The root mean square of their log Z."""

    @property
    def best(self) -> bool:
        """Whether no epoch before was better."""

def train_joint(corpus: JointCorpus, held_out: JointCorpus, options: dict[str, Any], threads: int, file: str, progress: Callable[[int, int, int], object], report: Callable[[JointEpoch], object], learner: object | None = None) -> JointModel:
    """
    Train a joint model. A run that was killed continues from `file`. A `learner` learns in place of the core.
    """

class JointBatch:
    """Examples to learn from at once, with all that is random about them."""

    @property
    def places(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', writable=False)]:
        """
        Rows of the embeddings: those of the first example, in the order of its inputs, …
        """

    @property
    def sources(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', writable=False)]:
        """Rows of the embeddings whose mean is one more input."""

    @property
    def begins(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', writable=False)]:
        """Where the sources of each example begin, and their end."""

    @property
    def columns(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', writable=False)]:
        """Of each example: which candidate is its word."""

    @property
    def candidates(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', writable=False)]:
        """The words that are summed over."""

    @property
    def log_weights(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', writable=False)]:
        """The log of how many words each candidate stands for."""

    @property
    def in_kept(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', writable=False)]:
        """1 for inputs that dropout keeps, by example; empty: all."""

    @property
    def hidden_kept(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', writable=False)]:
        """The same for the units of the hidden layer."""

    @property
    def second_kept(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', writable=False)]:
        """The same for the units of the second hidden layer."""

    @property
    def mean_at(self) -> int:
        """The place of the mean among the inputs; -1: there is none."""

    @property
    def in_scale(self) -> float:
        """What kept inputs are multiplied by."""

    @property
    def hidden_scale(self) -> float:
        """The same for hidden units."""

    @property
    def rate(self) -> float:
        """The rate of Adam, corrections included."""

    @property
    def decays(self) -> tuple[float, float, float]:
        """
        What Adam keeps of both moments, and the share of the weights that is lost.
        """

    @property
    def epsilon(self) -> float:
        """That of Adam."""

class JointGradients:
    """The loss of a network on one batch, and its gradients: for tests."""

    def __init__(self, corpus: JointCorpus, options: dict[str, Any], threads: int = 1) -> None: ...

    def loss(self, step: int = 1) -> float:
        """The mean loss of all examples."""

    def batch(self, step: int = 1) -> JointBatch:
        """The batch of all examples, as a learner gets it."""

    def values(self, block: str) -> Annotated[NDArray[numpy.float32], dict(shape=(None,))]:
        """A block of parameters."""

    def set(self, block: str, values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Change a block of parameters."""

    def gradient(self, block: str) -> Annotated[NDArray[numpy.float32], dict(shape=(None,))]:
        """What the last loss gave for a block."""

    def contexts(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
        """
        The numbers of the words that each example is predicted from, one example after the other.
        """

    def words(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
        """The number of each example's word."""

    def model(self) -> JointModel:
        """The model that these parameters make."""

def register_width() -> int:
    """How many floats a register of this processor holds."""

def neural_dot(a: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], b: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], width: int) -> float:
    """The dot product by registers of so many floats: for tests."""

def neural_tanh(values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], width: int) -> Annotated[NDArray[numpy.float32], dict(shape=(None,))]:
    """The hyperbolic tangents by registers of so many floats: for tests."""

def neural_tanh_of_sum(parts: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], length: int, width: int) -> Annotated[NDArray[numpy.float32], dict(shape=(None,))]:
    """
    The hyperbolic tangents of the sum of vectors, by registers of so many floats: for tests.
    """

def neural_multiply(a: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], b: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: int, width: int) -> Annotated[NDArray[numpy.float32], dict(shape=(None,))]:
    """The product of matrices, by registers of so many floats: for tests."""

class GrammarFormat(enum.Enum):
    """Text formats of grammars."""

    cdec = 0

    joshua = 1

    moses = 2

    travatar = 3

class GrammarReader:
    """Reads a grammar into a RuleTableBuilder."""

    def __init__(self, file: str, skip_bad: bool, format: GrammarFormat, prefix: str, builder: RuleTableBuilder) -> None: ...

    def feed(self, chunk: bytes) -> None:
        """Takes the next bytes of the file."""

    def finish(self) -> None:
        """Takes the end of the file."""

    @property
    def skipped(self) -> int:
        """Bad rules left out."""

    @property
    def problems(self) -> list[tuple[int, str]]:
        """Lines and problems of the first hundred of them."""

class ForeignMatcher(Matcher):
    """Meets strings as other decoders define it."""

    def __init__(self, features: FeatureSet, search: object, passed: Sequence[tuple[str, float]], definition: dict[str, object]) -> None:
        """
        `passed` are the labels of words that pass through, and how much these count as unknown.
        """

def add_unknown_lengths(features: FeatureSet) -> None:
    """
    Features of words that pass through, by their length: unknown_length_1 to unknown_length_6.
    """

def add_marked_ngram(features: FeatureSet, model: NgramModel) -> None:
    """An n-gram language model for rules that have <s> and </s> themselves."""

class GrammarStyle:
    """How rules are written as lines of a grammar."""

    def __init__(self, format: GrammarFormat, names: Sequence[str], rule_penalty: str = '', word_penalty: str = '', masked: bool = False) -> None: ...

def write_rules(table: RuleTable, style: GrammarStyle, rules: Sequence[int]) -> bytes:
    """Some rules of a table as lines of a grammar."""

def select_rules(features: FeatureSet, weights: Sequence[tuple[str, float]], per_source: int, sentences: Sequence[Sequence[str]] | None = None) -> list[int]:
    """
    The rules that a model uses: of each source side the best, of all source sides those that sentences can meet.
    """
