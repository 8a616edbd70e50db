"""The kinds of question that the demo knows, each with its plan.

A plan is a generator: it yields the tool calls that it needs, is given their outputs, and returns
the answer. `PLANS` lists the kinds in the order in which they are tried.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .outputs import (
    Message,
    Table,
    first_lines,
    read_address,
    read_handle,
    read_messages,
    read_schema,
    read_table,
)
from .question import Question
from .words import NAMES, follow_up, questions, say, suggested

_MOST_QUOTED, _MOST_NAMED, _MOST_ROWS = 5, 4, 20
_URL = re.compile(r"https?://[^\s<>|\"]+")
_POST = re.compile(
    r"\b(?:post|send|poste|schick|schreib|publie|envoie|publica|envía|publique|envie)\b.*?"
    r"[\"“„«]\s*(?P<text>.+?)\s*[\"”“»].*?#(?P<channel>[\w-]+)"
    r"|「(?P<text_ja>.+?)」.*?#(?P<channel_ja>[\w-]+).*投稿",
    re.I | re.S,
)
_REMEMBER = re.compile(
    r"(?:\bremember (?:that )?|\bmerke? dir,? (?:bitte,? )?(?:dass )?"
    r"|\b(?:retiens|retenez|souviens-toi) qu(?:e |[’'])|\brecuerda (?:que )?"
    r"|\blembre(?:-se)? (?:de )?que )(?P<text>.+)|(?P<text_ja>.+?)(?:だ)?(?:と|を)覚えて",
    re.I | re.S,
)
_WISH = re.compile(r"answer|antwort|répon|respuesta|resposta|回答", re.I)
_RULE = re.compile(
    r"(?:\bwhen(?:ever)?|\bwenn|\bquand|\bcuando|\bquando|\bsempre que)\s+"
    r"(?P<who>(?:the app |die app |l.app |la app |o app )?[\w-]+(?:['’]\w+)?)\s+"
    r"(?:(?:posts?|writes?|reports?|publie|écrit|signale|publi\w+|escrib\w+|escrev\w+)\s+(?P<what>[^,]+?)"
    r"|(?:hier )?(?P<what_de>[^,]+?) (?:postet|schreibt|meldet))(?: here| ici| aquí| aqui)?,\s*(?P<then>.+)"
    r"|(?P<who_ja>\w+)が(?:ここに)?(?P<what_ja>.+?)(?:を|と)(?:書い|投稿し)たら、?(?P<then_ja>.+)",
    re.I | re.S,
)
_ARTICLE = re.compile(
    r"^(?:hier )?(?:an?|the|eine?n?|de[nrs]|die|das|une?|le|la|una?|um|uma|o|el) |[\"“”„«»「」]",
    re.I,
)
_ANYBODY = {
    *("somebody", "someone", "anybody", "anyone", "jemand", "quelqu'un", "quelqu’un"),
    *("alguien", "alguém", "誰か"),
}
_RECALL = re.compile(
    r"what do you remember|was hast du dir gemerkt|qu.as-tu retenu|qué recuerdas|o que você lembra"
    r"|何を覚えて",
    re.I,
)
_WHAT = re.compile(
    r"what can you|what you can|who are you|what are you|\bhelp\b|real model|was kannst du|hilfe"
    r"|que sais-tu faire|qué puedes hacer|o que você pode fazer|何ができ",
    re.I,
)
_GREETING = re.compile(
    r"\b(?:hi|hello|hey|good morning|thanks|thank you|hallo|guten morgen|danke|bonjour|merci|hola"
    r"|gracias|olá|obrigad[oa])\b|こんにちは|ありがとう",
    re.I,
)
_CITIES = {
    "Berlin": "berlin|berlim|berlín|ベルリン",
    "Tokyo": "tokyo|tokio|tóquio|東京",
    "London": "london|londres|ロンドン",
    "New York": "new york|nueva york|nova york|ニューヨーク",
    "Paris": "paris|parís|パリ",
}
_TIME = re.compile(r"\b(\d{1,2}:\d\d)|(?<=\D)(\d{1,2}:\d\d)")
_CONVERT = re.compile(
    r"(?P<time>\d{1,2}:\d\d) in (?P<source>[A-Z][\w /]*?),? .*\bin (?P<target>[A-Z][\w /]*)"
)
_CLOCK = re.compile(
    r"what time is it(?: now)?(?: in (?P<en>[A-Z][\w /]*))?|wie (?:spät|viel uhr) ist es"
    r"|quelle heure est-il|qué hora es|que horas são|何時",
    re.I,
)
_SUM = re.compile(
    r"[\d(][\d\s.,()]*(?:%\s*(?:of|von|de)|[-+*/^])[\d\s.,()*/^%+-]*\d\)*%?"
    r"|(?P<whole>[\d.,]+)\s*の\s*(?P<part>[\d.]+)\s*%"
)
_THOUSANDS = re.compile(r"(?<=\d)[.\s](?=\d{3}(?!\d))")
_EVERY_MONDAY = re.compile(
    r"every monday|jeden montag|chaque lundi|tous les lundis|cada lunes|todos los lunes"
    r"|toda segunda|todas as segundas|毎週月曜",
    re.I,
)
_SALES = re.compile(
    r"(?:sales|revenue) by region|umsatz\b.*\bregion|(?:ventes|affaires)\b.*\brégion"
    r"|(?:ventas|ingresos)\b.*\bregión|(?:vendas|receita)\b.*\bregião|地域別.*売上",
    re.I,
)
_CHART = re.compile(r"chart|graph|diagram|gráfico|グラフ", re.I)
_GROUPED = re.compile(r"\b(?:by|per|each|je|pro|nach|par|por)\b|別", re.I)
_TOTAL = re.compile(
    r"\b(?:total|sum|altogether|how (?:much|many)|gesamt\w*|summe|wie (?:hoch|viele?)|somme|combien"
    r"|totales|suma|cuántos?|soma|quantos?)\b|合計|何件",
    re.I,
)
_AVERAGE = re.compile(
    r"\b(?:average|mean|durchschnitt\w*|mittelwert|moyenne?|promedio|media|média)\b|平均", re.I
)
_OTHER_FIGURE = re.compile(
    r"\b(?:median\w*|medi[aá]na|médiane?|growth|wachstum|croissance|crecimiento|crescimento|share|anteil"
    r"|percent\w*|prozent|pour cent|porcentaje|porcentagem|trend|compare|vergleich\w*|forecast"
    r"|prognose)\b|中央値|割合|比べ",
    re.I,
)
_COMPARE = re.compile(
    r"\b(?:compare the two|vergleiche die beiden|compare les deux|compara los dos|compare os dois)\b"
    r"|2 つのファイルを比べ",
    re.I,
)
_PROMISE = re.compile(
    r"\b(?:I will|I.ll|please|ich werde|ich mache|bitte|je vais|merci de|s.il (?:te|vous) plaît|voy a"
    r"|por favor|vou)\b|お願い|します",
    re.I,
)
_CONVERSATION = re.compile(
    r"\b(?:thread|summari[sz]e|was said|was decided|still open|action items|fasse|gesagt|entschieden"
    r"|noch offen|résume|s.est dit|été décidé|en suspens|resume|se dijo|se decidió|pendientes"
    r"|resuma|foi dito|foi decidido|em aberto)\b|スレッド|要約|話され|決まり|未解決",
    re.I,
)
_DATABASE = re.compile(
    r"\b(?:database|datenbank|base de données|base de datos|banco de dados)\b|データベース", re.I
)
_CHANNEL = re.compile(r"#([\w-]+)")
_CLIPS = (".m4a", ".mp3", ".mp4", ".wav", ".webm")
_NO_WORDS = re.compile(r"[(（][^()（）]*[)）]")
_SAID = re.compile(r"^\[[\d:]+\] (.+)$", re.M)
_TWO = 2
_OWN = " (you)"  # after the bot's own name in what its tools show
_RECEIPT = "receipt.png"
_SALES_SQL = (
    "SELECT c.region, sum(o.amount) AS sales FROM orders o JOIN customers c ON c.id = o.customer_id "
    "GROUP BY 1 ORDER BY 2 DESC"
)


@dataclass(frozen=True)
class Call:
    """A tool call of a plan."""

    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """The words of an answer, and other fields of its response type by their names.

    Figures in it are references, which code fills in.
    """

    text: str
    fields: dict[str, Any] = field(default_factory=dict)


Plan = Generator[Call, str, Answer]


def plan_for(question: Question) -> Plan:
    """Return the plan of the first kind that the question fits."""
    return next(plan(question) for fits, plan in PLANS if fits(question))


def _has(pattern: re.Pattern[str]) -> Callable[[Question], bool]:
    return lambda question: pattern.search(question.text) is not None


def _match(pattern: re.Pattern[str], question: Question) -> re.Match[str]:
    """Return the match of a question that is known to fit."""
    return next(pattern.finditer(question.text))


def _group(match: re.Match[str], name: str) -> str:
    """Return a group of a match, which has another name where Japanese has another order."""
    return str(match[name] or match[f"{name}_ja"]).strip()


def _source(
    question: Question, title: str, url: str | None = None, supports: str = "what_is_quoted"
) -> list[dict[str, Any]]:
    return [{"title": title, "url": url, "supports": say(question.language, supports)}]


def about_page(question: Question) -> Plan:
    """Quote the beginning of a web page."""
    url = _match(_URL, question)[0].rstrip(".,?!)")
    output = yield Call("fetch_page", {"url": url})
    if not read_handle(output):
        return Answer(say(question.language, "not_read", name=url))
    return _beginning(question, url, url, output)


def _beginning(question: Question, name: str, url: str | None, output: str) -> Answer:
    points = first_lines(output, _MOST_QUOTED)
    fields = {"key_points": points, "sources": _source(question, name, url)}
    return Answer(say(question.language, "begins", name=name), fields)


def post(question: Question) -> Plan:
    """Post a message elsewhere, which a person approves first."""
    match = _match(_POST, question)
    channel, text = _group(match, "channel"), _group(match, "text")
    output = yield Call("post_message", {"channel": channel, "text": text})
    if not output.startswith("posted"):
        return Answer(say(question.language, "not_posted", channel=channel))
    url = output.rpartition("link: ")[2].strip()
    sources = _source(question, say(question.language, "message_in", channel=channel), url)
    words = say(question.language, "posted", text=text, channel=channel)
    return Answer(words, {"sources": sources})


def make_rule(question: Question) -> Plan:
    """Propose a rule for the channel: what is done when somebody, or an app, posts a word."""
    match = _match(_RULE, question)
    who, what, then = (
        next(filter(None, (match.groupdict().get(name + end) for end in ("", "_de", "_ja"))), "")
        for name in ("who", "what", "then")
    )
    arguments: dict[str, Any] = {"instruction": then, "words": [_ARTICLE.sub("", what.strip())]}
    if who.casefold() not in _ANYBODY:
        arguments["apps"] = [re.sub(r"^.*\bapp ", "", who, flags=re.I)]
    output = yield Call("propose_rule", arguments)
    state = "rule_on" if "It is on." in output else "rule_waits"
    is_made = "\nIt " in output
    return Answer(say(question.language, state if is_made else "no_rule"))


def recall(question: Question) -> Plan:
    """List what is remembered."""
    output = yield Call("recall")
    points = [line.rpartition("): ")[2] for line in first_lines(output, 20) if "): " in line]
    if not points:
        return Answer(say(question.language, "nothing_recalled"))
    return Answer(say(question.language, "recalled"), {"key_points": points})


def remember(question: Question) -> Plan:
    """Remember something for the person who asks."""
    text = _group(_match(_REMEMBER, question), "text")
    kind = "wish" if _WISH.search(text) else "fact"
    output = yield Call("remember", {"text": text, "kind": kind})
    if output.startswith("All their questions"):
        return Answer(say(question.language, "wish", text=text))
    is_kept = output.startswith("Remembered")
    return Answer(say(question.language, "remembered" if is_kept else "not_remembered", text=text))


def schedule(question: Question) -> Plan:
    """Have a reminder sent every Monday."""
    text = say(question.language, "week")
    output = yield Call(
        "schedule_prompt", {"text": text, "cron": "0 9 * * MON", "remind": True, "where": "direct"}
    )
    is_made = output.startswith("scheduled")
    return Answer(say(question.language, "scheduled" if is_made else "not_scheduled", text=text))


def _cities(text: str) -> list[str]:
    """Return the cities that a text names, in order."""
    places = {
        name: match.start()
        for name, pattern in _CITIES.items()
        if (match := re.search(pattern, text, re.I))
    }
    return sorted(places, key=lambda name: places[name])


def _asks_to_convert(question: Question) -> bool:
    return bool(
        _CONVERT.search(question.text)
        or (_TIME.search(question.text) and len(_cities(question.text)) == 2)
    )


def convert_time(question: Question) -> Plan:
    """Convert a time between two places."""
    if match := _CONVERT.search(question.text):
        time, source, target = match["time"], match["source"], match["target"]
    else:
        source, target = _cities(question.text)
        time = _match(_TIME, question)[0]
    arguments = {"time": time, "from_zone": source, "to_zone": target}
    output = yield Call("convert_time", arguments)
    result = re.search(r"^to: (\S+) (\d\d:\d\d)", output, re.M)
    if not result:
        return Answer(say(question.language, "no_time"))
    names = {"time": time, "source": source, "target": target}
    words = say(question.language, "converted", **names, result=result[2], day=result[1])
    return Answer(words, {"confidence": "high"})


def tell_time(question: Question) -> Plan:
    """Tell what time it is."""
    named = _match(_CLOCK, question)["en"]
    zone = named or next(iter(_cities(question.text)), None)
    output = yield Call("current_time", {"zone": zone})
    result = re.search(r"^now: (\S+) (\d\d:\d\d)", output, re.M)
    if not result:
        return Answer(say(question.language, "no_time"))
    where = zone or say(question.language, "your_zone")
    words = say(question.language, "now", result=result[2], zone=where, day=result[1])
    return Answer(words, {"confidence": "high"})


def calculate(question: Question) -> Plan:
    """Calculate one expression."""
    match = _match(_SUM, question)
    expression = match[0].strip(" ,.")
    plain = f"{match['part']}% of {match['whole']}" if match["whole"] else expression
    if question.language in ("de", "fr", "es", "pt"):  # 24.350,5
        plain = _THOUSANDS.sub("", plain).replace(",", ".")
    plain = re.sub(r"%\s*(?:von|de)\b", "% of", plain.replace(",", ""))
    output = yield Call("calculate", {"expression": plain})
    handle = read_handle(output)
    if handle is None:
        return Answer(say(question.language, "not_calculated", expression=expression))
    return Answer(f"{expression} = {{{{{handle}}}}}", {"confidence": "high"})


def about_conversation(question: Question) -> Plan:
    """Show what people said in a thread, or in a channel that the question names."""
    channel = _CHANNEL.search(question.text)
    call = Call("read_channel", {"channel": channel[1]}) if channel else Call("read_thread")
    output = yield call
    messages = [each for each in read_messages(output) if not each.author.endswith(_OWN)]
    people = list(dict.fromkeys(message.author for message in messages))
    where = channel[0] if channel else say(question.language, "this_thread")
    if question.kind == "draft":
        name = people[-1].partition(" ")[0] if people else say(question.language, "all")
        tone = say(question.language, "tone")
        return Answer(say(question.language, "reply", name=name), {"tone": tone})
    if question.kind == "items":
        tasks = [_task(message) for message in messages if _PROMISE.search(message.text)]
        name = "tasks" if tasks else "no_tasks"
        return Answer(say(question.language, name, where=where), {"items": tasks})
    if not messages:
        return Answer(say(question.language, "no_messages", where=where))
    last = messages[-_MOST_QUOTED:]
    fields = {
        "key_points": [message.quote for message in last],
        "open_questions": [_linked(each, "text") for each in last if each.text.endswith("?")],
        "participants": people,
        "timeline": [
            {"when": each.when, "what": say(question.language, "wrote", author=each.author)}
            for each in last
        ],
        "sources": [part for each in last for part in _source(question, each.author, each.url)],
    }
    words = say(question.language, "messages", where=where, people=", ".join(people))
    return Answer(words, fields)


def _task(message: Message) -> dict[str, Any]:
    return {**_linked(message, "task"), "owner": None, "due": None}


def _linked(message: Message, field_name: str) -> dict[str, Any]:
    return {field_name: message.quote, "url": message.url}


def _is_spoken(question: Question) -> bool:
    """Return whether the question is a voice message: a clip, and no words but a note of the bot."""
    is_clip = bool(question.attached) and question.attached[-1].name.lower().endswith(_CLIPS)
    return is_clip and _NO_WORDS.fullmatch(question.text) is not None


def listen(question: Question) -> Plan:
    """Answer what is said in a clip."""
    file = question.attached[-1]
    output = yield Call("read_file", {"file_id": file.id})
    words = " ".join(_SAID.findall(output))
    if not words:
        return Answer(say(question.language, "not_read", name=file.name))
    return (yield from plan_for(replace(question, text=words, attached=(), earlier=())))


def about_file(question: Question) -> Plan:
    """Total or average a column of a table; quote any other file."""
    file = (question.attached or question.earlier)[-1]
    if file.name == _RECEIPT:
        points = say(question.language, "receipt_points").split(" | ")
        fields = {"key_points": points, "sources": _source(question, file.name)}
        return Answer(say(question.language, "receipt"), fields)
    output = yield Call("read_file", {"file_id": file.id})
    table, url = read_table(output), read_address(output)
    if table is None and not read_handle(output):
        return Answer(say(question.language, "not_read", name=file.name))
    if table is None or not table.numbers:
        return _beginning(question, file.name, url, output)
    return (yield from _about_table(question, file.name, url, table))


def _about_table(question: Question, name: str, url: str | None, table: Table) -> Plan:
    """Total or average a column, with a chart if one is asked for."""
    group, value = _named(table.others, question.text), _named(table.numbers, question.text)
    has_chart = _CHART.search(question.text) is not None
    if has_chart and not (group or value):
        group = next(iter(table.words), None)
    is_other = _OTHER_FIGURE.search(question.text) is not None
    if is_other or not (group or value) or (group is None and _GROUPED.search(question.text)):
        return _what_table_offers(question, name, table)
    value = value or table.numbers[-1]
    is_average = _AVERAGE.search(question.text) is not None
    figure = f'{"avg" if is_average else "sum"}("{value}") AS "{value}" FROM {table.handle}'
    what = say(question.language, "average_of" if is_average else "total_of", value=value)
    arguments = {"sql": _ranked(group, figure), "handles": [table.handle], "purpose": what}
    output = yield Call("query_table", arguments)
    totals = read_table(output)
    if totals is None or not totals.rows:
        return Answer(say(question.language, "not_queried", name=name))
    fields: dict[str, Any] = {
        "sources": _source(question, name, url, "all_figures"),
        "confidence": "high" if is_average else _confidence(question),
    }
    if group is None:
        figure = totals.reference(value, 1)
        return Answer(say(question.language, "is", what=what, figure=figure), fields)
    caption = say(question.language, "grouped", what=what, group=group)
    caption = caption[:1].upper() + caption[1:]
    fields |= _shown(totals, caption)
    others = [other for other in table.words if other != group][:1]
    fields["follow_ups"] = [
        follow_up(question.language, "total_by", value=value, group=other) for other in others
    ]
    if has_chart:
        fields["charts"] = yield from _chart(totals, caption)
    else:
        fields["follow_ups"] += [follow_up(question.language, "chart")]
    return Answer(_most_and_least(question, totals, what), fields)


def _chart(table: Table, title: str) -> Generator[Call, str, list[str]]:
    """Draw a table of two columns; return the handle of the chart, if there is one."""
    label, value = table.columns
    arguments = {"handle": table.handle, "kind": "bar", "title": title[:50]}
    output = yield Call("make_chart", arguments | {"label_column": label, "value_columns": [value]})
    handle = read_handle(output)
    return [handle] if handle else []


def _asks_for_chart_of_table(question: Question) -> bool:
    """Return whether a question asks for a chart of the table that the answer before it shows."""
    asks = _CHART.search(question.text) and not _GROUPED.search(question.text)
    return bool(asks and not question.attached and _last_table(question))


def _last_table(question: Question) -> Table | None:
    tables = (read_table(output) for output in reversed(question.earlier_outputs))
    return next((table for table in tables if table and len(table.columns) == 2), None)


def chart(question: Question) -> Plan:
    """Draw the table of the answer before."""
    table = _last_table(question)
    charts = (yield from _chart(table, [*table.columns][-1])) if table else []
    return Answer(say(question.language, "chart_of" if charts else "no_chart"), {"charts": charts})


def compare(question: Question) -> Plan:
    """Compare the two tables that are attached."""
    if len(question.attached) < _TWO:
        return Answer(say(question.language, "compare_needs"))
    files = question.attached[-_TWO:]
    names = {"first": files[0].name, "second": files[1].name}
    before = read_table((yield Call("read_file", {"file_id": files[0].id})))
    after = read_table((yield Call("read_file", {"file_id": files[1].id})))
    if before is None or after is None:
        return Answer(say(question.language, "not_compared", **names))
    arguments = {"before": before.handle, "after": after.handle, "key": next(iter(before.columns))}
    differences = read_table((yield Call("compare_tables", arguments)))
    if differences is None:
        return Answer(say(question.language, "not_compared", **names))
    words = say(question.language, "differences", **names)
    sources = [
        part for file in files for part in _source(question, file.name, supports="all_figures")
    ]
    return Answer(words, {**_shown(differences, words.rstrip(".。")), "sources": sources})


def sales(question: Question) -> Plan:
    """Total the sales of the sample database by region, with a chart."""
    output = yield Call("list_databases")
    database = re.search(r"^database: (\S+)", output, re.M)
    name = database[1] if database else "sample"
    what = say(question.language, "total_of", value="sales")
    arguments = {"database": name, "sql": _SALES_SQL, "purpose": what}
    output = yield Call("query_database", arguments)
    totals = read_table(output)
    if totals is None or not totals.rows:
        where = say(question.language, "the_database")
        return Answer(say(question.language, "not_queried", name=where))
    caption = say(question.language, "grouped", what=what, group="region")
    fields = {
        **_shown(totals, caption),
        "charts": (yield from _chart(totals, caption)),
        "sources": _database_source(question, name),
        "confidence": "high",
    }
    answer = _most_and_least(question, totals, what)
    return Answer(say(question.language, "sales", answer=answer), fields)


def about_database(question: Question) -> Plan:
    """Count the rows of the database's table that the question names, or list its tables."""
    output = yield Call("list_databases")
    tables, database = read_schema(output), re.search(r"^database: (\S+)", output, re.M)
    where = say(question.language, "the_database")
    if not tables or not database:
        return Answer(say(question.language, "not_queried", name=where))
    name = _named(tables, question.text)
    if name is None or _AVERAGE.search(question.text) or _OTHER_FIGURE.search(question.text):
        points = [f"{table}: {', '.join(columns)}" for table, columns in tables.items()]
        words = say(question.language, "tables", database=database[1])
        return Answer(words, {"key_points": points})
    group = _named(tables[name], question.text)
    counts = f'count(*) AS number FROM "{name}"'
    what = say(question.language, "number_of", value=name)
    arguments = {"database": database[1], "sql": _ranked(group, counts), "purpose": what}
    output = yield Call("query_database", arguments)
    counted = read_table(output)
    if counted is None or not counted.rows:
        return Answer(say(question.language, "not_queried", name=where))
    sources = _database_source(question, database[1])
    fields = {"sources": sources, "confidence": _confidence(question)}
    if group is None:
        number = counted.reference("number", 1)
        return Answer(say(question.language, "is", what=what, figure=number), fields)
    fields |= _shown(counted, say(question.language, "grouped", what=what, group=group))
    fields["follow_ups"] = [follow_up(question.language, "chart")]
    return Answer(_most_and_least(question, counted, what), fields)


def _database_source(question: Question, database: str) -> list[dict[str, Any]]:
    title = say(question.language, "database_is", database=database)
    return _source(question, title, supports="all_figures")


def introduce(question: Question) -> Plan:
    """Say what this is, with the examples."""
    yield from ()
    fields = {
        "key_points": questions(question.language),
        "follow_ups": suggested(question.language),
    }
    return Answer(say(question.language, "introduce"), fields)


def greet(question: Question) -> Plan:
    """Answer a greeting or thanks."""
    yield from ()
    words = say(question.language, "greeting")
    return Answer(words, {"follow_ups": suggested(question.language)})


def give_up(question: Question) -> Plan:
    """Say that no plan fits, and how to have any question answered."""
    yield from ()
    fields = {"follow_ups": suggested(question.language), "gaps": []}
    return Answer(say(question.language, "give_up"), fields)


def _named(names: Iterable[str], text: str) -> str | None:
    """Return the first name that the text contains, also in its singular or in another language."""
    text += " ".join(
        ["", *(name for name, others in NAMES.items() if re.search(others, text, re.I))]
    )
    words = _words(text)
    return next((name for name in names if words.issuperset(_words(name) or {None})), None)


def _words(text: str) -> set[str]:
    return {word.rstrip("s") for word in re.findall(r"\w+", text.lower())}


def _shown(table: Table, caption: str) -> dict[str, Any]:
    """Return the field that shows a table, which code fills in."""
    return {"table": {"caption": caption, "columns": [], "rows": None, "handle": table.handle}}


def _most_and_least(question: Question, table: Table, what: str) -> str:
    """Say which row has most, and which least unless there may be more rows; the largest is first."""
    columns = [*table.columns]
    rows = [number for number, row in enumerate(table.rows, 1) if row[-1]] or [1]
    first, most, last, least = (
        table.reference(column, number)
        for number in (rows[0], rows[-1])
        for column in (columns[0], columns[-1])
    )
    is_whole = len(rows) > 1 and len(table.rows) < _MOST_ROWS
    name = "most_and_least" if is_whole else "most"
    return say(question.language, name, what=what, first=first, most=most, last=last, least=least)


def _what_table_offers(question: Question, name: str, table: Table) -> Answer:
    """Say which figures of a table a question can ask for."""
    language, value = question.language, table.numbers[-1]
    group = next(iter(table.words or table.others), "")
    values = {
        "name": name,
        "numbers": _either(language, table.numbers),
        "groups": _either(language, table.others),
    }
    example = follow_up(language, "total_by" if group else "total", value=value, group=group)
    words = say(language, "offers_by" if group else "offers", **values)
    return Answer(words, {"follow_ups": [example]})


def _either(language: str, names: Sequence[str]) -> str:
    """Return the first names as "a, b or c"."""
    *rest, last = names[:_MOST_NAMED] or [""]
    return f"{', '.join(rest)}{say(language, 'or')}{last}" if rest else last


def _ranked(group: str | None, figures: str) -> str:
    """Return SQL for figures, by a column if one is given; the largest first."""
    if group is None:
        return f"SELECT {figures}"
    return f'SELECT "{group}", {figures} GROUP BY 1 ORDER BY 2 DESC LIMIT {_MOST_ROWS}'


def _confidence(question: Question) -> str:
    """Return how sure a total is: a question that asks for none may mean something else."""
    return "high" if _TOTAL.search(question.text) else "medium"


_SAMPLE_TABLES = ("customers", "orders", "products", "tickets")

PLANS: list[tuple[Callable[[Question], bool], Callable[[Question], Plan]]] = [
    (lambda question: question.kind in ("about", "draft", "items"), about_conversation),
    (_is_spoken, listen),
    (_has(_URL), about_page),
    (_has(_RULE), make_rule),
    (_has(_POST), post),
    (_has(_RECALL), recall),
    (_has(_REMEMBER), remember),
    (_has(_EVERY_MONDAY), schedule),
    (_has(_WHAT), introduce),
    (_asks_to_convert, convert_time),
    (_has(_CLOCK), tell_time),
    (_has(_SUM), calculate),
    (_has(_COMPARE), compare),
    (lambda question: bool(question.attached), about_file),
    (_has(_CONVERSATION), about_conversation),
    (_has(_DATABASE), about_database),
    (_has(_GREETING), greet),
    (_asks_for_chart_of_table, chart),
    (lambda question: bool(question.earlier), about_file),
    (_has(_SALES), sales),
    (lambda question: _named(_SAMPLE_TABLES, question.text) is not None, about_database),
    (lambda _: True, give_up),
]
