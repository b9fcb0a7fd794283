"""What travels with the evidence: links, limits, and what one look remembers."""

from __future__ import annotations

import logging
import pickle
from typing import TYPE_CHECKING

import pytest

from kafkalog_reader.format.decompression_limit import Limits
from kafkalog_reader.io import read_context
from kafkalog_reader.io.read_context import Look, ReadContext

if TYPE_CHECKING:
    from pathlib import Path


class Counter:
    """Returns 1, then 2, and so on."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> int:
        self.calls += 1
        return self.calls


def test_look_reads_once_until_it_ends() -> None:
    look, read = Look(), Counter()
    assert not look.is_over
    assert [look.once("key", read, lambda _: True) for _ in range(2)] == [1, 1]
    assert look.once("other", read, lambda _: True) == 2
    look.end()
    assert look.is_over
    assert [look.once("key", read, lambda _: True) for _ in range(2)] == [3, 4]


def test_look_remembers_none_and_what_is_small_enough() -> None:
    look, read = Look(), Counter()
    assert [look.once("key", read, lambda count: count > 1) for _ in range(3)] == [1, 2, 2]
    nothing: list[None] = []
    for _ in range(2):
        look.once("none", lambda: nothing.append(None), lambda _: True)
    assert len(nothing) == 1


def test_error_is_not_remembered() -> None:
    look, read = Look(), Counter()

    def failing() -> int:
        if read() == 1:
            raise OSError("gone")
        return 7

    with pytest.raises(OSError, match="gone"):
        look.once("key", failing, lambda _: True)
    assert look.once("key", failing, lambda _: True) == 7


def test_context_without_a_look_reads_every_time() -> None:
    read = Counter()
    assert [ReadContext().once("key", read) for _ in range(2)] == [1, 2]


def test_following_links_is_another_look_at_the_same_key() -> None:
    context, read = ReadContext(look=Look()), Counter()
    assert context.once("key", read) == 1
    assert context.following_links().once("key", read) == 2
    assert context.once("key", read) == 1
    assert context.following_links().follow_links
    assert context.looking_again().once("key", read) == 3


def test_folder_is_listed_once_unless_it_is_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_context, "_MAX_LISTED", 2)
    context = ReadContext(look=Look())
    for number in (1, 2):
        (tmp_path / str(number)).touch()
    assert len(context.entries(str(tmp_path))) == 2
    (tmp_path / "3").touch()
    assert len(context.entries(str(tmp_path))) == 2
    context = ReadContext(look=Look())
    assert len(context.entries(str(tmp_path))) == 3
    (tmp_path / "4").touch()
    assert len(context.entries(str(tmp_path))) == 4


def test_context_pickles_without_what_belongs_to_one_process() -> None:
    context = ReadContext(follow_links=True, limits=Limits.allowing(5), look=Look())
    copied = pickle.loads(pickle.dumps(context))
    assert (copied.follow_links, copied.limits, copied.look) == (True, Limits.allowing(5), None)


def test_contexts_are_equal_if_they_follow_links_alike() -> None:
    assert ReadContext(look=Look()) == ReadContext(limits=Limits.allowing(5))
    assert ReadContext() != ReadContext(follow_links=True)


def test_what_is_skipped_is_said_once_and_each_problem_is_a_kind_of_its_own(
    caplog: pytest.LogCaptureFixture,
) -> None:
    context = ReadContext()
    logger = logging.getLogger("kafkalog_reader.io")
    for path, problem in (("a", "link"), ("a", "link"), ("a", "gone"), ("b", "link")):
        context.following_links().warn(logger, path, problem)
    assert caplog.messages == ["a: link", "a: gone", "b: link"]
    assert len({record.msg for record in caplog.records}) == 2
    context.warning_again().warn(logger, "a", "link")
    assert caplog.messages[3:] == ["a: link"]
