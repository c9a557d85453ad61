"""Symmetrisation against the published pseudo-code, over sets of links."""

from hypothesis import given
from hypothesis import strategies as st

from treeglot.align.symmetrize import SYMMETRIZATIONS, symmetrize
from treeglot.syntax import Alignment

Links = set[tuple[int, int]]
NEIGHBOURS = [(-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)]
SIZE = 6

links = st.sets(st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1)), max_size=14)


def slow(forward: Links, backward: Links, method: str) -> Links:
    if method == "intersection":
        return forward & backward
    if method == "union":
        return forward | backward
    found = forward & backward

    def free(source: int, target: int, both: bool) -> bool:
        no_source = all(link[0] != source for link in found)
        no_target = all(link[1] != target for link in found)
        return no_source and no_target if both else no_source or no_target

    added = True
    while added:
        added = False
        for source in range(SIZE):
            for target in range(SIZE):
                if (source, target) not in found:
                    continue
                for by_source, by_target in NEIGHBOURS:
                    near = (source + by_source, target + by_target)
                    if near not in found and near in forward | backward and free(*near, method == "grow-diag-and"):
                        found.add(near)
                        added = True
    for direction in (forward, backward) if "final" in method else ():
        for link in sorted(direction):
            if free(*link, method.endswith("and")):
                found.add(link)
    return found


@given(links, links, st.sampled_from(SYMMETRIZATIONS))
def test_as_the_pseudo_code(forward: Links, backward: Links, method: str) -> None:
    [result] = symmetrize([Alignment(forward)], [Alignment(backward)], method)
    assert set(result) == slow(forward, backward, method)


@given(links, links)
def test_all_lie_between_intersection_and_union(forward: Links, backward: Links) -> None:
    for method in SYMMETRIZATIONS:
        [result] = symmetrize([Alignment(forward)], [Alignment(backward)], method)
        assert forward & backward <= set(result) <= forward | backward
