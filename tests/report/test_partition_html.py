"""The block of a partition in a report."""

from __future__ import annotations

import kafkalog_reader
from fixtures import captures
from kafkalog_reader.audits.catalogue.catalogue import CATALOGUE, codes_with
from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.integrity.finding import finding
from kafkalog_reader.report.partition_html import partition_html


def test_every_kind_of_trouble_is_there_because_a_page_has_no_verbose() -> None:
    log = kafkalog_reader.open(str(captures.path("s3_2/both-led")))
    audit = log.diff("t", 0)
    codes = [
        code
        for code in sorted(set(CATALOGUE) - codes_with(Role.PICTURED))
        if CATALOGUE[code].severity == "H"
    ][:20]
    page = partition_html(audit, [finding(code, f"what {code} found") for code in codes])
    assert [code for code in codes if f"what {code} found" not in page] == []
    assert "--verbose" not in page
