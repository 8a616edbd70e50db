"""Small talk, and questions about the bot itself: a table of what is said and what is answered."""

from __future__ import annotations

import re

from ..findings import EXAMPLES, STAND_IN, Findings
from ..phrasing import phrase
from ..view import View
from ..words import has

ABILITIES = (
    ("read_file query_table", "**Tables and files**: totals, averages, rankings, trends and charts of a CSV or Excel file; "
     "passages of a PDF or a Word document"),
    ("fetch_page", "**Web pages**: what one says, by its address"),
    ("read_channel", "**Slack**: summaries and action items of a thread or a channel, search, people, channels, canvases"),
    ("post_message", "**Messages**, now or later: somebody approves each"),
    ("list_databases", "**The database**: “How many orders per region are in the database?”"),
    ("calculate", "**Sums**: “What is 18% of 24,350?”, “10 miles in km”"),
    ("convert_time", "**Dates and times**: “9:30 Berlin in Tokyo”"),
    ("schedule_prompt", "**Later**: “Every Monday at 9, tell me the total revenue”, “Remind me tomorrow at 10 to call Ben”"),
    ("remember", "**Memory**: “Remember that our fiscal year starts in July”"),
)  # fmt: skip
"""What can be done, each with the tools that it takes, which may be missing in a channel."""
HELP = f"I am {STAND_IN}. This is what I do well:"
READY = "I am here when you need me. Ask me anything else here."
TALK = (
    (r"(?:h(?:ello|i|ey)|good (?:morning|afternoon|evening))(?: (?:there|bot|all|everybody))?(?:,? how are you)?|how are you",
     f"Hello! I am {STAND_IN}. Ask me anything, or what I can do."),
    (r"help(?: me)?|what (?:can|do) you do(?: for (?:me|us))?(?:,? and which data can you ask)?|what can (?:I|we) (?:do|ask)(?: you)?|how does this work|examples",
     HELP),
    (r"(?:who|what) are you|(?:which|what) (?:model|ai) (?:are you|is this|do you use)|are you (?:chatgpt|claude|an? (?:ai|robot|bot|human)|human|real)|"
     r"how (?:do|can) (?:I|we) (?:use|get|set|connect) (?:a|the) real (?:model|ai)",
     f"I am {STAND_IN}: tools, approvals and everything you see in Slack are the real ones, only the thinking is done by fixed "
     "rules. Set `OPENAI_API_KEY` in the environment or in `.env` and start `bot dev` again: then a real model answers. "
     "`OPENAI_BASE_URL` names another server that speaks the Responses API."),
    (r"how (?:do|can) (?:I|we) (?:connect|install|add|bring) (?:you|this|it) (?:to|in|into) (?:our |my )?slack",
     "In six steps, which the README has under “In Slack, in six steps”: `bot manifest --form link` prints a link that creates the app in your "
     "workspace; then its tokens go into `.env`, and `bot doctor` says whether all is well."),
    (r"how (?:do|can) (?:I|we) (?:add|invite) (?:you|the bot)(?: to (?:a|the|this) channel)?",
     "Write `/invite` and my name in the channel, or mention me there: Slack then offers to add me."),
    (r"(?:what|which) (?:kinds of )?files (?:can|do) you (?:read|support|understand)",
     "CSV, Excel and JSON as tables; PDF, Word, Markdown, logs and other text as words. Images I am shown, but only "
     "a real model sees what is in them."),
    (r"(?:is|are) my (?:data|files|messages) (?:safe|private|secure)|can you (?:read|see) my (?:messages|direct messages|files)|what can you see",
     "I see what is said to me, the conversations I was invited to, and public channels through search; other people's direct "
     "messages never. With a stand-in no words go to a model service; with `OPENAI_API_KEY` set they go to that service."),
    (r"(?:how much|what) (?:did|does|do) (?:this|that|it|you) cost",
     "The line under each answer says what it took. A stand-in costs nothing; with a real model the price of each answer stands there."),
    (r"(?:why|when) (?:do|must|should) (?:I|we|somebody) (?:have to )?approve(?: (?:it|this|that|things))?|what is an approval",
     "Whatever others see or what lasts, as a message, a canvas or a schedule, waits for a yes: the card shows "
     "exactly what would be done, and nothing happens before. You may approve, deny, or write what to change."),
)  # fmt: skip
THANKS = r"(?:many )?(?:thanks|thank you|thx|cheers)(?: (?:so much|very much|a lot|again|(?:for|to) (?:this|that|you|your help|the \w+)))?"
COURTESIES = (
    THANKS,
    r"(?:great|good|nice|perfect|cool|wow|awesome|excellent)(?: (?:numbers|job|work|answer|chart|summary|stuff|one))?",
    r"(?:that|this|it)(?:['’]s| is| was| will be) (?:all|it|everything|enough|great|good|perfect|fine|(?:very |really )?helpful)(?: (?:for (?:now|today)|(?:that )?I need(?:ed)?))?",
    r"(?:that|this|it) (?:helps|helped|works|worked)",
    r"no(?:thing)?(?: (?:more|other|further))?(?: (?:questions|else))?(?: for (?:now|today))?|I(?:['’]m| am) (?:done|good|fine)(?: for (?:now|today))?",
    r"ok(?:ay)?|yes|got it|never ?mind|well done|all (?:good|set|clear)|(?:good)?bye|see you(?: (?:later|soon|tomorrow))?|have a (?:nice|good|great) (?:day|evening|weekend|one)",
    r"you(?:['’]re| are) (?:great|awesome|the best)",
    r"👍|🙏|🎉|:\+1:",
)  # fmt: skip
"""What is said around work; a message may hold several of them, and nothing else."""
COURTESY = phrase(
    rf"(?:{'|'.join(COURTESIES)})(?:(?:\s*[,.!;–-]\s*|\s+)(?:and )?(?:{'|'.join(COURTESIES)}))*"
)
TABLE = tuple((phrase(form), told) for form, told in TALK)
EMOJI = re.compile(r"(?:\s*(?:[^\w\s?!.,'\")]|:[a-z0-9_+'-]+:))+\s*$")


def is_asked(view: View) -> bool:
    """Whether the table has an answer to the whole message."""
    return not (view.turn.files or view.quoted) and _answer(view.text) is not None


def answer(view: View, found: Findings) -> None:
    """The answer of the table."""
    found.summary = _answer(view.text) or ""
    found.follow_ups = list(EXAMPLES)
    if found.summary == HELP:
        found.follow_ups = found.follow_ups[1:]  # the first asks for this
        found.points = [told for tools, told in ABILITIES if all(map(view.knows, tools.split()))]


def _answer(text: str) -> str | None:
    """To the message, or to what is left of it without greeting and thanks."""
    plain = EMOJI.sub("", text) or text
    if COURTESY.fullmatch(plain):
        return "You are welcome." if has(plain, THANKS) else READY
    return next((told for form, told in TABLE if form.fullmatch(plain)), None)
