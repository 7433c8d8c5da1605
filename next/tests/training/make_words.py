"""Write the words of `selfcorrect.dictionary`: `python make_words.py WORDS > words.bin`.

WORDS holds one word a line; a line that begins with "#" is a comment. The list that is in use is
SCOWL, size 60, American spelling, without names and forms with an apostrophe: see NOTICE.
"""

import sys
import zlib
from pathlib import Path


def pack(text: str) -> bytes:
    """Return the words in order, one a line, compressed; the same bytes for the same words."""
    found = {line.strip() for line in text.splitlines() if not line.startswith("#")}
    words = sorted(word for word in found if word.isascii() and word.isalpha() and word.islower())
    return zlib.compress("\n".join(["", *words, ""]).encode(), 9)


if __name__ == "__main__":
    sys.stdout.buffer.write(pack(Path(sys.argv[1]).read_text("utf-8")))
