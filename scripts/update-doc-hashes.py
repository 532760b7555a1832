#!/usr/bin/env python3
"""Rewrites the digests in the format documents after they were reread against the code.

A document says which file it describes in a line of its own:

    <!-- describes: nnue-format/src/net/codec.rs sha256: 0123… -->

tests/tests/tidy.rs fails when that file moves on. Correct the document first, then run this; it prints what it changed.
"""

import hashlib
import re
import sys
from pathlib import Path

LINE = re.compile(r"^(<!-- describes: )(\S+)( sha256: )(\S+)( -->)$", re.MULTILINE)


def main():
    root = Path(__file__).resolve().parent.parent
    failed = False
    for document in sorted(root.glob("docs/**/*.md")):
        text = document.read_text(encoding="utf-8")

        def renew(match):
            nonlocal failed
            described = root / match[2]
            if not described.is_file():
                print(f"{document.relative_to(root)}: {match[2]} is not there", file=sys.stderr)
                failed = True
                return match[0]
            digest = hashlib.sha256(described.read_bytes()).hexdigest()
            if digest != match[4]:
                print(f"{document.relative_to(root)}: {match[2]} is now {digest}")
            return f"{match[1]}{match[2]}{match[3]}{digest}{match[5]}"

        renewed = LINE.sub(renew, text)
        if renewed != text:
            document.write_text(renewed, encoding="utf-8")
    return 2 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
