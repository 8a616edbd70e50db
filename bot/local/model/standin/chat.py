"""Small talk, and questions about the bot itself: a table of what is said and what is answered."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .findings import EXAMPLES, STAND_IN, Findings
from .view import View
from .words import has


@dataclass(frozen=True, slots=True)
class Said:
    """What people say, as a pattern of the whole message, and the answer."""

    pattern: re.Pattern[str]
    answer: str
    points: tuple[str, ...] = ()
    follow_ups: tuple[str, ...] = ()

    @classmethod
    def of(cls, pattern: str, answer: str, *points: str, follow_ups: tuple[str, ...] = ()) -> Said:
        """The pattern may be followed by whom it is said to, and by punctuation."""
        whole = re.compile(
            rf"(?:{pattern})(?: (?:there|bot|all|everyone|everybody|team|again))?", re.I
        )
        return cls(whole, answer, points, follow_ups)


ABILITIES = (
    "**Tables and files**: totals, averages, rankings, trends and charts of a CSV or Excel file; "
    "passages of a PDF, a Word document or a web page",
    "**Slack**: summaries and action items of a thread or a channel, search, people, channels, "
    "canvases, messages now or later (somebody approves each)",
    "**The database**: “How many orders per region are in the database?”",
    "**Sums, units, dates and times**: “What is 18% of 24,350?”, “10 miles in km”, “9:30 Berlin in Tokyo”",
    "**Later**: “Every Monday at 9, tell me the total revenue”, “Remind me tomorrow at 10 to call Ben”",
    "**Memory**: “Remember that our fiscal year starts in July”",
)
REAL_MODEL = (
    "Set `OPENAI_API_KEY` in the environment or in `.env` and start `bot dev` again: then a real "
    "model answers. `OPENAI_BASE_URL` names another server that speaks the Responses API."
)
TABLE = (
    Said.of(
        r"h(?:ello|i|ey|iya)|yo|good (?:morning|afternoon|evening|day)|greetings|howdy|test(?:ing)?|"
        r"(?:hello|hi|hey),? how are you|is (?:anybody|anyone) there",
        f"Hello! I am {STAND_IN}. Attach a file and ask about it, or ask about this conversation.",
        follow_ups=EXAMPLES,
    ),
    Said.of(
        r"help(?: me)?|what (?:can|do) (?:you|i) (?:do|ask|help)(?: (?:for|with|you|me|us))*\b.*|"
        r"what (?:are|is) (?:you|this)(?: (?:able to do|capable of|for|good (?:at|for)))|"
        r"how (?:does|do) (?:this|you) work|(?:what|which) (?:tools|skills|commands) (?:do you have|are there)|what else can you do|(?:hi|hello),? what can you do",
        f"I am {STAND_IN}. This is what I do well:",
        *ABILITIES,
        follow_ups=EXAMPLES[1:],
    ),
    Said.of(
        r"(?:who|what) are you|(?:which|what) (?:model|llm|ai)\b.*|are you (?:chatgpt|gpt|claude|gemini|"
        r"an? (?:ai|robot|bot|human|person|real)|human|real)\b.*|is (?:this|it) (?:the |a )?(?:real|ai|chatgpt)\b.*",
        f"I am {STAND_IN}: tools, approvals and everything you see in Slack are the real "
        f"ones, only the thinking is done by fixed rules. {REAL_MODEL}",
        follow_ups=("What can you do?",),
    ),
    Said.of(
        r".*\b(?:set|use|connect|get|configure|switch to|try)\b.*\b(?:real|actual|proper|better|other|own) "
        r"(?:model|llm|ai)\b.*|.*\b(?:api.?key|openai_api_key)\b.*",
        REAL_MODEL,
    ),
    Said.of(
        r"how (?:do|can) (?:i|we) (?:connect|install|add|bring|set up|deploy)\b.*\bslack\b.*",
        "In six steps, which the README has under “Install”: `bot manifest --form link` prints a link that "
        "creates the app in your workspace; then its tokens go into `.env`, and `bot doctor` says "
        "whether all is well.",
    ),
    Said.of(
        r"how (?:do|can) (?:i|we) (?:add|invite|get) (?:you|the bot|this bot|it)\b.*",
        "Write `/invite` and my name in the channel, or mention me there: Slack then offers to add me.",
    ),
    Said.of(
        r"(?:what|which) (?:kinds? of |types? of )?(?:files?|file types|formats?|documents?) (?:can|do) you (?:read|open|take|support|handle|understand|know).*",
        "CSV, Excel and JSON as tables; PDF, Word, Markdown, logs and other text as words. Images I am shown, but only "
        "a real model sees what is in them.",
    ),
    Said.of(
        r"how (?:do|can|should) (?:i|we) (?:schedule|set|use|ask|post|upload|attach|export|share|search|remind)\b.*",
        "Say it as you would to a person. I know these:",
        *ABILITIES,
        follow_ups=EXAMPLES,
    ),
    Said.of(
        r".*\bmcp\b.*",
        "MCP servers are entries of `[mcpServers.…]` in `bot.toml`; their tools are then offered like "
        "all others. `bot mcp` lists what they offer, and asks before a change of it counts.",
    ),
    Said.of(
        r".*\b(?:my|our) (?:data|files|messages) (?:safe|private|secure|stored)\b.*|can you (?:read|see) my "
        r"(?:dms?|messages|direct messages|files)\b.*|is (?:this|it) (?:safe|private|secure)\b.*",
        "I see what is said to me, the conversations I was invited to, and public channels through "
        "search; other people's direct messages never. With a stand-in no words go to a model service; "
        "with `OPENAI_API_KEY` set they go to that service.",
    ),
    Said.of(
        r".*\b(?:how much|what) (?:did|does|do) (?:this|that|it|you) cost\b.*|.*\bwhat.* costs? of (?:this|that)\b.*",
        "The line under each answer says what it took. A stand-in costs nothing; with a real model the "
        "price of each answer stands there.",
    ),
    Said.of(
        r"(?:what(?:'s| is| are)|show|change) (?:me )?(?:your|my|the) (?:settings|configuration|instructions)\b.*",
        "The **Home** tab shows your settings and, for admins, those of each channel. What an operator "
        "sets stands in `bot.toml` and `.env`.",
    ),
    Said.of(
        r"(?:why|when|what) (?!did|was|were)(?:\w+ ){0,4}approvals?\b.*|(?:who|when) (?:can|must|should|has to|have to|needs? to|do i) approve(?: it| this| that| things)?|why (?:do|must|should) (?:i|we|somebody) (?:approve|press|click).*",
        "Whatever others see or what lasts, as a message, a canvas or a schedule, waits for a yes: the card shows "
        "exactly what would be done, and nothing happens before. You may approve, deny, or write what to change.",
    ),
    Said.of(
        r"(?:many |ok(?:ay)?,? |great,? |no,? )?(?:thanks|thank you|thx|ty|cheers|danke|merci)"
        r"(?: (?:so|very) much| a lot| for .*)?(?:,? (?:that|this|it) (?:helps?|helped|works?)\b.*)?",
        "You are welcome.",
    ),
    Said.of(
        r"ok(?:ay)?|k|good|great|nice|cool|perfect|awesome|wow|lol|haha+|(?:very |so )?(?:good|nice|well) (?:job|work|done|one)|"
        r"yes|yep|sure|no|nope|got it|i see|understood",
        "Glad to help. Ask me anything else here, or start with a file.",
    ),
    Said.of(
        r"(?:(?:show|give)(?: me)?|any|for)(?: an?| some| a few)? examples?(?: questions?)?|such as|like what",
        "Questions of which I know the answer:",
        follow_ups=EXAMPLES[1:],
    ),
    Said.of(
        r"never ?mind|nothing|no worries|(?:it'?s )?(?:all )?good now|cancel that",
        "All right. I am here when you need me.",
    ),
    Said.of(r"(?:good ?)?bye|see you(?: later)?|good night|ciao|later", "Goodbye! I am here when you need me."),
    Said.of(
        r"am i (?:talking|speaking|chatting|writing) (?:to|with) .*|how old are you|where are you(?: from)?|i (?:love|like|hate) you|"
        r"do you (?:have feelings|love me|sleep)|can you (?:see|hear|read) (?:this|me)",
        f"You are writing with a program: I am {STAND_IN}. I read every message that is for me.",
        follow_ups=("What can you do?",),
    ),
    Said.of(
        r"(?:can you |please )?(?:speak|talk|answer)(?: in)? (?:german|french|spanish|italian|japanese|chinese|portuguese)|"
        r"do you speak .*",
        f"I only know English: I am {STAND_IN}. {REAL_MODEL}",
    ),
    Said.of(
        r"how are you(?: doing)?(?: today)?|how(?:'s| is) it going|what'?s up|sup",
        "All my rules are in order, thank you. What would you like to know?",
        follow_ups=EXAMPLES,
    ),
    Said.of(
        r"(?:tell|do you know|say|got)\b.*\bjokes?\b.*|(?:another )?joke|make me laugh",
        "The only one in my rules: a pie chart walks into a bar chart, and both ask to be plotted as lines. "
        f"Better ones need a real model; I am {STAND_IN}.",
    ),
    Said.of(
        r"(?:you(?:'re| are)?|this|that|it)(?:'s| is)? (?:so |really |a |an )*(?:stupid|dumb|useless|bad|terrible|shit|crap|garbage|"
        r"idiot|wrong|nonsense|awful|rubbish)\b.*|(?:that|this|it)(?:'s| is|'s| was) not (?:what i (?:asked|meant|wanted)|right|correct|true).*|(?:stupid|dumb|useless|shit|crap|idiot|fuck|damn|wtf)\b.*",
        f"I am sorry that this was no help. I am {STAND_IN}, so my rules may well have missed your point: "
        "“What can you do?” lists what they know.",
        follow_ups=("What can you do?",),
    ),
)  # fmt: skip
UNCLEAR = re.compile(
    r"(?:it|why|this|that|these|those|and|so|what|huh|hm+|eh|how|who|when|where|which|go on|more|continue)?",
    re.I,
)
EMOJI = re.compile(r"(?:[^\w\s?!.,]|:[a-z0-9_+'-]+:|\ufe0f|\s)+")
LONGEST = 160  # characters of small talk
_EDGES = " \t\n.,!?…"


def is_asked(view: View) -> bool:
    """Whether the whole message is small talk, or too little to go by."""
    if view.turn.files or view.turn.quoted or len(view.text) > LONGEST:
        return False
    return is_small_talk(view.text) or _is_emoji(view) or _is_unclear(view)


def is_small_talk(text: str) -> bool:
    """Whether the table has an answer to the whole message."""
    return _said(text) is not None


def answer(view: View, found: Findings) -> None:
    """The answer of the table; of an emoji or a lone pronoun, what would help."""
    if said := _said(view.text):
        found.summary, found.points = (
            said.answer,
            [each for each in said.points if _is_of_here(view, each)],
        )
        found.follow_ups = list(said.follow_ups)
    elif _is_emoji(view):
        found.summary = "Nice! And what can I find out for you?"
        found.follow_ups = list(EXAMPLES)
    else:
        found.summary = (
            "I am not sure what you mean: as a stand-in model I go by the words of a message, and these "
            "are too few. Which file, thread or figure is it about?"
        )
        found.follow_ups = ["What can you do?"]


def _is_of_here(view: View, ability: str) -> bool:
    return view.knows("list_databases") or not has(ability, "database")


def _said(text: str) -> Said | None:
    plain = EMOJI_AT_END.sub("", text).strip(_EDGES).replace("’", "'")
    wordings = (plain, GREETING.sub("", plain))
    return next((each for one in wordings for each in TABLE if each.pattern.fullmatch(one)), None)


GREETING = re.compile(
    r"^(?:h(?:ello|i|ey)|good (?:morning|afternoon|evening))(?: (?:there|bot|all|team))?[,.! ]+",
    re.I,
)
EMOJI_AT_END = re.compile(r"(?:\s*(?:[^\w\s?!.,'\")]|:[a-z0-9_+'-]+:|\ufe0f))+\s*$")


def _is_emoji(view: View) -> bool:
    return bool(EMOJI.fullmatch(view.text)) and bool(re.search(r"[^\W_]|[^\x00-\x7f]", view.text))


def _is_unclear(view: View) -> bool:
    return bool(UNCLEAR.fullmatch(view.text.strip(_EDGES))) and not has(view.text, "no words")
