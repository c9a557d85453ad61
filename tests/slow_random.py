"""The slow twin of cpp/base/random.h."""


class SlowRandom:
    """xoshiro256**, seeded by splitmix64."""

    def __init__(self, seed: int) -> None:
        self.state = []
        for _ in range(4):
            seed = (seed + 0x9E3779B97F4A7C15) % 2**64
            word = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
            word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) % 2**64
            self.state.append(word ^ (word >> 31))

    def uniform(self) -> float:
        s = self.state
        drawn = (_rotated((s[1] * 5) % 2**64, 7) * 9) % 2**64
        shifted = (s[1] << 17) % 2**64
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= shifted
        s[3] = _rotated(s[3], 45)
        return (drawn >> 11) * 2**-53

    def below(self, n: int) -> int:
        return int(self.uniform() * n)

    def shuffle(self, items: list[int]) -> None:
        for i in range(len(items), 1, -1):
            j = self.below(i)
            items[i - 1], items[j] = items[j], items[i - 1]


def _rotated(word: int, by: int) -> int:
    return ((word << by) | (word >> (64 - by))) % 2**64
