"""Texts with a few bytes, pieces and lines changed, for readers that must survive them."""

import random

PIECES = [
    *"()[]{}\"\\:,.-_#0123456789 \t\n\r\0",
    "\n\n", "  ", "-LRB-", "(())", " ||| ", " => ", "^g", "[0,0]", "[1,0]", "[0,99999999999]", "sentence 3 :\n", "nan",
    "inf", "1e999", "-", "--", "1-1", "0.1", "4294967296", "-1", "\\u", "\\ud800", "null", '"goal"', "[]", "{}",
    "\ufeff", "é", "𝔘", "S^g[0,1] => S^g[0,1] ||| 0\n", "1\ta\t_\t_\t_\t_\t1\t_\t_\t_\n", "9\t", "\t\t", "# c\n",
]  # fmt: skip


def mutated(text: str, chance: random.Random) -> bytes:
    """The text after one to six changes of bytes, pieces and lines."""
    data = bytearray(text.encode())
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(data) + 1)
        until = min(len(data), at + chance.choice([1, 1, 2, 5, 20]))
        piece = chance.choice(PIECES).encode()
        match chance.randrange(8):
            case 0:
                data[at:at] = piece
            case 1:
                data[at:until] = piece
            case 2:
                del data[at:until]
            case 3:
                data[at:at] = data[at:until]
            case 4:
                data[at:until] = bytes([chance.randrange(256)])
            case 5:
                del data[at:]
            case 6:
                lines = bytes(data).split(b"\n")
                chance.shuffle(lines)
                data[:] = b"\n".join(lines)
            case _:
                lines = bytes(data).split(b"\n")
                del lines[chance.randrange(len(lines))]
                data[:] = b"\n".join(lines)
    return bytes(data)
