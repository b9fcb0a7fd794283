"""The files of a segment: their paths."""

from __future__ import annotations

from kafkalog_reader.io.segment_files import SegmentFiles


def test_path_of_a_segment_file_may_be_a_links_target() -> None:
    files = SegmentFiles(
        base_offset=7, suffix=None, directory="/d/t-0", log_size=1, offset_index_size=None,
        time_index_size=None, transaction_index_size=None, modified_at=0,
        targets=(("index", "/elsewhere"),),
    )  # fmt: skip
    assert files.path("log") == "/d/t-0/00000000000000000007.log"
    assert files.path("index") == "/elsewhere"
