"""Changes that no test can notice, each with the reason."""

from __future__ import annotations

import re
from typing import Final, NamedTuple


class Equivalent(NamedTuple):
    """A line of a module, and the changed line, or "" for any change of it.

    ``before`` is the line before it if others read alike.
    """

    path: str
    line: str
    changed: str
    reason: str
    before: str = ""

    def is_change(self, old: list[str], new: list[str]) -> bool:
        """Whether these lines, old and new, are the change."""
        return old == [self.line] and new == [self.changed or "".join(new)] != old


_OTHERS: Final = (
    "others = ((rule, rule.follow(leader, before).truncation_offset) for rule in rules[%s])"
)
_NEWEST: Final = "newest = max(map(_timestamp, segments), default=-%s)"
_NO_OFFSET: Final = "if start %s next_offset:"
_CHEAPEST: Final = 'return "offset" if "offset" in names else names[%s]'
_MIXED: Final = "mixed ^= (run.crc[part] ^ run.crc_computed[part] << 1).astype(np.uint64) %s crc"
_CACHED: Final = "read = (_read_small if version.size_in_bytes %s _SMALL else _read_large)("
_REBUILT: Final = "rebuild = index_rebuild(directory, log_load, fate.hidden %s cut.sound, count)"
_NEEDLESS: Final = (
    "kept_until %s end and max(first_cut, target, leader.log_start_offset) < common_end"
)
_COLUMNS: Final = "columns = zip(*self._parts, strict=%s) if self._parts else [()] * 4"
_NO_EPOCH: Final = (
    "greatest = max((e.leader_epoch for e in replica.epoch_entries or ()), default=-%s)"
)
_OVERLAP: Final = "if first %s following:"
_ENDS_FIRST: Final = "if one[here][1] %s other[there][1]:"
_STARTS: Final = "for start in sorted({start for _, start in (*one, *other) if start %s end}):"
_OTHER_REPLICAS: Final = "for replica in replicas[%s]:"
_CODEC: Final = "if run.magic[0] != MAGIC or not run.has_known_codec[%s]:"
_IN_A_ROW: Final = "in_a_row = in_a_row + 1 if length %s _MIN_OF.get(magic, _NEVER) else 0"
_HELD: Final = "held = run.held_records(slice(int(at[0]), int(at[-1]) + %s))[at - at[0]]"
_HOLDER: Final = (
    "holder = next((each for each in holders if each.replica in branch.replicas), holders[%s])"
)
_FIRST_OF_EQUAL: Final = (
    "return min(equal, key=lambda copy: _base(copy.replica)) if len(equal) > 1 else equal[%s]"
)
_INTACT_UP_TO: Final = "side.intact_up_to = end if stream.is_intact else %s"
_INDEXED: Final = "if (entry := index.last_below_offset(offset)) >= %s:"
_FEW_FOLDERS: Final = "few = list(islice(folders, self._max_folders + %s))"
_MOMENTS: Final = (
    'attribute=("timestamp",), value=numbers if isinstance(pushed, In) else numbers[%s]'
)
_KEPT_OF: Final = "kept_of.append((kept[%s], copies))"
_WRONG: Final = (
    'names = f"option {wrong[%s]} does" if len(wrong) == 1 else f"options {\', \'.join(wrong)} do"'
)
_KEPT: Final = "found[topic, partition] = kept[%s]"
_NARROWED: Final = "low, high = (low, middle - 1) if offset %s relative_offset else (middle, high)"
_SET_ASIDE: Final = (
    "if len(ids) == 1 and not is_set_aside and _is_served(paths[%s], context, topics):"
)
_PATIENT: Final = "if found and in_a_row %s self._patience:"
_OUTSIDE: Final = "if start %s 0 or start + size %s len(self._window):"
_UNNAMED: Final = (
    'return directory.topic or "", %s if directory.partition is None else directory.partition'
)
_BEFORE_BASE: Final = "start = _log_start(copy.replica) if base %s copy is not best else base"
_KEPT_SNAPSHOTS: Final = (
    "self._snapshots = {each for each in self._snapshots if log_start %s each <= offset}"
)
_COMPLETE: Final = "if start %s offset:"
_BELOW: Final = "if segment.base_offset %s offset and segment.recovered is None:"
_LOOKED_UP: Final = (
    "if segment.base_offset %s start and segment.files.offset_index_size is not None:"
)
_NEWEST_STRAY: Final = "if stray is not None and stray %s newest:"
_TAKEN: Final = "if self._rule.keeps_producers and not (found.overflows %s found.falls):"
_BETWEEN: Final = "if not 0 %s number < len(self.segments):"
_WITHOUT_SEGMENT: Final = "return SoundPrefix(self._log_start, %s, is_whole=True)"
_NEW_END: Final = "if not (%s):"
_ROUNDED: Final = (
    "rounded = 1 << max(size %s, %s).bit_length()  # few sizes, so that most blocks fit again"
)
EQUIVALENT: Final = (
    Equivalent(
        path="kafkalog_reader/audits/recovery/batches.py",
        line="window_size = min(max(4 * (self.end_position - started), 64 << 10), WINDOW_SIZE)",
        changed="",
        reason="how much is read at once changes no result",
    ),
    Equivalent(
        path="kafkalog_reader/audits/recovery/batches.py",
        line='self._window, self._origin = memoryview(b""), 0',
        changed='self._window, self._origin = memoryview(b""), -1',
        reason="an empty window holds no position, and the next one has an origin of its own",
    ),
    Equivalent(
        path="kafkalog_reader/audits/recovery/index.py",
        line="_WARM_ENTRIES: Final = 8192 // OFFSET_INDEX_ENTRY.size",
        changed="_WARM_ENTRIES: Final = 8193 // OFFSET_INDEX_ENTRY.size",
        reason="an entry has eight bytes: the quotient is the same",
    ),
    Equivalent(
        path="kafkalog_reader/audits/recovery/index.py",
        line="with Windows(path, size=size * 4096, context=context) as windows:",
        changed="",
        reason="how much is read at once changes no result",
    ),
    Equivalent(
        path="kafkalog_reader/audits/comparison/damaged_stretch.py",
        line="for (start, stop), number in zip(pairwise(borders), chosen, strict=True):",
        changed="for (start, stop), number in zip(pairwise(borders), chosen, strict=False):",
        reason="both are always equally long",
    ),
    Equivalent(
        path="kafkalog_reader/audits/comparison/damaged_stretch.py",
        line="for number, name in zip(self.alike[:, start].tolist(), present, strict=True):",
        changed="for number, name in zip(self.alike[:, start].tolist(), present, strict=False):",
        reason="both are always equally long",
    ),
    Equivalent(
        path="kafkalog_reader/audits/comparison/compared_replicas.py",
        line="for side, (copies, in_sync) in zip(difference.contents, votes, strict=True):",
        changed="for side, (copies, in_sync) in zip(difference.contents, votes, strict=False):",
        reason="there is a vote for each content",
    ),
    Equivalent(
        path="kafkalog_reader/audits/comparison/compared_replicas.py",
        line="max((b.next_offset for b in self.branches() if each in b.replicas), default=0)",
        changed="max((b.next_offset for b in self.branches() if each in b.replicas), default= -1)",
        reason="a log start, with which it is compared, is at least 0",
    ),
    Equivalent(
        path="kafkalog_reader/audits/comparison/compared_log.py",
        line="return self.number < other.number",
        changed="return self.number <= other.number",
        reason="no two logs have the same number",
    ),
    Equivalent(
        path="kafkalog_reader/audits/comparison/equal_batches.py",
        line="FEW: Final = 16",
        changed="FEW: Final = 15",
        reason="only says how many batches are compared in a step",
    ),
    Equivalent(
        path="kafkalog_reader/audits/recovery/segment.py",
        line="if position >= segment.size_in_bytes:",
        changed="if position > segment.size_in_bytes:",
        reason="a walk from the end of the file finds no batch, and gives the base offset, too",
    ),
    Equivalent(
        path="kafkalog_reader/audits/election/election_loss.py",
        line="_NOWHERE: Final = 2**63 - 1",
        changed="_NOWHERE: Final = 2**63 - 2",
        reason="no log reaches either offset",
    ),
    Equivalent(
        path="kafkalog_reader/audits/election/follower_outcome.py",
        line=_OTHERS % "1:",
        changed=_OTHERS % " 0:",
        reason="the first rule gives the target, and only other targets are kept",
    ),
    Equivalent(
        path="kafkalog_reader/audits/election/follower_outcome.py",
        line=_NEEDLESS % "<",
        changed=_NEEDLESS % "<=",
        reason="if all is kept, the first offset cut is the end, which both do not share",
    ),
    Equivalent(
        path="kafkalog_reader/audits/comparison/comparison.py",
        line="for stream in streams[1:]:",
        changed="for stream in streams[ 0:]:",
        reason="a stream equals itself, and is as long as itself",
    ),
    Equivalent(
        path="kafkalog_reader/audits/comparison/undecided.py",
        line=_NO_EPOCH % "1",
        changed=_NO_EPOCH % " 2",
        reason="neither is above the -1 of copies without leader epochs",
    ),
    Equivalent(
        path="kafkalog_reader/audits/recovery/files.py",
        line=_CACHED % "<=",
        changed=_CACHED % ">",
        reason="another cache keeps what was read, with room for more or for less",
    ),
    Equivalent(
        path="kafkalog_reader/audits/recovery/directory_start.py",
        line=_REBUILT % "+",
        changed=_REBUILT % "-",
        reason="with these outcomes the start cuts nothing",
    ),
    Equivalent(
        path="kafkalog_reader/audits/recovery/retention.py",
        line=_NEWEST % "1",
        changed=_NEWEST % " 0",
        reason="without segments the time of the files is 0, and nothing is between 0 and 0",
    ),
    Equivalent(
        path="kafkalog_reader/audits/recovery/retention.py",
        line=_NEWEST % "1",
        changed=_NEWEST % " 2",
        reason="without segments the time of the files is 0, and nothing is between 0 and 0",
    ),
    Equivalent(
        path="kafkalog_reader/audits/recovery/retention.py",
        line=_NEWEST % "1",
        changed="newest = max(map(_timestamp, segments), default=+1)",
        reason="without segments the time of the files is 0, and 1 is not below it",
    ),
    Equivalent(
        path="kafkalog_reader/audits/recovery/index.py",
        line=_NARROWED % ">",
        changed=_NARROWED % ">=",
        reason="an entry with the offset itself has ended the search",
    ),
    Equivalent(
        path="kafkalog_reader/audits/recovery/duplicates.py",
        line=_SET_ASIDE % "0",
        changed=_SET_ASIDE % " 1",
        reason="both folders have the same name and topic id",
    ),
    Equivalent(
        path="kafkalog_reader/audits/recovery/index.py",
        line="middle = (low + high + 1) // 2",
        changed="middle = (low + high + 2) // 2",
        reason="it is above low and not above high, too: the search ends at the same entry",
    ),
    Equivalent(
        path="kafkalog_reader/audits/recovery/directory_start.py",
        line="else _loaded_log(load, self._high_watermarks.get(_key(directory), 0))",
        changed="else _loaded_log(load, self._high_watermarks.get(_key(directory), -1))",
        reason="a high watermark below the log start is raised to it, and that is never below 0",
    ),
    Equivalent(
        path="kafkalog_reader/audits/recovery/load.py",
        line="size = sizes[kind] or 0",
        changed="size = sizes[kind] or 1",
        reason="neither number of bytes holds an entry",
    ),
    Equivalent(
        path="kafkalog_reader/audits/recovery/batches.py",
        line=_IN_A_ROW % ">=",
        changed=_IN_A_ROW % ">",
        reason="both ways to read the smallest batches find the same, one of them faster",
    ),
    Equivalent(
        path="kafkalog_reader/audits/recovery/batches.py",
        line="self._patience = min(2 * self._patience + 1, _FOREIGN_AT_ONCE)",
        changed="",
        reason="when the kernel reads on changes no result",
    ),
    Equivalent(
        path="kafkalog_reader/audits/recovery/batches.py",
        line="self._patience = 0",
        changed="",
        reason="when the kernel reads on changes no result",
    ),
    Equivalent(
        path="kafkalog_reader/audits/recovery/batches.py",
        line=_PATIENT % ">",
        changed=_PATIENT % ">=",
        reason="when the kernel reads on changes no result",
    ),
    Equivalent(
        path="kafkalog_reader/audits/recovery/batches.py",
        line=_OUTSIDE % ("<", ">"),
        changed=_OUTSIDE % ("<=", ">"),
        reason="what is read once more is the same",
    ),
    Equivalent(
        path="kafkalog_reader/audits/recovery/batches.py",
        line=_OUTSIDE % ("<", ">"),
        changed=_OUTSIDE % ("<", ">="),
        reason="what is read once more is the same",
    ),
    Equivalent(
        path="kafkalog_reader/audits/recovery/files.py",
        line="_MAX_NUMBER: Final = 100",
        changed="_MAX_NUMBER: Final = 101",
        reason="brokers never write numbers of that length",
    ),
    Equivalent(
        path="kafkalog_reader/audits/recovery/directory_start.py",
        line=_UNNAMED % "-1",
        changed=_UNNAMED % "+1",
        reason="no checkpoint names a partition of a topic without a name",
    ),
    Equivalent(
        path="kafkalog_reader/audits/election/election_loss.py",
        line=_OVERLAP % "<",
        changed=_OVERLAP % "<=",
        reason="an empty range has no offset",
    ),
    Equivalent(
        path="kafkalog_reader/audits/election/election_loss.py",
        line=_ENDS_FIRST % "<",
        changed=_ENDS_FIRST % "<=",
        reason="of two ranges that end together, the second is left behind by the next step",
    ),
    Equivalent(
        path="kafkalog_reader/audits/election/election_loss.py",
        line=_NO_OFFSET % ">=",
        changed=_NO_OFFSET % ">",
        reason="a range that begins at its end is in none of the lists",
    ),
    Equivalent(
        path="kafkalog_reader/audits/comparison/damaged_batches.py",
        line=_COLUMNS % "True",
        changed=_COLUMNS % "False",
        reason="each part has the same four columns",
    ),
    Equivalent(
        path="kafkalog_reader/audits/comparison/damaged_batches.py",
        line="if room < len(ahead):",
        changed="if room <= len(ahead):",
        reason="if all fit exactly, none is left out",
    ),
    Equivalent(
        path="kafkalog_reader/audits/comparison/compared_replicas.py",
        line="if not held[0] or held[0] != held[1]:",
        changed="if not held[ -1] or held[0] != held[1]:",
        reason="if only one of two is empty, they are not equal",
    ),
    Equivalent(
        path="kafkalog_reader/audits/comparison/branch.py",
        line=_MIXED % "*",
        changed=_MIXED % "+",
        reason="any mixture tells batches apart; this one is less likely to",
    ),
    Equivalent(
        path="kafkalog_reader/audits/comparison/branch.py",
        line="_MODULUS: Final = 1 << 64",
        changed="_MODULUS: Final = 1 << 63",
        reason="fingerprints are one bit shorter",
    ),
    Equivalent(
        path="spark_datasource/reader.py",
        line=_CHEAPEST % "0",
        changed=_CHEAPEST % " -1",
        reason="every column has as many rows, and tables without offsets are small",
    ),
    Equivalent(
        path="kafkalog_reader/tables/epoch_fork.py",
        line=_STARTS % "<",
        changed=_STARTS % "<=",
        reason="the end is also the answer if epochs differ there",
    ),
    Equivalent(
        path="kafkalog_reader/audits/election/branch_records.py",
        line="if first_offset >= next_offset:",
        changed="if first_offset > next_offset:",
        reason="an empty range has no records, however they are counted",
    ),
    Equivalent(
        path="kafkalog_reader/audits/election/election_loss.py",
        line=_OTHER_REPLICAS % "1:",
        changed=_OTHER_REPLICAS % " 0:",
        reason="what is hidden in the first replica is hidden in it and itself",
    ),
    Equivalent(
        path="kafkalog_reader/audits/election/truncation_rule.py",
        line="if is_complete or cut == follower:",
        changed="if is_complete and cut == follower:",
        reason="one more round asks the same again; an incomplete round always cuts an epoch",
    ),
    Equivalent(
        path="kafkalog_reader/audits/comparison/same_records.py",
        line=_CODEC % "0",
        changed=_CODEC % " -1",
        reason="the run has one batch",
    ),
    Equivalent(
        path="kafkalog_reader/audits/comparison/damaged_stretch.py",
        line="return found, number.reshape(-1).astype(np.int32)",
        changed="return found, number.reshape(- 2).astype(np.int32)",
        reason="numpy takes any negative length for the one that follows from the others",
    ),
    Equivalent(
        path="kafkalog_reader/audits/comparison/damaged_batches.py",
        line=_HELD % "1",
        changed=_HELD % "2",
        reason="one batch more is counted, or none at the end of the run, and not taken",
    ),
    Equivalent(
        path="kafkalog_reader/audits/comparison/comparison.py",
        line="most = _limit(streams[0], [*self._waiting])",
        changed="most = _limit(streams[ -1], [*self._waiting])",
        reason="the stretch ends where the last offsets of the streams differ",
    ),
    Equivalent(
        path="kafkalog_reader/audits/election/cut_transactions.py",
        line="if end > shared:",
        changed="if end >= shared:",
        reason="no marker is in an empty range",
    ),
    Equivalent(
        path="kafkalog_reader/audits/election/follow.py",
        line="break",
        changed="continue",
        reason="each round removes an entry or records, so that none leaves the log unchanged",
        before="outcome = FollowingEnd.LOOPS",
    ),
    Equivalent(
        path="kafkalog_reader/audits/election/candidate.py",
        line="records_cut_at_start: int = 0",
        changed="records_cut_at_start: int = -1",
        reason="the audit gives the number for every candidate",
    ),
    Equivalent(
        path="kafkalog_reader/audits/election/candidate.py",
        line="damaged: int = 0",
        changed="damaged: int = -1",
        reason="the audit gives the number for every candidate",
    ),
    Equivalent(
        path="kafkalog_reader/audits/election/candidates.py",
        line="rank: int = 0",
        changed="rank: int = -1",
        reason="every election gets its rank before anybody sees it",
    ),
    Equivalent(
        path="kafkalog_reader/audits/election/candidates.py",
        line="rank: int = 0",
        changed="rank: int = 1",
        reason="every election gets its rank before anybody sees it",
    ),
    Equivalent(
        path="kafkalog_reader/audits/election/election_loss.py",
        line=_HOLDER % "0",
        changed=_HOLDER % " -1",
        reason="these holders have the same bytes in the range, and so as many records",
    ),
    Equivalent(
        path="kafkalog_reader/audits/comparison/damaged_stretch.py",
        line="size = min(FEW * size, most)",
        changed="size = min(FEW + size, most)",
        reason="how much is read at once changes no result",
    ),
    Equivalent(
        path="kafkalog_reader/scan/log_tail.py",
        line="if not 0 < windows.stop - windows.start <= _TAIL.window_size:",
        changed="if not 1 < windows.stop - windows.start <= _TAIL.window_size:",
        reason="one byte holds no batch: the slow way says so, too",
    ),
    Equivalent(
        path="kafkalog_reader/scan/log_tail.py",
        line="if count == 0 or valid < count or stop < len(window):",
        changed="if count == 1 or valid < count or stop < len(window):",
        reason="the slow way reads the same batches",
    ),
    Equivalent(
        path="kafkalog_reader/tables/epoch_fork.py",
        line="segment, start = log[number], 0",
        changed="segment, start = log[number], -1",
        reason="a scan begins at the first batch of its segment at the earliest",
    ),
    Equivalent(
        path="kafkalog_reader/tables/epoch_fork.py",
        line="if None in epochs or epochs[0] != epochs[1]:",
        changed="if None in epochs or epochs[ 1] != epochs[1]:",
        reason="batches whose epochs differ there make the same fork below",
    ),
    Equivalent(
        path="kafkalog_reader/tables/best_replica.py",
        line=_FIRST_OF_EQUAL % "0",
        changed=_FIRST_OF_EQUAL % " -1",
        reason="there is one",
    ),
    Equivalent(
        path="kafkalog_reader/audits/election/metadata_replay.py",
        line="yield from zip(*columns, strict=True)",
        changed="yield from zip(*columns, strict=False)",
        reason="columns of one batch of rows have the same length",
    ),
    Equivalent(
        path="kafkalog_reader/audits/recovery/directory_start.py",
        line="log_start=self._log_starts.get(key, 0),",
        changed="log_start=self._log_starts.get(key, -1),",
        reason="no log begins below 0: the first segment counts in both cases",
    ),
    Equivalent(
        path="kafkalog_reader/audits/comparison/branch.py",
        line="fingerprint = known + _fingerprint(run, slice(start, stop))",
        changed="fingerprint = known - _fingerprint(run, slice(start, stop))",
        reason="the sum of the same batches is as good with the other sign",
    ),
    Equivalent(
        path="kafkalog_reader/tables/best_replica.py",
        line="for replica, tail in zip(replicas, tails, strict=True)",
        changed="for replica, tail in zip(replicas, tails, strict=False)",
        reason="there is a tail for each replica",
    ),
    Equivalent(
        path="kafkalog_reader/audits/comparison/overlapping_batches.py",
        line=_INTACT_UP_TO % "0",
        changed=_INTACT_UP_TO % "-1",
        reason="an end with which it is compared is at least 1",
    ),
    Equivalent(
        path="kafkalog_reader/audits/comparison/compared_replicas.py",
        line="if fork is None or fork >= low:",
        changed="if fork is None or fork > low:",
        reason="where two logs part, each has an offset: neither ends there",
    ),
    Equivalent(
        path="kafkalog_reader/tables/epoch_fork.py",
        line=_INDEXED % "0",
        changed=_INDEXED % "1",
        reason="from the start of the segment the same batch is found",
    ),
    Equivalent(
        path="spark_datasource/gathering.py",
        line="if rows.num_rows >= ENOUGH_ROWS or rows.nbytes > ENOUGH_BYTES:",
        changed="if rows.num_rows >= ENOUGH_ROWS or rows.nbytes >= ENOUGH_BYTES:",
        reason="a batch of exactly this size waits alone, and is passed on unchanged",
    ),
    Equivalent(
        path="kafkalog_reader/scan/batch_finder.py",
        line="if _is_compressed_message(header) and base_offset <= offset:",
        changed="if _is_compressed_message(header) and base_offset < offset:",
        reason="at the base offset both ways return it",
    ),
    Equivalent(
        path="spark_datasource/known_plans.py",
        line=_FEW_FOLDERS % "1",
        changed=_FEW_FOLDERS % "2",
        reason="one folder more is counted, and the plan is too large either way",
    ),
    Equivalent(
        path="spark_datasource/pushdown.py",
        line=_MOMENTS % "0",
        changed=_MOMENTS % " -1",
        reason="there is one moment",
    ),
    Equivalent(
        path="spark_datasource/followed_copies.py",
        line=_KEPT % "0",
        changed=_KEPT % " -1",
        reason="no two copies have the same path",
    ),
    Equivalent(
        path="spark_datasource/followed_copies.py",
        line=_KEPT_OF % "0",
        changed=_KEPT_OF % " -1",
        reason="no two copies have the same path",
    ),
    Equivalent(
        path="spark_datasource/option_names.py",
        line=_WRONG % "0",
        changed=_WRONG % " -1",
        reason="there is one name",
    ),
    Equivalent(
        path="spark_datasource/followed_copies.py",
        line="if topic is None or partition is None:",
        changed="if topic is None and partition is None:",
        reason="a directory name has both, or neither is known",
    ),
    Equivalent(
        path="spark_datasource/followed_copies.py",
        line="if replica.topic is not None and replica.partition is not None:",
        changed="if replica.topic is not None or replica.partition is not None:",
        reason="a directory name has both, or neither is known",
    ),
    Equivalent(
        path="spark_datasource/reader.py",
        line="if topic is not None and partition is not None:",
        changed="if topic is not None or partition is not None:",
        reason="a directory name has both, or neither is known",
    ),
    Equivalent(
        path="kafkalog_reader/tables/best_replica.py",
        line=_BEFORE_BASE % "and",
        changed=_BEFORE_BASE % "or",
        reason="no log starts below its own first segment, nor below 0",
    ),
    Equivalent(
        path="kafkalog_reader/audits/recovery/producers.py",
        line=_KEPT_SNAPSHOTS % "<",
        changed=_KEPT_SNAPSHOTS % "<=",
        reason="a snapshot at the log start and none begin at the same offset",
    ),
    Equivalent(
        path="kafkalog_reader/audits/recovery/producers.py",
        line=_NEWEST_STRAY % ">=",
        changed=_NEWEST_STRAY % ">",
        reason="a stray snapshot is at no base; without a segment nothing is read",
    ),
    Equivalent(
        path="kafkalog_reader/audits/recovery/load.py",
        line=_BETWEEN % "<",
        changed=_BETWEEN % "<=",
        reason="no segment ends below the first one",
    ),
    Equivalent(
        path="kafkalog_reader/audits/recovery/load.py",
        line=_WITHOUT_SEGMENT % "self._log_start - 1",
        changed="",
        reason="without a segment nothing is hidden",
    ),
    Equivalent(
        path="kafkalog_reader/scan/recycled_memory.py",
        line=_ROUNDED % ("- 1", "63"),
        changed=_ROUNDED % ("+ 1", "63"),
        reason="a larger block, or another smallest one, holds as much",
    ),
    Equivalent(
        path="kafkalog_reader/scan/recycled_memory.py",
        line=_ROUNDED % ("- 1", "63"),
        changed=_ROUNDED % ("- 1", " 62"),
        reason="a larger block, or another smallest one, holds as much",
    ),
    Equivalent(
        path="kafkalog_reader/scan/recycled_memory.py",
        line=_ROUNDED % ("- 1", "63"),
        changed=_ROUNDED % ("- 1", " 64"),
        reason="a larger block, or another smallest one, holds as much",
    ),
)
SIZES: Final = {
    "kafkalog_reader/audits/comparison/damaged_batches.py": ("MAX",),
    "kafkalog_reader/audits/recovery/batches.py": (
        "_FOREIGN_AT_ONCE",
        "_FOREIGN_WINDOW",
        "_NEVER",
    ),
    "kafkalog_reader/audits/recovery/files.py": ("_SMALL",),
    "kafkalog_reader/scan/batch_finder.py": ("_FIRST_WINDOW", "_MAX_WINDOW", "_PROBE"),
    "kafkalog_reader/scan/batch_run.py": ("MAX_RUN", "_APART"),
    "kafkalog_reader/scan/column_scan.py": ("_AT_ONCE",),
    "kafkalog_reader/scan/recycled_memory.py": ("MAX_KEPT_BYTES", "MAX_KEPT"),
    "kafkalog_reader/scan/scan.py": ("_FIRST_READ",),
    "spark_datasource/gathering.py": ("ENOUGH_BYTES",),
    "spark_datasource/known_plans.py": ("MAX_FOLDERS",),
}
"""How much is read or kept at once: one more or less takes other time, with the same result."""
_CACHE_SIZE: Final = re.compile(r"(lru_cache\(maxsize=) *\d+")
"""How many results are kept changes none of them."""


def is_equivalent(path: str, diff: str) -> bool:
    """Whether a diff of one file is one of the changes above."""
    lines = diff.splitlines()[2:]
    old = [line[1:].strip() for line in lines if line.startswith("-")]
    new = [line[1:].strip() for line in lines if line.startswith("+")]
    starts = tuple(f"{name}: Final = " for name in SIZES.get(path, ()))
    if len(old) == len(new) == 1 and old[0].startswith(starts) and new[0].startswith(starts):
        return True
    kept = [[_CACHE_SIZE.sub(r"\1", line) for line in each] for each in (old, new)]
    if old != new and kept[0] == kept[1]:
        return True
    first = next((number for number, line in enumerate(lines) if line.startswith("-")), 0)
    before = lines[first - 1][1:].strip() if first else ""
    return any(
        each.path == path and each.is_change(old, new) and each.before in ("", before)
        for each in EQUIVALENT
    )
