"""``--redact``: paths and labels, which often name hosts, appear under other names."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kafkalog_reader.errors import show_as, shown, shown_names
from kafkalog_reader.io.object_uri import parse_object_uri

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.io.evidence import Evidence

_NO_HOST = frozenset({"", ".", "..", "/"})


class Redaction:
    """Replaces the paths of inputs and the labels of copies in texts.

    Args:
        names: what each secret appears as; the longest secret is replaced first.
    """

    def __init__(self, names: dict[str, str]) -> None:
        self._names = dict(sorted(names.items(), key=lambda item: -len(item[0])))

    def json(self, text: str) -> str:
        """JSON without the secrets."""
        for secret, name in self._names.items():
            text = text.replace(json.dumps(secret, ensure_ascii=False)[1:-1], name)
        return text

    @contextmanager
    def showing(self) -> Iterator[None]:
        """Everything that is shown meanwhile has the other names."""
        with shown_names():
            for secret, name in self._names.items():
                show_as(secret, name)
            yield


def redaction_of(evidence: Evidence, paths: Sequence[str]) -> Redaction:
    """The paths as given and as found, and the labels."""
    names: dict[str, str] = {}
    for number, root in enumerate(evidence.log_directories, 1):
        if root.path not in _NO_HOST:
            names[root.path] = names[shown(root.path)] = f"LOG-DIRECTORY-{number}"
        if root.broker_label is not None:
            names[root.broker_label] = f"COPY-{number}"
    for number, path in enumerate(paths, 1):
        uri = parse_object_uri(path) or parse_object_uri(path.partition("=")[2])
        given = path.partition("=")[2] or path
        if uri is not None:
            given = f"{uri.root}/{uri.key}"
            names[uri.root] = f"STORE-{number}"
            names.update({uri.query: ""} if uri.query else {})
        if given not in _NO_HOST:
            names.setdefault(given, f"PATH-{number}")
    return Redaction(names)
