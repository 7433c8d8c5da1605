from selfcorrect.ledger.memory import MemoryLedger as MemoryLedger
from selfcorrect.ledger.postgres import PostgresLedger as PostgresLedger
from selfcorrect.ledger.sqlite import SqliteLedger as SqliteLedger
