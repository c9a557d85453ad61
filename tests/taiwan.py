"""The sentence pair of Figure 2 of Chiang (2010), with its trees and alignment.

The figure's last verb phrase is one block on both sides; here the Chinese one has two words and the English one five,
linked as wholes.
"""

from treeglot.syntax import Alignment, Tree

SOURCE_TREE = Tree.parse(
    "(IP (NP (NR 台湾)) (PP (P 在) (LCP (NP (NP (QP (CD 两)) (NP (NN 岸))) (NP (NN 贸易))) (LC 中)))"
    " (NP (NN 顺差)) (VP (QP 一百四十七亿) (NP 美元)))"
)
TARGET_TREE = Tree.parse(
    "(S (NP (NP (NP (NNP Taiwan) (POS 's)) (NN surplus)) (PP (IN in) (NP (NP (NN trade))"
    " (PP (IN between) (NP (DT the) (CD two) (NNS shores))))))"
    " (VP (VBZ is) (NP (CD 14.7) (CD billion) (NNP US) (NNS dollars))))"
)
SOURCE = SOURCE_TREE.words
TARGET = TARGET_TREE.words
# 台湾 在 两 岸 贸易 中 顺差 …; Taiwan 's surplus in trade between the two shores …
ALIGNMENT = Alignment.parse("0-0 0-1 1-3 2-7 3-8 4-4 5-3 6-2 7-9 7-10 7-11 7-12 8-13")
