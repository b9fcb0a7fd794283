"""What findings mean to the program: every set of codes that it uses is a role."""

from __future__ import annotations

from enum import Enum, auto


class Role(Enum):
    """Something that several rules have in common; ``codes_with`` gives their codes."""

    DAMAGE = auto()
    """In a log file: bytes that contradict the format or their neighbours, or cannot be read."""
    DAMAGED_BATCH = auto()
    """Damage to a whole batch, which may still be repaired; a torn one never was complete."""
    FAILS_READERS = auto()
    """Every reader of the log stops there: a wrong checksum, or headers that no longer chain."""
    SUMS_UP_DAMAGE = auto()
    """Which copies of a partition are damaged, or whether others have it intact."""
    NAMES_DAMAGE = auto()
    """Says that a copy is damaged; its place is in other findings, or only other copies show it."""
    PUT_TOGETHER_WRONGLY = auto()
    """Directories that do not go together; each of them may be sound."""
    BY_FOLDER_NAME = auto()
    """Takes the name of the folder for the partition in it."""
    NEVER_SETTLED = auto()
    """Records that are lost, or that only a person can bring back: no order of starts does."""
    BESIDE_THE_LOGS = auto()
    """Severe although every log that was read may be sound."""
    TAIL = auto()
    """The bytes end, or turn to zeros, within a batch."""
    MAY_STOP_RECOVERY = auto()
    """Where a recovery that cuts may have stopped; many of them need not stop it."""
    GAP = auto()
    """Offsets are missing; worse where another replica has them."""
    FOLLOWS_IN_SEGMENT = auto()
    """Explained by damage in the same segment."""
    FOLLOWS_IN_REPLICA = auto()
    """Explained by damage anywhere in the replica."""
    REPAIRED_BEFORE_START = auto()
    """About a start that goes well once files are moved aside or written."""
    REPAIRED_BY_RECOVERY = auto()
    """Of a leader-epoch-checkpoint: a start that reads the whole log may write it by itself."""
    OF_NEXT_START = auto()
    """What a start or an election loses with the files as they are: a plan says so itself."""
    MISLEADS_LOG_END = auto()
    """In the last offset index: the broker looks for the log's end from there."""
    UNLIKE_ITS_LOG = auto()
    """Index entries that fit no batch: the index of the log, or the log, may be another one's."""
    ZERO_TIMES = auto()
    """In the last time index: after a clean shutdown its last entry may be read as time 0."""
    LEFT_BEHIND = auto()
    """A file of a segment that is missing."""
    LOST_END = auto()
    """A checkpoint row that may be all that is left of the end of a log."""
    HIGH_WITH_PEER = auto()
    """Critical only where no other replica holds the records."""
    SEVERAL_REPLICAS = auto()
    """Takes several replicas to find."""
    OF_PRODUCERS = auto()
    """What producers wrote, in a log that is sound."""
    OF_CONSUMERS = auto()
    """What groups committed, about a log that may be sound."""
    ONE_LEADER = auto()
    """Happens when one certain candidate leads."""
    PICTURED = auto()
    """Shown by the picture, the ranges and the table of candidates."""
    NOT_READ = auto()
    """Something was not read: the question cannot be answered in full."""
    REPLICA_NOT_READ = auto()
    """A replica that belongs to the partition was not read."""
