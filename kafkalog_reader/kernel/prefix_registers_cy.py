# cython: boundscheck=False, wraparound=False, initializedcheck=False, nonecheck=False
# ruff: noqa: ANN401  numpy arrays, whose types the compiled kernel checks itself
"""The registers of both CRCs at any position of a window, in constant time.

They are noted before every 16 bytes, in windows where one is asked for. The CRC of a range follows
from the registers at its two ends, however long it is.
"""

from __future__ import annotations

from typing import Any

import cython
from cython.cimports.kafkalog_reader.kernel.primitives import (
    find_differences,
    find_registers,
    note_registers,
    prepare_checksums,
    prepare_crc_shift,
    register_at,
    write_uint32,
)

prepare_checksums()


@cython.final
@cython.cclass
class PrefixRegisters:
    """Registers of one window after the other; what C needs to know stands in the ``.pxd``.

    Args:
        room: has numpy arrays, uint32: ``registers``, one entry more than a window has blocks of
            16 bytes, and ``message_registers``, four times as long.

    Attributes:
        blocks: how many there is room for.
    """

    def __init__(self, room: Any) -> None:
        prepare_crc_shift()
        self._owners = room  # the pointers lead into it
        self._registers = write_uint32(room.registers)
        self._message_registers = write_uint32(room.message_registers)
        self.blocks = min(len(room.registers), len(room.message_registers) // 4) - 1
        self._register = self._message_register = 0
        self._noted = False
        self._size = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def begin(self, source: cython.p_const_uchar, size: cython.Py_ssize_t) -> cython.void:
        """Go on with the next window."""
        self._source = source
        self._size = size
        self._noted = False

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def note(self) -> cython.void:
        """Note the registers of the window, unless they are noted."""
        if not self._noted:
            note_registers(
                self._registers,
                self._register,
                self._message_registers,
                self._message_register,
                self._source,
                self._size,
            )
            self._noted = True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def carry(self, at: cython.Py_ssize_t, needed: cython.bint) -> cython.void:
        """Let the next window, which begins at ``at``, go on from the registers there.

        Not ``needed``, it begins anew: nobody remembers what came before.
        """
        register: cython.uint = 0
        message_register: cython.uint = 0
        if needed:
            self.note()
            register = self._carried(at, True)
            message_register = self._carried(at, False)
        self._register = register
        self._message_register = message_register

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _carried(self, at: cython.Py_ssize_t, castagnoli: cython.bint) -> cython.uint:
        return register_at(
            castagnoli, at, self._source, self._size, self._registers, self._message_registers
        )

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def differences(
        self,
        found: cython.p_uint,
        positions: cython.pointer[cython.const[cython.int]],
        count: cython.Py_ssize_t,
    ) -> cython.void:
        """What the registers at the ends of entries are, and what their CRCs demand.

        Args:
            found: filled with the difference, 0 for a right CRC; where the end lies behind the
                window, with the register that is demanded there.
            positions: of whole headers in the window.
            count: how many.
        """
        if count > 0:
            self.note()
            find_differences(
                found,
                positions,
                count,
                self._source,
                self._size,
                self._registers,
                self._message_registers,
            )

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def at_ends(
        self,
        found: cython.p_uint,
        ends: cython.pointer[cython.const[cython.int]],
        count: cython.Py_ssize_t,
    ) -> cython.void:
        """Fill ``found`` with the registers at positions; those of messages at ``~position``."""
        if count > 0:
            self.note()
            find_registers(
                found,
                ends,
                count,
                self._source,
                self._size,
                self._registers,
                self._message_registers,
            )
