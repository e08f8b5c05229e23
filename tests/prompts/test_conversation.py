"""What was answered is not asked again, what breaks its schema is, and a budget is kept."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from prompts.conversation import Budget, BudgetSpentError, Conversation
from prompts.engine import EngineError, Reply, Request
from prompts.engines.replay import Replay, ReplaySettings
from prompts.ledger import Ledger
from tests.prompts.conftest import NONSENSE, TRUE, Scripted, questions


class Killed(Scripted):
    """Answers so many chunks and then dies."""

    def __init__(self, chunks: int) -> None:
        super().__init__()
        self.left = chunks

    def reply(self, requests: Sequence[Request]) -> list[Reply]:
        if not self.left:
            raise KeyboardInterrupt
        self.left -= 1
        return super().reply(requests)


def test_answers_come_in_the_order_of_the_requests(ledger: Ledger) -> None:
    engine = Scripted(lambda request: '{"value":%s}' % ("true" if request.subject == "a-02" else "false"))
    answers = Conversation(engine, ledger, chunk_size=2).ask(questions(4))
    assert [answer.value for answer in answers] == [False, False, True, False]
    assert [len(batch) for batch in engine.batches] == [2, 2]


def test_the_same_request_twice_is_asked_once(ledger: Ledger) -> None:
    engine = Scripted()
    assert len(Conversation(engine, ledger).ask(questions(2) + questions(2))) == 4
    assert [len(batch) for batch in engine.batches] == [2]


def test_a_chunk_is_recorded_before_the_next_is_asked_and_a_killed_run_loses_one_at_most(ledger: Ledger) -> None:
    with pytest.raises(KeyboardInterrupt):
        Conversation(Killed(chunks=2), ledger, chunk_size=3).ask(questions(10))
    assert len(ledger) == 6
    engine = Scripted()
    answers = Conversation(engine, ledger, chunk_size=3).ask(questions(10))
    assert all(answer is not None for answer in answers)
    assert [request.subject for batch in engine.batches for request in batch] == [f"a-{at:02d}" for at in range(6, 10)]


def test_an_answer_that_breaks_its_schema_is_asked_again_with_another_draw(ledger: Ledger) -> None:
    replies = iter([NONSENSE, '{"value":"yes"}', TRUE])
    engine = Scripted(lambda _: next(replies))
    [answer] = Conversation(engine, ledger).ask(questions(1))
    assert answer.value is True
    draws = [(batch[0].sampling.seed, batch[0].sampling.temperature) for batch in engine.batches]
    assert draws == [(0, 0.0), (1, 0.7), (2, 0.7)]
    assert [entry.problem for entry in ledger.entries()] == ["the whole: json_invalid", "value: bool_type", None]


def test_the_answer_is_that_of_the_valid_attempt_and_earlier_attempts_are_kept_in_order(ledger: Ledger) -> None:
    given = ["first", "second", '{"value":false}']
    replies = iter(given)
    [answer] = Conversation(Scripted(lambda _: next(replies)), ledger).ask(questions(1))
    assert answer.value is False
    assert [(entry.attempt, entry.answer) for entry in ledger.entries()] == list(enumerate(given, 1))
    [again] = Conversation(Replay(ReplaySettings(), ledger), ledger).ask(questions(1))
    assert again == answer


def test_of_two_valid_attempts_the_first_counts(ledger: Ledger) -> None:
    """A recorded answer stays the answer, whatever is recorded after it."""
    Conversation(Scripted(), ledger).ask(questions(1))
    [row] = ledger.entries()
    ledger.record([row.model_copy(update={"attempt": 2, "answer": '{"value":false}'})])
    [answer] = Conversation(Scripted(), ledger).ask(questions(1))
    assert answer.value is True


def test_after_three_answers_that_break_the_schema_a_value_is_missing_and_counted_and_not_asked_again(
    ledger: Ledger,
) -> None:
    conversation = Conversation(Scripted(lambda _: NONSENSE), ledger)
    assert conversation.ask(questions(1)) == [None]
    [count] = conversation.counts()
    assert (count.requests, count.refused, count.missing) == (1, 3, 1)
    engine = Scripted()
    assert Conversation(engine, ledger).ask(questions(1)) == [None]
    assert engine.batches == []


def test_a_run_killed_between_two_attempts_goes_on_with_the_next(ledger: Ledger) -> None:
    class Dies(Scripted):
        def reply(self, requests: Sequence[Request]) -> list[Reply]:
            if self.batches:
                raise KeyboardInterrupt
            return super().reply(requests)

    with pytest.raises(KeyboardInterrupt):
        Conversation(Dies(lambda _: NONSENSE), ledger).ask(questions(1))
    engine = Scripted()
    Conversation(engine, ledger).ask(questions(1))
    assert [batch[0].sampling.seed for batch in engine.batches] == [1]


def test_why_an_answer_was_refused_does_not_quote_it(ledger: Ledger) -> None:
    secret = "quetzalcoatlus"
    Conversation(Scripted(lambda _: f'{{"value":"{secret}"}}'), ledger).ask(questions(1))
    assert all(secret not in str(entry.problem) for entry in ledger.entries())


def test_progress_is_told_of_recorded_answers_too(ledger: Ledger) -> None:
    Conversation(Scripted(), ledger).ask(questions(3))
    told: list[int] = []
    Conversation(Scripted(), ledger, chunk_size=2, told=told.append).ask(questions(6))
    assert told == [3, 2, 1]


@pytest.mark.parametrize("recorded", [0, 4])
def test_the_budget_of_requests_stops_before_it_is_passed_whether_answers_were_recorded_or_not(
    recorded: int, ledger: Ledger
) -> None:
    Conversation(Scripted(), ledger).ask(questions(recorded))
    conversation = Conversation(Scripted(), ledger, budget=Budget(requests=4))
    conversation.ask(questions(4))
    with pytest.raises(BudgetSpentError, match="allows 4 requests; the next step would make them 5"):
        conversation.ask(questions(5))


def test_the_budget_of_tokens_stops_the_step_after_it_is_spent(ledger: Ledger) -> None:
    conversation = Conversation(Scripted(), ledger, budget=Budget(tokens=30))
    conversation.ask(questions(2))
    with pytest.raises(BudgetSpentError, match="allows 30 tokens, and 30 are spent"):
        conversation.ask(questions(3))


def test_times_are_those_of_the_ledger(ledger: Ledger) -> None:
    conversation = Conversation(Scripted(), ledger)
    conversation.ask(questions(4))
    [time] = conversation.times()
    assert (time.template, time.answers, time.seconds, time.sd) == ("extract_feature", 4, 0.5, 0.0)


def test_replay_answers_from_the_ledger_and_names_what_is_missing(ledger: Ledger) -> None:
    Conversation(Scripted(), ledger).ask(questions(2))
    replay = Replay(ReplaySettings(), ledger)
    assert [answer.value for answer in Conversation(replay, ledger).ask(questions(2))] == [True, True]
    with pytest.raises(
        EngineError, match=r"no answer of scripted to 1 requests, the first of them extract_feature\.1 about a-02"
    ):
        Conversation(replay, ledger).ask(questions(3))


def test_replay_takes_three_refused_attempts_as_a_missing_value(ledger: Ledger) -> None:
    Conversation(Scripted(lambda _: NONSENSE), ledger).ask(questions(1))
    conversation = Conversation(Replay(ReplaySettings(), ledger), ledger)
    assert conversation.ask(questions(1)) == [None]
    assert [count.missing for count in conversation.counts()] == [1]


@pytest.mark.parametrize("attempts", [1, 2])
def test_replay_refuses_to_take_fewer_attempts_as_a_missing_value(attempts: int, ledger: Ledger) -> None:
    Conversation(Scripted(lambda _: NONSENSE), ledger).ask(questions(1))
    [*rows] = ledger.entries()
    with Ledger(ledger.path.with_name("stopped.sqlite")) as stopped:
        stopped.record(rows[:attempts])
        replay = Replay(ReplaySettings(), stopped)
        with pytest.raises(EngineError, match=r"no answer of scripted to 1 requests"):
            Conversation(replay, stopped).ask(questions(1))
        assert len(stopped) == attempts


def test_replay_with_a_missing_answer_records_nothing_and_gives_none_of_the_others(ledger: Ledger) -> None:
    Conversation(Scripted(), ledger).ask([questions(3)[0], questions(3)[2]])
    with pytest.raises(EngineError, match=r"no answer of scripted to 1 requests, .* about a-01"):
        Conversation(Replay(ReplaySettings(), ledger), ledger).ask(questions(3))
    assert len(ledger) == 2


def test_replay_wants_to_know_whose_answers_where_the_ledger_has_several_models(ledger: Ledger) -> None:
    with pytest.raises(EngineError, match="found: none"):
        Replay(ReplaySettings(), ledger)
    Conversation(Scripted(), ledger).ask(questions(1))
    other = Scripted()
    other.model = "another"
    Conversation(other, ledger).ask(questions(1))
    with pytest.raises(EngineError, match="found: another at 1; scripted at 1"):
        Replay(ReplaySettings(), ledger)
    assert Replay(ReplaySettings(model="another"), ledger).model == "another"
