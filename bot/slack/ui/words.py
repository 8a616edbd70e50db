"""Texts that people see, plain and short.

The texts of the Home tab are in `home_words`, those of approvals in `approval_words`.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.text.translation import Plural, Text

WORKING = Text("Working on it…")
WAITING_FOR_ROOM = Text("Waiting: other questions have reserved the rest of the budget…")
THINKING = Text("Thinking")
USES_THE_SKILL = Text("Uses the skill {skill}")
TRYING_AGAIN = Text("no answer yet, trying again")
STEP_FAILED = Text("That did not work: {why}")
LABELLED = Text("{label}: {value}")
NOT_DONE = Text("Not done: {title}")
EARLIER_STEPS = Plural("{count} earlier step", "{count} earlier steps")
ALSO = Text("Also: {text}")
ALSO_MORE = Text("Also: {text} (and {count} more)")
STATUS_STARTING = Text("is reading your question…")
STATUS_IN_LINE = Text("is working on your other questions; this one is next…")
STATUS_PLACE_IN_LINE = Text("is busy with other questions; this one is number {place} in line…")
STATUS_THINKING = Text("is thinking…")
STATUS_WORKING = Text("is working: {step}")
STATUS_WAITING_FOR_ROOM = Text("is waiting: other questions have reserved the rest of the budget…")
STATUS_WRITING = Text("is writing the answer…")
STATUS_PAUSED = Text("is paused by {name} and will answer later…")
STATUS_WAITING = Text("cannot save anything right now and will continue as soon as it can…")
WAITING = Text(
    ":hourglass: I cannot save my work right now, so I am waiting. I will continue as soon as I "
    "can."
)
LOADING = (Text("Reading the question…"), Text("Looking things up…"), Text("Checking the sources…"))
STOP = Text("Stop this answer")
CANNOT_STOP = Text("This answer continues: only people who may ask here can stop it. {why}")
RETRY = Text("Retry")
ASK_AGAIN = Text("Ask again")
ASK_AGAIN_HINT = Text("The same question, another answer")
LOOK_DEEPER = Text("Look deeper")
LOOK_DEEPER_HINT = Text("The same question, more research; costs more")
DETAILS = Text("Details")
DETAILS_HINT = Text("Model, time, cost and tools")
DETAILS_GONE = Text("The details of this answer are no longer stored.")
MORE = Text("More…")
DETAIL_PROFILE = Text("Profile")
DETAIL_MODEL, DETAIL_TIME, DETAIL_COST = Text("Model"), Text("Time"), Text("Cost")
DETAIL_EFFORT, DETAIL_TURNS, DETAIL_CALLS, DETAIL_TOKENS = (
    Text("Effort"),
    Text("Model calls"),
    Text("Tool calls"),
    Text("Tokens"),
)
TOKENS_OF = Text("{input} in ({cached} from the cache), {output} out")
DETAIL_TOOLS = Text("Tools used: {tools}")
DETAIL_SKILLS = Text("Skills used: {skills}")
STOPPED_BY = Text("Stopped by <@{person}>.")
STOPPED = Text("Stopped before it was finished.")
LATE = Text(":hourglass: I was not running when you asked this, so my answer comes late.")
FOUND_SO_FAR = Text("What I had found so far:")
REHEARSED = Text("Dry run, so this was not done")
CALLED_OFF = Text("Not done: {titles}.")
NOTHING_FOUND_YET = Text("I had not found anything yet.")
ANSWER_BEGUN = Text("The answer, as far as I had written it")
CALL_OFF_WORDS = frozenset(
    {"cancel", "cancel it", "cancel that", "abbrechen", "annule", "annuler", "cancela", "cancelar"}
    | {"cancele", "キャンセル", "中止"}
)
"""Messages that stop a run. Without a run they may refer to something else, such as a reminder."""
STOP_WORDS = CALL_OFF_WORDS | {
    "stop",
    "stop it",
    "stop that",
    "stop now",
    "stop please",
    "please stop",
    "stopp",
    "abort",
    "halt",
    "never mind",
    "nevermind",
    "aufhören",
    "arrête",
    "arrêter",
    "arrêtez",
    "detente",
    "parar",
    "pare",
    "止めて",
    "停止",
    "ストップ",
}
"""Messages that stop a run if they contain nothing else."""
GREETING_WORDS = (
    "hi",
    "hey",
    "hello",
    "dear",
    "please",
    "thanks",
    "thank you",
    "ok",
    "okay",
    "and",
    "so",
    "cc",
    "fyi",
    "ping",
    "over to",
    "hallo",
    "danke",
    "merci",
    "bonjour",
    "hola",
    "olá",
)
"""Words that may precede the name of the person whom a message addresses."""
YES_WORDS = frozenset(
    {
        "yes",
        "yes please",
        "yes do it",
        "yes go ahead",
        "y",
        "yep",
        "yeah",
        "sure",
        "ok",
        "okay",
        "approve",
        "approved",
        "i approve",
        "approve it",
        "confirm",
        "confirmed",
        "lgtm",
        "go",
        "go ahead",
        "go for it",
        "do it",
        "please do",
        "ja",
        "ja bitte",
        "oui",
        "d'accord",
        "vas-y",
        "sí",
        "vale",
        "sim",
        "はい",
        "post it",
        "send it",
        ":+1:",
        ":thumbsup:",
        ":white_check_mark:",
        "👍",
        "✅",
    }
)
"""Messages that may be meant as approval of a card if they contain nothing else."""
FAILED = Text("Something went wrong on my side and I could not answer. Please try again.")
PARTIAL = Text("This is not the whole answer.")
REVISED = Text(":pencil2: Revised: the question was edited.")
ANSWERED_AGAIN = {
    "retry": Text(":arrows_counterclockwise: Tried again, for {person}."),
    "regenerate": Text(":arrows_counterclockwise: Another answer, for {person}."),
    "deeper": Text(":mag: A deeper answer, for {person}."),
}
DELETED = Text(":wastebasket: The question was deleted.")
DELETED_AMONG = Text(":wastebasket: One of the questions that this answers was deleted.")
NO_TEXT = Text("I have no text to show for this answer.")
GAPS = Text("Limits of this answer")
SOURCES = Text("Sources")
MESSAGE = Text("message")
DECIDED = Text("Decided")
OPEN = Text("Still open")
TIMELINE = Text("Timeline")
PARTICIPANTS = Text("Participants:")
TASK, OWNER, DUE = Text("To do"), Text("Who"), Text("Due")
SHORTER, FRIENDLIER = Text("Shorter"), Text("Friendlier")
ASSUMPTIONS = Text("Check before you post it")
DATA_IN_FILE = Text("The result has {size} characters; this is the beginning. Full result: {name}.")
COST_UNKNOWN = Text("cost unknown")
FILE_INSTEAD = Text("The whole answer is too long for Slack, so I attached it: *{name}*.")
NO_FILE = Text("The file {name} could not be attached: {reason}")
_FILES_NOT_ALLOWED = Text("this workspace does not allow such files here. An admin can allow them.")
NO_FILE_REASONS = {
    **dict.fromkeys(
        (
            "file_uploads_disabled",
            "file_uploads_except_images_disabled",
            "blocked_file_type",
            "file_type_not_allowed",
            "posting_to_channel_denied",
            "user_is_external_guest",
            "slack_connect_file_upload_sharing_blocked",
            "slack_connect_blocked_file_type",
        ),
        _FILES_NOT_ALLOWED,
    ),
    "file_upload_size_restricted": Text("it is larger than this workspace allows."),
    "storage_limit_reached": Text("the workspace has no storage left for files."),
    "missing_scope": Text(
        "I lack the permission files:write. An admin can grant it by installing me again."
    ),
}
NO_FILE_REFUSED = Text("Slack refused it ({code}).")
NO_FILE_GONE = Text("it is no longer stored. Ask me to make it again.")
NO_FILE_OTHERWISE = Text("Slack did not accept it. Ask me for it again if you need it.")
TABLE_CUT = Text(
    "The table has {rows} rows and {columns} columns; this is the beginning. Full table: *{name}*."
)
CHART_MISSING = Text("A chart is missing here: it is no longer stored.")
CHART_AS_IMAGE = Text("Chart “{title}”: see the attached image.")
CHART_AS_TABLE = Text("Chart “{title}” in numbers:")
CHART_ALT = Text("{kind} chart “{title}”.")
CHART_KINDS = {
    "bar": Text("Bar"),
    "stacked": Text("Stacked bar"),
    "line": Text("Line"),
    "area": Text("Area"),
    "pie": Text("Pie"),
    "scatter": Text("Scatter"),
    "box": Text("Box"),
    "heatmap": Text("Heatmap"),
}

ALONE = Text(":lock: Working on it. Only you will see the answer.")
ALONE_AT = Text(":lock: Working on it. Only you will see the answer, at <{link}|this message>.")
ALONE_TITLE = Text("Only for you")
ALONE_LEAVE = Text("You can close this window. The answer comes all the same.")
ALONE_DONE = Text(":lock: Done. Only you see the answer, at <{link}|this message>.")
ALONE_DONE_DIRECT = Text(":lock: Done. The answer is in our direct messages.")
KEPT_PRIVATE = Text(
    ":lock: I answer {person} in a direct message, because the answer uses their account."
)
KEPT_PRIVATE_PLAIN = Text("I answer this in a direct message.")
OWN_ACCOUNTS = Text("with {person}'s own {accounts}")
YOUR_ACCOUNTS = Text("with your own {accounts}")
ASKED_ALONE = Text("You asked: {question}")
SHARED_BY = Text("{person} asked me this and shared my answer: {question}")
NOTHING_RUNS = Text("Nothing is running here any more.")
CANNOT_RETRY = Text("I no longer have that question. Please ask it again.")
WAS_EDITED = Text("That question was edited. I am answering the new version.")
ALREADY_ASKED = Text("That was already asked: see below in the thread.")
GONE = Text(
    "I could not post my answer in <#{channel}>: {reason} If you still need it, ask me again, here "
    "if you like."
)
GONE_DIRECT = Text("I could not post my answer: {reason} If you still need it, ask me again.")
GONE_REASONS = {
    "thread_not_found": Text("the thread was deleted."),
    "channel_not_found": Text("I can't see that channel any more."),
    "not_in_channel": Text("I am not in that channel any more."),
    "is_archived": Text("the channel was archived."),
    "is_inactive": Text("the channel was archived."),
    "restricted_action_thread_locked": Text("the thread was locked."),
    "restricted_action_read_only_channel": Text("only some people may post there."),
}
LOST = Text("I lost track of this question, so it has no answer. Please ask it again.")
NOT_INSTALLED = Text(
    "I am not installed in this workspace any more. An admin can install me again."
)
GONE_OTHERWISE = Text("Slack would not let me post there.")
ATTACHED_ONLY = Text("(No text; see the attachments.)")

EXAMPLES = (
    Text("Summarise this thread and list what is still open"),
    Text("What were last month's sales by region? Make a chart"),
    Text("Compare the two attached files and tell me what changed"),
)
EXAMPLES_DIRECT = (
    Text("What can you do for me, and which data can you ask?"),
    Text("Remember that I like short answers"),
    Text("Every Monday at 09:00, ask me what I plan for the week"),
)
EXAMPLES_BESIDE = (
    Text("What was said in {place} today?"),
    Text("What was decided in {place} this week?"),
    Text("Which questions in {place} are still open?"),
)
CAN_DO = Text(
    "I look things up in threads, files, channels, web pages and databases. You get one answer "
    "with its sources, and tables or charts where they help."
)
HOW_TO_ASK = (
    Text("*Mention me* in a channel or thread, with files if you like."),
    Text("*Write to me* directly: I answer right there, and know what came before."),
    Text("*Ask about a message*: its menu (⋮) → _Ask about this…_"),
    Text("*Summarise thread*, *Extract action items*, *Draft a reply*: in the same menu."),
    Text("*From anywhere*: the ⚡ menu → _Ask…_, or type `/ask` and your question."),
)
ASKED_BY = Text("Asked for by <@{person}>")
BY_RULE = Text("By a rule of {person} for this channel")
APPROVED_BY = Text("approved by <@{person}>")
WHILE_WORKING = Text("You see each step while I work. *Stop this answer* stops me at once.")

ASKED = Text(" asked:")
SCHEDULED_BY = Text(":alarm_clock: Scheduled by {person} on {day}, due {when}: {question}")
KEPT_UP_TO_DATE = Text("Keep the figures up to date: {question}")
FOLLOW_UP_TITLE = Text("Ask this?")
ASK_SUBMIT = Text("Ask")
CLOSE = Text("Cancel")
CLOSE_ONLY = Text("Close")
IN_THREAD = Text("In the thread")
ONLY_ME = Text("Only to me")
ABOUT = Text("About this message:")
EMPTY_QUESTION = Text("Please type a question.")
RAISE_HALF, RAISE_DOUBLE = Text("Raise budget by 50%"), Text("Double budget")
RAISE_TITLE = Text("Raise this budget?")
RAISE_TEXT = Text(
    "Only admins can do this. Everybody here will see who did. It lasts until the budget renews."
)
RAISE_CONFIRM = Text("Raise it")
NOT_OURS = Text("I don't know that budget.")
OR = Text(" or ")
SCHEDULE_STOPPED = Text("I stopped what you scheduled {place} (“{text}”). {why}")
SCHEDULE_RESTS = Text(
    "What you scheduled {place} did not run this time (“{text}”). {why} I try again {when}."
)
SCHEDULE_FAILED = Text("It failed {count} times in a row. Last error: “{why}”")
SCHEDULE_AGAIN = Text("It ran {often} ({time_zone}). To restart it, ask me again.")
SCHEDULE_WAITS = Text(
    "I have paused what you scheduled: {text}\nIt needs your *{server}* account, and {server} has "
    "ended our connection. Connect it again in my Home tab, and the schedule goes on."
)
SWITCHED_OFF = Text("The feature that this needs is switched off.")
JOB_SWITCHED_OFF = Text(
    "What you started with a button was not done: the feature that it needs is switched off."
)
SCHEDULE_OWNER_LEFT = Text(
    "I stopped what <@{person}> scheduled here (“{text}”): their account is no longer active. "
    "If you need it, ask me again."
)
SCHEDULE_CAME = Text("It ran {often} ({time_zone}).")
IN_DIRECT = Text("in direct messages")
IN_PLACE = Text("in {channel}")
THREAD_GONE = Text("Its thread no longer exists.")
IS_IT_FOR_ME = Text(
    "Is that for me? Several people write in this thread, so I was not sure. A mention always "
    "reaches me."
)
FOR_YOU = Text("Yes, answer it")
PAUSED = Text("I am paused. Questions wait until an admin runs `/ask admin resume`.")
PAUSED_BY_OPERATOR = Text(
    "I work for other workspaces too, so only the bot's operator can pause and resume me."
)
RESUMED = Text("I am running again.")
ADMIN_ORDERS = Text(
    "Admins can run `/ask admin pause` and `/ask admin resume`; everything else is in my Home tab."
)

INVITE = Text("I am not in that channel. Invite me there with “/invite @{name}”.")
INVITE_HERE = Text(
    "I am not in this channel. Invite me with “/invite @{name}”, then ask again: {question}"
)
ARCHIVED = Text("That channel is archived.")
ANSWERED_DIRECTLY = Text("I am not in this conversation, so I am answering in our direct messages.")
CANNOT_ASK = Text("I can't take this question there: {reason}")
NOT_YOUR_CHANNEL = Text("You are not in that channel.")
MODAL_TOO_LATE = Text(
    "I was too slow: Slack lets me open a form for three seconds only. Please try again."
)
TRY_AGAIN = Text("Slack did not accept that. Please try again.")
WENT_WRONG = Text("Something went wrong on my side. Please try again.")
GOES_WRONG = Text("Something goes wrong on my side each time.")


def also(texts: Sequence[str]) -> str:
    """Return the title of the card for messages that joined a run."""
    first, *more = texts
    return ALSO_MORE(text=first, count=len(more)) if more else ALSO(text=first)


TRIAL_QUESTION = Text("A question to try it on")
MUST_SAY, MUST_NOT_SAY = Text("What the answer must say"), Text("What the answer must not say")
MUST_SAY_HINT = Text("One text or figure per line. A figure counts in any notation.")
MUST_NOT_SAY_HINT = Text("One text or figure per line.")
TRY = Text("Try before and after")
NOTHING_YET = Text(
    "*Try before and after* asks the question twice: with what is saved and with what is written here. "
    "It uses your budget. Nothing changes until you press *Save*."
)
TRYING = Text(":hourglass: Working on it. The result comes here, or to you in a message.")
TRIAL_PROBLEM = ":warning: {problem}"
TRIED_BEFORE, TRIED_AFTER = Text("With what is saved"), Text("With what is written here")
PASSES, FAILS = Text("passes"), Text("fails")
TRIAL_COST = Text("This trial cost {cost}.")
NEEDS_CASE = Text("Write a question here, and below what its answer must or must not say.")
GAVE_UP = Text("This failed several times, so I gave up.")

ASK_COMMAND = Text(
    "Or write `/ask` and your question: I answer here. `/ask` alone opens a form, where you can also "
    "choose a direct message."
)
EXAMPLES_OF = Text("For example, mention @{name} and write:")


def help_text(name: str) -> str:
    """Return the reply to a mention without a question, as mrkdwn."""
    examples = "\n".join(f"• _{example()}_" for example in EXAMPLES)
    return f"{CAN_DO()}\n\n{EXAMPLES_OF(name=name)}\n{examples}"
