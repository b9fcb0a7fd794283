"""Writes ``format/messages/definitions.py`` from Kafka's message definitions in its jars.

Run by ``make schemas``. The newest release comes first; an older one adds what differs from it:
record types since removed, and shapes that changed without a new version.
"""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path
from typing import Any, Final

from fixtures import jars
from kafkalog_reader.format.messages.schema import Field, MessageSpec, parse

TARGET: Final = Path("kafkalog_reader/format/messages/definitions.py")
RELEASES: Final = (jars.LATEST, "4.0.1", "3.9.1", "3.5.2")
FAMILIES: Final = {
    "kafka-group-coordinator": "group",
    "kafka-transaction-coordinator": "transaction",
    "kafka-share-coordinator": "share",
    "kafka-metadata": "metadata",
    "kafka-storage": "remote",
}
CONTROL: Final = {
    "EndTxnMarker": "-",
    "LeaderChangeMessage": "2",
    "SnapshotHeaderRecord": "3",
    "SnapshotFooterRecord": "4",
    "KRaftVersionRecord": "5",
    "VotersRecord": "6",
}
"""Control records by type (org.apache.kafka.common.record.internal.ControlRecordType)."""
CONSUMER: Final = ("ConsumerProtocolSubscription", "ConsumerProtocolAssignment")
HEAD: Final = '''"""Kafka's message definitions in the form that ``schema`` describes.

Written by ``make schemas`` from the jars of Kafka {releases}; do not edit.
"""

from typing import Final

DEFINITIONS: Final = """
{lines}
"""
'''
_COMMENT: Final = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*')


def main() -> None:
    """Write the module."""
    TARGET.write_text(text())


def text() -> str:
    """The module's source."""
    known: dict[tuple[str, str, int], list[MessageSpec]] = {}
    lines: list[str] = []
    for release in RELEASES:
        for header, definition in definitions(release):
            until = "" if release == jars.LATEST else f" until {release}"
            rows = [header + until, *_rows(definition)]
            (message,) = parse(rows)
            same = known.setdefault((message.family, message.part, message.type), [])
            if message.type < 0 and release != jars.LATEST:
                continue
            if message.type < 0 or not any(_covers(each, message) for each in same):
                same.append(message)
                lines += rows
    return HEAD.format(releases=", ".join(RELEASES), lines="\n".join(lines))


def definitions(release: str) -> list[tuple[str, dict[str, Any]]]:
    """Header line and definition of each message that brokers of a release write to disk."""
    found = []
    for jar in sorted(jars.resolve(release).glob("kafka*.jar")):
        artifact = jar.name.removesuffix(f"-{release}.jar")
        with zipfile.ZipFile(jar) as archive:
            for name in sorted(archive.namelist()):
                if re.search(r"(^|/)(message|metadata)/\w+\.json$", name):
                    source = _COMMENT.sub(lambda match: match[1] or "", archive.read(name).decode())
                    found.append((artifact, json.loads(source)))
    keys = {
        each["name"].removesuffix("Key"): each["validVersions"]
        for _, each in found
        if each["type"] == "data" and each["name"].endswith("Key")
    }
    headers = [(_header(artifact, each, keys), each) for artifact, each in found]
    return sorted(((header, each) for header, each in headers if header), key=_order)


def _order(entry: tuple[str, dict[str, Any]]) -> tuple[str, int, str]:
    family, part, type_, *_ = entry[0].split()
    return family, -1 if type_ == "-" else int(type_), part


def _header(artifact: str, definition: dict[str, Any], keys: dict[str, str]) -> str:
    name, type_ = definition["name"], definition["type"]
    if name in CONTROL:
        place = f"control value {CONTROL[name]}"
    elif name in CONSUMER:
        place = "consumer data -"
    elif type_ == "metadata":
        place = f"{FAMILIES[artifact]} value {definition['apiKey']}"
    elif type_ in ("coordinator-key", "coordinator-value"):
        place = f"{FAMILIES[artifact]} {type_.removeprefix('coordinator-')} {definition['apiKey']}"
    elif name.endswith(("Key", "Value")) and name.removesuffix("Key").removesuffix("Value") in keys:
        # Up to 4.0 the version of a key is the type of its record; 0 and 1 have one key message.
        family = "transaction" if name.startswith("TransactionLog") else FAMILIES[artifact]
        number = keys[name.removesuffix("Key").removesuffix("Value")].split("-")[-1]
        place = f"{family} {'key' if name.endswith('Key') else 'value'} {number}"
    else:
        return ""
    flexible = definition.get("flexibleVersions", "none")
    return f"{place} {name} {definition['validVersions']}" + (
        "" if flexible == "none" else f" flexible {flexible}"
    )


def _rows(definition: dict[str, Any]) -> list[str]:
    structures = {each["name"]: each for each in definition.get("commonStructs", ())}
    return [row for each in definition["fields"] for row in _field(each, structures, 1)]


def _field(field: dict[str, Any], structures: dict[str, dict[str, Any]], depth: int) -> list[str]:
    name = field["name"]
    words = [name[0].lower() + name[1:], field["type"]]  # as in Kafka's JSON
    versions = field.get("versions") or field["taggedVersions"]  # as FieldSpec has it
    if versions != "0+":
        words.append(versions)
    if field.get("nullableVersions", "none") != "none":
        words += ["nullable", field["nullableVersions"]]
    if "tag" in field:
        words += ["tag", str(field["tag"]), field["taggedVersions"]]
    if field.get("default") not in (None, ""):
        words += ["default", str(field["default"])]
    structure = (
        field.get("fields")
        or structures.get(field["type"].removeprefix("[]"), {"fields": []})["fields"]
    )
    inner = [row for each in structure for row in _field(each, structures, depth + 1)]
    return [" " * depth + " ".join(words), *inner]


def _covers(known: MessageSpec, older: MessageSpec) -> bool:
    """Whether a known message reads each version of an older one as its release wrote it."""
    if older.part == "key":
        return True  # the keys of 4.0 and before differ in their numbering alone
    return all(
        version in known.versions
        and (version in known.flexible) == (version in older.flexible)
        and _shape(known.fields, version) == _shape(older.fields, version)
        for version in range(older.versions.first, older.versions.last + 1)
    )


def _shape(fields: tuple[Field, ...], version: int) -> list[object]:
    """The untagged fields of a version; unknown tagged fields are kept anyhow."""
    return [
        (
            re.sub(r"[A-Z]\w*", "struct", field.type),
            _shape(field.fields, version),
        )
        for field in fields
        if version in field.versions and version not in field.tagged
    ]


if __name__ == "__main__":
    main()
