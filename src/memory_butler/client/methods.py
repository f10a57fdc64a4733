"""Every operation as a method. Written by tools/make_docs.py."""

from memory_butler.client.butlers import Butlers
from memory_butler.client.calibration import Calibration
from memory_butler.client.conflicts import Conflicts
from memory_butler.client.consolidation import Consolidation
from memory_butler.client.curation import Curation
from memory_butler.client.entities import Entities
from memory_butler.client.episodes import Episodes
from memory_butler.client.erasure import Erasure
from memory_butler.client.everything import Everything
from memory_butler.client.facts import Facts
from memory_butler.client.fragments import Fragments
from memory_butler.client.insight import Insight
from memory_butler.client.items import Items
from memory_butler.client.jobs import Jobs
from memory_butler.client.journal import Journal
from memory_butler.client.links import Links
from memory_butler.client.playbook import Playbook
from memory_butler.client.receipts import Receipts
from memory_butler.client.register import Register
from memory_butler.client.retrieval import Retrieval
from memory_butler.client.rules import Rules
from memory_butler.client.sessions import Sessions
from memory_butler.client.timeline import Timeline
from memory_butler.client.tokens import Tokens
from memory_butler.client.undo import Undo
from memory_butler.client.without import Without


class Methods(
    Episodes,
    Facts,
    Rules,
    Retrieval,
    Curation,
    Insight,
    Entities,
    Consolidation,
    Jobs,
    Undo,
    Calibration,
    Without,
    Journal,
    Fragments,
    Conflicts,
    Playbook,
    Links,
    Register,
    Timeline,
    Receipts,
    Everything,
    Sessions,
    Butlers,
    Items,
    Tokens,
    Erasure,
):
    """All topics together."""
