"""A session about settings of features: it finds what a person likes best, and goes on where it was left."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pydantic import ValidationError

from models.records.errors import OutputError, UsageError
from tasks.asking.box.session import Asked, BoxSession
from tasks.asking.box.settings import BoxFeature, BoxSettings, Levels
from tasks.asking.box.state import FILE, read_answers, save, session_in

WATER = BoxFeature(name="water", lower=85, upper=96, step=1, unit="°C")
COFFEE = BoxFeature(name="coffee", lower=12, upper=22, step=0.5, unit="g")
SETTINGS = BoxSettings(n_initial=4, features=(WATER, COFFEE))
BEST = (7, 9)  # 92 °C, 16.5 g


def likes(levels: Levels) -> float:
    return -sum(abs(level - best) / n for level, best, n in zip(levels, BEST, (11, 20), strict=True))


def answer_as_she_would(session: BoxSession) -> None:
    first, second = session.next_pair()
    session.answer("first" if likes(first) > likes(second) else "second")


@pytest.fixture(scope="module")
def session() -> BoxSession:
    asked = BoxSession(SETTINGS)
    for _ in range(24):
        answer_as_she_would(asked)
    return asked


def test_a_simulated_person_is_recommended_nearly_what_she_likes_best(session: BoxSession) -> None:
    assert likes(session.recommended()) > -0.2
    assert session.n_answers == 24


def test_the_two_settings_differ_and_no_pair_is_asked_twice(session: BoxSession) -> None:
    pairs = [frozenset((one.first, one.second)) for one in session.asked]
    assert all(len(pair) == 2 for pair in pairs)
    assert len(set(pairs)) == len(pairs)
    assert all(0 <= level <= n for pair in pairs for levels in pair for level, n in zip(levels, (11, 20), strict=True))


def test_a_session_goes_on_with_the_same_pair_from_its_answers_alone(session: BoxSession) -> None:
    assert BoxSession(SETTINGS, session.asked).next_pair() == session.next_pair()


def test_undo_asks_the_last_pair_again_and_forgets_its_answer() -> None:
    session = BoxSession(SETTINGS)
    assert not session.undo()
    for _ in range(5):
        answer_as_she_would(session)
    pair = session.next_pair()
    session.answer("skip")
    assert session.undo()
    assert session.next_pair() == pair == BoxSession(SETTINGS, session.asked).next_pair()
    assert session.n_skipped == 0


def test_without_a_preference_nothing_is_learnt_and_another_pair_is_asked() -> None:
    session = BoxSession(SETTINGS)
    seen = set()
    for _ in range(6):
        seen.add(session.next_pair())
        session.answer("skip")
    assert (session.n_answers, session.n_skipped, len(seen)) == (0, 6, 6)
    with pytest.raises(ValueError, match="there is no answer"):
        session.recommended()
    answer_as_she_would(session)
    known = session.next_pair()
    session.answer("skip")
    assert session.next_pair() != known


def test_the_tree_splits_in_the_features_own_units(session: BoxSession) -> None:
    text = session.tree().to_text()
    assert "°C" in text or " g" in text
    assert session.tree().depth_ <= 4


def test_where_few_settings_exist_all_their_pairs_are_asked_before_one_is_asked_again() -> None:
    """Three settings of one feature have three pairs."""
    session = BoxSession(BoxSettings(n_initial=1, features=(BoxFeature(name="x", lower=0, upper=2, step=1),)))
    for _ in range(4):
        first, second = session.next_pair()
        assert first != second
        session.answer("first" if first > second else "second")
    assert len({frozenset((one.first, one.second)) for one in session.asked[:3]}) == 3
    assert session.recommended() == (2,)


@pytest.mark.parametrize(
    ("feature", "complaint"),
    [
        ({"lower": 3, "upper": 3}, "lower must be below upper, found 3 and 3"),
        ({"step": 20}, "step must fit into the range once at least"),
        ({"step": 1e-9}, "1,000,000 times at most"),
        ({"step": 0}, "greater than 0"),
        ({"upper": float("inf")}, "finite number"),
        ({"name": ""}, "at least 1 character"),
        ({"name": "a\x1b[31m"}, "plain text without control characters"),
        ({"units": "g"}, "Extra inputs are not permitted"),
    ],
)
def test_a_feature_that_cannot_be_set_is_refused(feature: dict[str, object], complaint: str) -> None:
    whole = {"name": "x", "lower": 0, "upper": 10, "step": 1, **feature}
    with pytest.raises(ValidationError, match=complaint):
        BoxFeature.model_validate(whole)


def test_two_features_of_one_name_are_refused() -> None:
    with pytest.raises(ValidationError, match="two features are named water"):
        BoxSettings(features=(WATER, WATER))


@pytest.mark.parametrize(
    ("lower", "upper", "step", "texts"),
    [(0, 1, 0.1, ["0.0", "0.3", "1.0"]), (0.05, 2, 0.25, ["0.05", "0.80", "1.80"]), (0, 3000, 1000, ["0", "3000"])],
)
def test_values_have_the_decimals_of_their_step(lower: float, upper: float, step: float, texts: list[str]) -> None:
    feature = BoxFeature(name="x", lower=lower, upper=upper, step=step)
    shown = [feature.text(level) for level in range(feature.n_steps + 1)]
    assert [shown[0], shown[-1]] == [texts[0], texts[-1]]
    assert set(texts) <= set(shown)
    assert [float(text) for text in shown] == [feature.value(level) for level in range(feature.n_steps + 1)]


def test_answers_are_kept_for_their_owner_alone_and_read_back(tmp_path: Path, session: BoxSession) -> None:
    folder = tmp_path / "made" / "for it"
    before = os.umask(0)
    try:
        with session_in(folder, SETTINGS) as (fresh, goes_on):
            assert not goes_on
            answer_as_she_would(fresh)
            save(folder, fresh)
    finally:
        os.umask(before)
    assert (folder / FILE).stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in folder.iterdir()] == [FILE]
    with session_in(folder, SETTINGS) as (again, goes_on):
        assert goes_on
        assert again.asked == fresh.asked


def test_a_folder_is_asked_from_by_one_session_at_a_time(tmp_path: Path) -> None:
    with session_in(tmp_path, SETTINGS), pytest.raises(UsageError, match="another session"):
        session_in(tmp_path, SETTINGS).__enter__()
    with session_in(tmp_path, SETTINGS) as (session, _):
        assert session.asked == []


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "these answers are damaged"),
        ('{"format": "prefstudy box 2"}', "these answers are damaged"),
        ("", "these answers are damaged"),
    ],
)
def test_damaged_answers_are_refused_and_stay(tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / FILE).write_text(text)
    with pytest.raises(UsageError, match=complaint):
        session_in(tmp_path, SETTINGS).__enter__()
    assert (tmp_path / FILE).read_text() == text


def test_answers_to_other_settings_are_refused_naming_what_differs(tmp_path: Path, session: BoxSession) -> None:
    save(tmp_path, session)
    with pytest.raises(UsageError, match=r"other settings; different: seed\."):
        read_answers(tmp_path / FILE, SETTINGS.model_copy(update={"seed": 5}))


def test_answers_about_settings_outside_the_ranges_are_refused(tmp_path: Path) -> None:
    save(tmp_path, BoxSession(SETTINGS, [Asked(first=(0, 0), second=(12, 0), answer="first")]))
    with pytest.raises(UsageError, match="question 1 is about a setting outside"):
        read_answers(tmp_path / FILE, SETTINGS)


def test_a_folder_that_cannot_be_made_is_an_output_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="the answers cannot be kept there"):
        session_in(tmp_path / "file" / "below", SETTINGS).__enter__()
