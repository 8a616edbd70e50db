"""The feature in a run with a scripted model, and its check."""

from __future__ import annotations

from house_style.feature import SHOW, HouseStyleSettings, StyleForOperators, house_style

from bot.testing.scripted import finish, scripted_run

WORDS = HouseStyleSettings(words={"utilize": "use"})


async def test_an_answer_in_words_of_others_is_sent_back_once() -> None:
    run = await scripted_run(
        "How do I print?",
        [finish({"summary": "Utilize the printer."}), finish({"summary": "Use the printer."})],
        features=[house_style(WORDS)],
    )
    assert run.answer.summary == "Use the printer."
    assert "'use' instead of 'utilize'" in run.outputs[0]


async def test_the_model_is_told_the_words_before_it_writes() -> None:
    run = await scripted_run(
        "How do I print?",
        [finish({"summary": "Use the printer."})],
        features=[house_style(WORDS)],
    )
    assert "Write 'use' instead of 'utilize'." in run.told[0]


async def test_a_button_shows_the_words_to_the_person_who_presses_it() -> None:
    run = await scripted_run(
        "How do I print?",
        [finish({"summary": "Use the printer."})],
        features=[house_style(WORDS)],
        press=SHOW,
    )
    assert run.pressed
    assert run.pressed.told == ["• use, not _utilize_"]


async def test_without_a_setting_nothing_is_sent_back() -> None:
    run = await scripted_run(
        "How do I print?",
        [finish({"summary": "Utilize the printer."})],
        features=[house_style(HouseStyleSettings())],
    )
    assert run.answer.summary == "Utilize the printer."


async def test_the_doctor_says_how_many_words_are_replaced() -> None:
    [line] = await StyleForOperators(WORDS).checks(None)
    assert line.text == "1 words are replaced"
    [line] = await StyleForOperators(HouseStyleSettings()).checks(None)
    assert line.fix
