from selfcorrect.ledger.memory import MemoryLedger as MemoryLedger
from selfcorrect.ledger.sqlite import SqliteLedger as SqliteLedger
