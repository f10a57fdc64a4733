"""One session, from trigger to episode: memory before, the agent, memory after."""

from collections.abc import Mapping
from dataclasses import dataclass

from memory_butler.domain.errors import ConfigurationError
from memory_butler.engine.memory import utc_now
from memory_butler.host.agent import Agent, Outcome, Server, Task
from memory_butler.host.butler import Butler
from memory_butler.host.extraction import Extract, extract, from_last_words, of_failure
from memory_butler.host.prompt import system_prompt
from memory_butler.host.remembrance import Remembrance
from memory_butler.host.sessions import Session
from memory_butler.host.spool import SpooledEpisode
from memory_butler.inference.language_models.port import LanguageModel


@dataclass(frozen=True, slots=True)
class Spawner:
    """What runs the sessions of one butler.

    Attributes:
        servers: what each session is wired to, by name: memory, and the butler's own tools.
        model: what sums sessions up; None leaves that to the agent's last words.
    """

    butler: Butler
    agent: Agent
    remembrance: Remembrance
    servers: Mapping[str, Server]
    model: LanguageModel | None

    async def run(self, session: Session) -> Outcome:
        """Run a session (SPN-01, SPN-02) and see to its episode (INT-01).

        Raises:
            ConfigurationError: the agent is not installed; there was no session.
        """
        self.agent.program()  # before memory is asked for anything
        block = await self.remembrance.block(session.prompt, session.id)
        system = system_prompt(self.butler, block)
        try:
            outcome = await self.agent.run(Task(system, session.prompt, block, self.servers))
        except ConfigurationError:
            raise
        except BaseException:
            # Stopped in the middle: what happened is kept before the butler goes.
            self._keep(session, of_failure(session.prompt, "stopped"))
            raise
        session.outcome = outcome
        if outcome.failure is not None:
            extracted = of_failure(session.prompt, outcome.failure)
        else:
            try:
                extracted = await extract(session.prompt, outcome.answer, self.model)
            except BaseException:
                # Stopped while a model sums it up: the agent's own words must do.
                self._keep(session, from_last_words(session.prompt, outcome.answer))
                raise
        session.remembered = await self.remembrance.remember(self._episode(session, extracted))
        return outcome

    def _keep(self, session: Session, extracted: Extract) -> None:
        self.remembrance.spool.put(self._episode(session, extracted))

    def _episode(self, session: Session, extracted: Extract) -> SpooledEpisode:
        return SpooledEpisode(
            # The session's own: sent twice, it is stored once.
            episode_id=str(session.id),
            content=extracted.content,
            butler=self.butler.name,
            session_id=str(session.id),
            importance=extracted.importance,
            occurred_at=utc_now().isoformat(),
            metadata={"trigger_source": session.source},
        )
