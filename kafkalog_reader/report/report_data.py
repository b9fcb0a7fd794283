"""What a report carries: its JSON, and partitions that are drawn when somebody opens them.

Both are compressed, and written as text of base64 into elements that no browser runs. The JSON
comes out again byte for byte.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader.errors import UsageError
from kafkalog_reader.io.names import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

REPORT_SCHEMA_VERSION: Final = 1
"""Incremented when a name is removed or changes its meaning, but not for new names."""
DATA_ID: Final = "kafkalog-report"
MAX_FILE: Final = 64 << 20
"""Bytes of a file that may be a report: ours have a tenth of it."""
MAX_JSON: Final = 1 << 30
"""Bytes to which the JSON of a report may decompress."""
_PIECE: Final = 1 << 20
_DATA: Final = re.compile(
    rf'<script type="application/octet-stream" id="{DATA_ID}">([A-Za-z0-9+/=\s]*)</script>'.encode()
)


def json_text(value: Any) -> str:  # noqa: ANN401  any JSON
    """JSON as it is embedded: keys in order, one line."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def compressed(text: str) -> bytes:
    """The text in gzip's format, without a time: the same text gives the same bytes."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return packer.compress(text.encode("utf-8", "backslashreplace")) + packer.flush()


def data_element(content: bytes, *, identity: str = "", classes: str = "") -> str:
    """An element with bytes for the page's script."""
    named = f' id="{identity}"' if identity else ""
    of_class = f' class="{classes}"' if classes else ""
    text = base64.b64encode(content).decode()
    return f'<script type="application/octet-stream"{named}{of_class}>{text}</script>'


def extracted(content: bytes, path: str) -> Iterator[bytes]:
    """The JSON inside a report, piece by piece.

    Args:
        content: of the whole file.
        path: for errors.

    Raises:
        UsageError: it is no report, it is damaged, or its JSON has more than ``MAX_JSON`` bytes.
    """
    found = _DATA.search(content)
    if found is None:
        raise UsageError(
            f"{shown(path)}: no report of kafkalog: the element with its JSON is missing"
        )
    unpacker = zlib.decompressobj(31)
    size = 0
    try:
        rest = base64.b64decode(found[1], validate=True)
        while not unpacker.eof:
            piece = unpacker.decompress(rest, _PIECE)
            rest = unpacker.unconsumed_tail
            size += len(piece)
            if size > MAX_JSON:
                raise UsageError(f"{shown(path)}: its JSON has more than {MAX_JSON >> 30} GiB")
            if not piece and not rest:
                raise UsageError(f"{shown(path)}: the JSON inside is cut short")
            yield piece
    except (ValueError, zlib.error) as error:
        raise UsageError(f"{shown(path)}: the JSON inside is damaged ({error})") from error
