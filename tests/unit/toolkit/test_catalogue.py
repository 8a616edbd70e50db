"""How the model comes to know tools: a few at once, the others on demand (D1)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.app.tool_loading import catalogue as shipped
from bot.core.errors import ToolDefinitionError
from bot.toolkit import Changes, Reads, Tool, tool
from bot.toolkit.catalogue import ACQUIRE, Catalogue
from bot.toolkit.offering import inputs_of
from bot.toolkit.skill import Skill


def named(name: str, group: str = "g", *, core: bool = False, changes: bool = False) -> Tool:
    async def act(what: str) -> str:
        "Acts."
        return what

    act.__name__ = name
    safety = Changes() if changes else Reads()
    return tool(group=group, summary=f"Does {name}", safety=safety, core=core)(act).tool


SOME = [
    named("zeta", "b"),
    named("alpha", "b"),
    named("read_file", "a", core=True),
    named("query_table", "c"),
]


@pytest.fixture
def catalogue() -> Catalogue:
    return Catalogue.of(SOME)


def names(definitions: tuple[dict[str, Any], ...]) -> list[str]:
    return [each["name"] for each in definitions]


def test_the_first_request_carries_core_tools_and_the_names_of_the_others(
    catalogue: Catalogue,
) -> None:
    """D1: by group, and none twice."""
    assert names(catalogue.always) == ["read_file", ACQUIRE]
    listed = catalogue.acquire_definition["description"].splitlines()[-2:]
    assert listed == ["b: alpha, zeta", "c: query_table"]


def test_skills_are_listed_counted_searched_and_allowed_as_tools_are(catalogue: Catalogue) -> None:
    """D1: each with the beginning of its description; one has no function, and none costs nothing."""
    about = f"How refunds are decided, {'and so on, ' * 30}last words."
    facts: dict[str, Any] = {"text": "Do it.", "digest": "1", "title": "T", "origin": "o"}
    refunds = Skill(name="refunds", description=about, brings=("zeta",), **facts)
    alpha = Skill(name="alpha", description="Has the name of a tool.", **facts)
    assert catalogue.with_skills([]) is catalogue.with_skills([alpha]) is catalogue
    both = catalogue.with_skills([refunds])
    listed = both.acquire_definition["description"].splitlines()
    assert listed[-4:-1] == ["b: alpha", "c: query_table", listed[-2]]  # zeta comes with the skill
    assert listed[-1].startswith("- refunds: How refunds are decided")
    assert "last words" not in listed[-1]
    assert both.listing(2).acquire_definition["description"].endswith("b (1), c (1), skills (1)")
    [line] = [found.line for found in both.listing(2).hints("May I have refunds decided?")]
    assert line.endswith("last words.")
    assert names(both.acquired(["refunds", "zeta"])) == ["zeta"]
    for allowed, has in (("refunds", True), ("skills", True), ("b", False), ("skills&r*", True)):
        only = both.only([allowed])
        assert bool(only.skills) == has
        assert bool(only.get("zeta")) == (has or allowed == "b")


def test_every_tool_is_named_up_to_the_setting_and_of_more_the_groups() -> None:
    """D1: what a tool does can be searched either way."""
    many = Catalogue.of([*SOME, *(named(f"tool_{n}", "z") for n in range(20))])
    definition = many.listing(23).acquire_definition
    assert all(each.name in definition["description"] for each in many.tools if not each.core)
    grouped = many.listing(22).acquire_definition
    assert grouped["description"].endswith("b (2), c (1), z (20)")
    assert grouped["parameters"] == definition["parameters"]
    assert grouped["parameters"]["required"] == ["names", "search"]


def test_the_order_does_not_hang_on_that_of_the_modules(catalogue: Catalogue) -> None:
    """The same prefix in every process and every turn, so that the prompt cache holds."""
    assert Catalogue.of(reversed(SOME)).always == catalogue.always


def test_acquired_tools_come_in_the_order_in_which_they_were_asked_for(
    catalogue: Catalogue,
) -> None:
    """One more at the end leaves what stands before it as it was; what has gone is passed over."""
    assert names(catalogue.acquired(["zeta", "gone", "read_file", "alpha"])) == ["zeta", "alpha"]


def test_nothing_is_to_be_acquired_when_all_are_core() -> None:
    """A tool without use is not offered."""
    assert names(Catalogue.of([named("only", core=True)]).always) == ["only"]


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [("read_files", "read_file"), ("tableQuery", "query_table"), ("alpah", "alpha")],
)
def test_a_wrong_name_brings_near_ones(catalogue: Catalogue, wrong: str, meant: str) -> None:
    """Not the whole catalogue."""
    assert meant in catalogue.near(wrong)
    assert len(catalogue.near(wrong)) <= 3
    assert catalogue.get(wrong) is None


@pytest.mark.parametrize("name", ["alpha", ACQUIRE])
def test_a_name_given_twice_is_found_at_start(name: str, catalogue: Catalogue) -> None:
    """The service would refuse every request."""
    with pytest.raises(ToolDefinitionError, match=name):
        Catalogue.of([*catalogue.tools, named(name)])


def test_hints_are_few_and_clear() -> None:
    """D1: one word that many tools mention is no hint, nor are more than four, and one shared word,
    in whatever forms, is no reason to name a tool that changes something."""
    names = ("find_people", "list_people", "draw_people", "invite_people", "count_people")
    many = Catalogue.of([*(named(each) for each in names), *SOME, named("post_note", changes=True)])
    assert many.hints("How many people live there?") == []
    assert many.hints("Post posts, posting") == []
    assert [each.name for each in many.hints("Post a note")] == ["post_note"]
    found = many.hints("Find query people, then count people")
    assert {each.name for each in found} == {"find_people", "count_people", "query_table"}
    same = Catalogue.of(named(f"weather_{n}", f"group{n}") for n in range(9))
    assert len(same.hints("weather " + " ".join(f"group{n}" for n in range(9)))) <= 4
    assert many.hints("") == []


@pytest.mark.parametrize(
    "asked", ["people", "How many people live there?", "Who are you?", "thanks!"]
)
def test_the_shipped_tools_give_no_noise(asked: str) -> None:
    """D1: eight tools were named for "people", `draw_lots` among them."""
    assert shipped().listing(0).hints(asked) == []


@pytest.mark.parametrize(
    ("asked", "first"),
    [
        ("Draw lots for three of us", "draw_lots"),
        ("Convert 5 miles to km", "convert_units"),
        ("Which holidays are there in June?", "list_holidays"),
    ],
)
def test_the_shipped_tools_are_found_by_what_they_do(asked: str, first: str) -> None:
    """D1: a hint that clearly fits is given."""
    assert shipped().listing(0).hints(asked)[0].name == first


@pytest.mark.parametrize(
    ("asked", "offered"),
    [
        ("Remind me tomorrow at 9 to call Ann", "schedule_prompt"),
        ("Erinnere mich morgen um 9 an den Anruf", "schedule_prompt"),
        ("Rappelle-moi demain à 9 h d'appeler Anne", "schedule_prompt"),
        ("Recuérdame mañana a las 9 llamar a Ana", "schedule_prompt"),
        ("Me lembre amanhã às 9 de ligar para a Ana", "schedule_prompt"),
        ("明日9時に電話するようリマインドして", "schedule_prompt"),
        ("Every Monday at 9, tell me who is on call", "schedule_prompt"),
        ("Sag mir jeden Montag um 9, wer Bereitschaft hat", "schedule_prompt"),
        ("Tous les lundis à 9 h, dis-moi qui est d'astreinte", "schedule_prompt"),
        ("Todos los lunes a las 9 dime quién está de guardia", "schedule_prompt"),
        ("Toda segunda às 9, diga quem está de plantão", "schedule_prompt"),
        ("毎週月曜9時に当番を教えて", "schedule_prompt"),
        ("When somebody posts an error here, look up the runbook and answer", "propose_rule"),
        ("Whenever an app reports an outage in #alerts, say who is on call", "propose_rule"),
        ("Wenn jemand hier einen Fehler meldet, schau im Runbook nach", "propose_rule"),
        ("Quand quelqu'un signale une erreur ici, cherche le runbook", "propose_rule"),
        ("Cuando alguien escriba un error aquí, busca el runbook", "propose_rule"),
        ("Sempre que alguém escrever um erro aqui, procure o runbook", "propose_rule"),
        ("誰かがここにエラーを書いたら、手順書を調べて答えて", "propose_rule"),
        ("Remember that I like short answers", "remember"),
        ("Merk dir, dass ich kurze Antworten mag", "remember"),
        ("Retiens que j'aime les réponses courtes", "remember"),
        ("Recuerda que me gustan las respuestas cortas", "remember"),
        ("Lembre-se de que gosto de respostas curtas", "remember"),
        ("短い回答が好きだと覚えておいて", "remember"),
        ("Post this in #random: lunch is ready", "post_message"),
        ("Poste das in #random: Essen ist fertig", "post_message"),
        ("Publie ceci dans #random : le repas est prêt", "post_message"),
        ("Publica esto en #random: la comida está lista", "post_message"),
        ("Publique isto em #random: o almoço está pronto", "post_message"),
        ("#random に投稿して: お昼ができました", "post_message"),
    ],
)
def test_a_changing_tool_is_offered_when_its_act_is_named(asked: str, offered: str) -> None:
    """D1 K6: in the six languages, and few tools beside it."""
    names = shipped().offers(asked, inputs_of(asked))
    assert names[0] == offered
    assert len(names) <= 4


@pytest.mark.parametrize(
    "asked",
    [
        *("Thanks!", "What does the post say?", "Who posted last?", "Do you remember Ann?"),
        *("How many Mondays are in May?", "Danke, gerne!", "Was steht in der Post?", "Merci bien"),
        *("Qui a publié le rapport annuel ?", "Gracias", "Obrigado", "ありがとう"),
        *("When did somebody last write here?", "Wer schreibt, wenn ein Fehler kommt?"),
        *("How was the day?", "Everyone is here today", "ジョンの毎日さんって誰?"),
    ],
)
def test_no_changing_tool_is_offered_for_a_word(asked: str) -> None:
    """D1: a noun, a report of somebody else's act, a name."""
    tools = shipped()
    offered = map(tools.get, tools.offers(asked, inputs_of(asked)))
    changing = [tool.name for tool in offered if tool and tool.mutates]
    assert changing == ([] if "毎日" not in asked else ["schedule_prompt"])


@pytest.mark.parametrize(
    ("asked", "files", "offered"),
    [
        ("Which region sold most?", ["sales.csv"], ["read_file"]),
        ("What does handbook.docx say about leave?", [], ["read_file"]),
        ("What was decided in #sales in Q3?", [], ["read_channel"]),
        ("See https://x.slack.com/archives/C1/p1", [], ["read_linked_thread"]),
        ("What does https://a.example/x say?", [], ["fetch_page"]),
        ("What is 15% of 240?", [], ["calculate"]),
        ("Total of tbl_k3x8a2qd?", [], ["query_table"]),
        ("Hello there", [], []),
        ("We are #1", [], ["calculate"]),
    ],
)
def test_what_a_question_works_on_brings_its_tool(
    asked: str, files: list[str], offered: list[str]
) -> None:
    """D1 K6: by what the tools declare, within 1,200 bytes; the tool comes first that the others need."""
    tools = shipped()
    names = tools.offers(asked, inputs_of(asked, files))
    assert names[: len(offered)] == offered
    assert bool(names) == bool(offered)
    assert len(json.dumps(tools.acquired(names), separators=(",", ":"))) <= 1_300


def test_every_tool_that_declares_it_can_be_offered() -> None:
    """D1: alone, it fits into what a first request has room for."""
    declared = [each for each in shipped().tools if each.asked_as or each.offered_with]
    sizes = {
        each.name: len(json.dumps(each.definition(), separators=(",", ":"))) for each in declared
    }
    assert len(declared) > 10
    assert max(sizes.values()) <= 1_200, sizes


def test_a_tool_declares_what_it_is_offered_for_or_what_it_tells() -> None:
    """D1 D2: what `on_acquired` tells comes when the model acquires it, so it is not offered before."""

    async def about(_services: object) -> str:
        return "more"

    with pytest.raises(ToolDefinitionError, match="on_acquired"):
        tool(group="g", summary="Acts", on_acquired=about, asked_as=("act",))(print)
    with pytest.raises(ToolDefinitionError, match="asked_as"):
        named_as("(")


def named_as(phrase: str) -> Tool:
    async def act(what: str) -> str:
        "Acts."
        return what

    return tool(group="g", summary="Acts", asked_as=(phrase,))(act).tool
