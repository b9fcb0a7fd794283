"""What the table ``open_transactions`` says of a transaction, and where it reads that."""

from __future__ import annotations

from typing import Final

STATE_TOPIC: Final = "__transaction_state"
"""The internal topic of transaction coordinators."""
ONGOING: Final = "ongoing"
HANGING: Final = "hanging"
NO_COORDINATOR: Final = "no-coordinator"
DAMAGED_COORDINATOR: Final = "coordinator-damaged"
"""A newer state of the transaction may be unreadable, or lost."""
DAMAGED_LOG: Final = "log-damaged"
"""The status of a row without a transaction: damage may hide some in this partition."""
