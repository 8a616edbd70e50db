"""Texts that people see, plain and short.

The texts of the Home tab are in `home_words`, those of approvals in `approval_words`.
"""

from __future__ import annotations

from collections.abc import Sequence

WORKING = "Working on it…"
WAITING_FOR_ROOM = "Waiting: other questions have reserved the rest of the budget…"
THINKING = "Thinking"
TRYING_AGAIN = "no answer yet, trying again"
STEP_FAILED = "That did not work: {why}"
NOT_DONE = "Not done"
READING = "Read the question"
ALSO = "Also: {text}"
ALSO_MORE = "Also: {text} (and {count} more)"
STATUS_STARTING = "is reading your question…"
STATUS_IN_LINE = "is working on your other questions; this one is next…"
STATUS_PLACE_IN_LINE = "is busy with other questions; this one is number {place} in line…"
STATUS_THINKING = "is thinking…"
STATUS_WORKING = "is working: {step}"
STATUS_WAITING_FOR_ROOM = "is waiting: other questions have reserved the rest of the budget…"
STATUS_WRITING = "is writing the answer…"
STATUS_WAITING = "cannot save anything right now and will continue as soon as it can…"
WAITING = ":hourglass: I cannot save my work right now, so I am waiting. I will continue as soon as I can."
LOADING = ("Reading the question…", "Looking things up…", "Checking the sources…")
STOP = "Stop this answer"
CANNOT_STOP = "This answer continues: only people who may ask here can stop it. {why}"
RETRY = "Retry"
REGENERATE = "Regenerate"
GO_DEEPER = "Go deeper"
REFRESH = "Refresh"
DETAILS = "Details"
SHOW_EVIDENCE = "Show evidence"
DETAIL_MODEL, DETAIL_TIME, DETAIL_COST = "Model", "Time", "Cost"
DETAIL_EFFORT, DETAIL_TURNS, DETAIL_CALLS, DETAIL_TOKENS = "Effort", "Turns", "Tool calls", "Tokens"
TOKENS_OF = "{input} in ({cached} from the cache), {output} out"
DETAIL_TOOLS = "Tools used: {tools}"
STOPPED_BY = "Stopped by <@{person}>."
STOPPED = "Stopped before it was finished."
LATE = ":hourglass: I was not running when you asked this, so my answer comes late."
FOUND_SO_FAR = "What I had found so far:"
REHEARSED = "Dry run, so this was not done"
CALLED_OFF = "Not done: {titles}."
NOTHING_FOUND_YET = "I had not found anything yet."
ANSWER_BEGUN = "The answer, as far as I had written it"
CALL_OFF_WORDS = frozenset({"cancel", "cancel it", "cancel that"})
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
FAILED = "Something went wrong on my side and I could not answer. Please try again."
PARTIAL = "This is not the whole answer."
REVISED = ":pencil2: Revised: the question was edited."
ANSWERED_AGAIN = {
    "retry": ":arrows_counterclockwise: Tried again, for {person}.",
    "regenerate": ":arrows_counterclockwise: Another answer, for {person}.",
    "deeper": ":mag: A deeper answer, for {person}.",
}
DELETED = ":wastebasket: The question was deleted."
DELETED_AMONG = ":wastebasket: One of the questions that this answers was deleted."
NO_TEXT = "I have no text to show for this answer."
GAPS = "Limits of this answer"
SOURCES = "Sources"
MESSAGE = "message"
DECIDED = "Decided"
OPEN = "Still open"
TIMELINE = "Timeline"
PARTICIPANTS = "Participants:"
TASK, OWNER, DUE = "To do", "Who", "Due"
DRAFT = "A draft for you to copy and change. I have not posted it."
ASSUMPTIONS = "Check before you post it"
TONE = "Tone: {tone}"
DATA_IN_FILE = "The result has {size} characters; this is the beginning. Full result: {name}."
GOOD, BAD = "Good answer", "Bad answer"
THANKS = "Thanks, noted."
COMMENT_TITLE = "Thanks, noted"
COMMENT_SUBMIT = "Send"
COMMENT_LABEL = "What was wrong, or missing?"
COMMENT_HINT = "For example: the figures are from last year"
COMMENT_QUESTION = "Your question"
COMMENT_SHOW = "Admins may read my question, to fix this"
COMMENT_READERS = "The bot's admins read your comment and the question."
COMMENT_PRIVATE = (
    "The bot's admins read your comment. They do not see your question and my answer, unless you "
    "tick the box."
)
CONFIDENCE = {
    "low": "I am not sure of this: please check it before you rely on it.",
    "medium": "I am fairly sure of this, but not certain.",
}
COST_UNKNOWN = "cost unknown"
FILE_INSTEAD = "The whole answer is too long for Slack, so I attached it: *{name}*."
NO_FILE = "The file {name} could not be attached: {reason}"
_FILES_NOT_ALLOWED = "this workspace does not allow such files here. An admin can allow them."
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
    "file_upload_size_restricted": "it is larger than this workspace allows.",
    "storage_limit_reached": "the workspace has no storage left for files.",
    "missing_scope": "I lack the permission files:write. An admin can grant it by installing me again.",
}
NO_FILE_REFUSED = "Slack refused it ({code})."
NO_FILE_GONE = "it is no longer stored. Ask me to make it again."
NO_FILE_OTHERWISE = "Slack did not accept it. Ask me for it again if you need it."
TABLE_CUT = (
    "The table has {rows} rows and {columns} columns; this is the beginning. Full table: *{name}*."
)
CHART_MISSING = "A chart is missing here: it is no longer stored."
CHART_AS_IMAGE = "Chart “{title}”: see the attached image."
CHART_AS_TABLE = "Chart “{title}” in numbers:"
CHART_ALT = "{kind} chart “{title}”."
CHART_KINDS = {"bar": "Bar", "line": "Line", "area": "Area", "pie": "Pie"}

SHARE = "Post it in the thread"
ALONE = ":lock: Working on it. Only you will see the answer."
ALONE_AT = ":lock: Working on it. Only you will see the answer, at <{link}|this message>."
KEPT_PRIVATE = ":lock: I answer {person} in a direct message: they keep what their account has."
KEPT_PRIVATE_PLAIN = "I answer this in a direct message."
OWN_ACCOUNTS = "with {person}'s own {accounts}"
YOUR_ACCOUNTS = "with your own {accounts}"
ASKED_ALONE = "You asked: {question}"
SHARED_BY = "{person} asked me this and shared my answer: {question}"
CANNOT_SHARE = "I no longer have that answer. Please ask again."
NOTHING_RUNS = "Nothing is running here any more."
CANNOT_RETRY = "I no longer have that question. Please ask it again."
WAS_EDITED = "That question was edited. I am answering the new version."
ALREADY_ASKED = "That was already asked: see below in the thread."
GONE = (
    "I could not post my answer in <#{channel}>: {reason} If you still need it, ask me again, here "
    "if you like."
)
GONE_DIRECT = "I could not post my answer: {reason} If you still need it, ask me again."
GONE_REASONS = {
    "thread_not_found": "the thread was deleted.",
    "channel_not_found": "I can't see that channel any more.",
    "not_in_channel": "I am not in that channel any more.",
    "is_archived": "the channel was archived.",
    "is_inactive": "the channel was archived.",
    "restricted_action_thread_locked": "the thread was locked.",
    "restricted_action_read_only_channel": "only some people may post there.",
}
LOST = "I lost track of this question, so it has no answer. Please ask it again."
NOT_INSTALLED = "I am not installed in this workspace any more. An admin can install me again."
GONE_OTHERWISE = "Slack would not let me post there."
ATTACHED_ONLY = "(No text; see the attachments.)"

EXAMPLES = (
    "Summarise this thread and list what is still open",
    "What were last month's sales by region? Make a chart",
    "Compare the two attached files and tell me what changed",
)
EXAMPLES_DIRECT = (
    "What can you do for me, and which data can you ask?",
    "Remember that I like short answers",
    "Every Monday at 9:00, ask me what I plan for the week",
)
EXAMPLES_BESIDE = (
    "What was said in {place} today?",
    "What was decided in {place} this week?",
    "Which questions in {place} are still open?",
)
CAN_DO = (
    "I look things up in threads and their files, channel history, web pages and databases, and "
    "post one answer with its sources, with tables and charts where they help."
)
HOW_TO_ASK = (
    "*Mention me* in a channel or thread, with files if you like.",
    "*Write to me* directly; each message starts a thread, and I know the ones before it.",
    "*Ask about a message*: its menu (⋮) → _Ask about this…_",
    "*Summarise thread*, *Extract action items*, *Draft a reply*: in the same menu.",
    "*From anywhere*: the ⚡ menu → _Ask…_, or type `/ask` and your question.",
)
ASKED_BY = "Asked for by <@{person}>"
APPROVED_BY = "approved by <@{person}>"
WHILE_WORKING = "While I work you see each step, and *Stop* stops me at once."

ASKED = " asked:"
SCHEDULED = " scheduled this:"
ASK_TITLE = "Ask"
FOLLOW_UP_TITLE = "Ask this?"
ASK_SUBMIT = "Ask"
CLOSE = "Cancel"
CLOSE_ONLY = "Close"
SKIP = "Skip"
QUESTION_LABEL = "Your question"
QUESTION_HINT = "Anything you would ask a colleague who can look things up"
WHERE_LABEL = "Where should I answer?"
IN_THREAD = "In the thread"
ONLY_ME = "Only to me"
ONLY_ME_WHERE = "Nobody else sees it. If the message has a thread, look there."
IN_DM = "In a direct message with you"
IN_CHANNEL = "In a channel"
CHANNEL_LABEL = "Which channel?"
ABOUT = "About this message:"
ABOUT_THREAD = "The thread of this message:"
INSTRUCTION_LABEL = "Anything I should know?"
SUMMARISE_TITLE = "Summarise thread"
SUMMARISE_SUBMIT = "Summarise"
SUMMARISE_HINT = "For example: only what concerns the budget"
SUMMARISE_ASKED = "Summarise this thread."
EXTRACT_TITLE = "Extract action items"
EXTRACT_SUBMIT = "Extract"
EXTRACT_HINT = "For example: only what the sales team has to do"
EXTRACT_ASKED = "List the action items of this thread."
DRAFT_TITLE = "Draft a reply"
DRAFT_SUBMIT = "Draft"
DRAFT_HINT = "For example: say no, kindly, and offer next week"
DRAFT_ASKED = "Draft a reply to this message for me."
COSTLY_SCHEMA = (
    "The input “JSON schema” takes too long to check. Make it simpler, or leave it empty for an "
    "ordinary answer."
)
NO_JSON = "The input “JSON schema” is not valid JSON. Leave it empty for an ordinary answer."
EMPTY_QUESTION = "Please type a question."
CHOOSE_CHANNEL = "Please choose a channel, or let me answer in a direct message."
RAISE_HALF, RAISE_DOUBLE = "Raise budget by 50%", "Double budget"
RAISE_TITLE = "Raise this budget?"
RAISE_TEXT = (
    "Only admins can do this. Everybody here will see who did. It lasts until the budget renews."
)
RAISE_CONFIRM = "Raise it"
NOT_OURS = "I don't know that budget."
OR = " or "
SCHEDULE_STOPPED = "I stopped the question you scheduled {place} (“{text}”). {why}"
SCHEDULE_FAILED = "It failed {count} times in a row. Last error: “{why}”"
SCHEDULE_CANCELLED = "<@{person}>, an admin, cancelled it. Ask them if you need it."
SCHEDULE_AGAIN = "It ran {often} ({time_zone}). To restart it, ask me again."
SCHEDULE_WAITS = (
    "I have paused what you scheduled: {text}\nIt needs your *{server}* account, and {server} has ended "
    "our connection. Connect it on my Home tab, and the schedule goes on."
)
SCHEDULE_PAUSED = "paused until you connect {server}"
SCHEDULE_OWNER_LEFT = (
    "I stopped the question that <@{person}> scheduled here (“{text}”): their account is no longer active. "
    "If you need it, ask me again."
)
SCHEDULE_CAME = "It ran {often} ({time_zone})."
NEXT_TIME = "next {when}"
IN_DIRECT = "in direct messages"
THREAD_GONE = "The thread it was asked in is gone."
MENTION_ME_AMONG = (
    "Several people write in this thread, so I answer only when I am mentioned. If that was for me, "
    "mention me."
)
PAUSED = "I am paused and answer nothing until an admin runs `/ask admin resume`."
PAUSED_BY_OPERATOR = (
    "I work for other workspaces too, so only the bot's operator can pause and resume me."
)
RESUMED = "I am running again."
ADMIN_ORDERS = (
    "Admins can run `/ask admin pause` and `/ask admin resume`; everything else is in my Home tab."
)

INVITE = "I am not in that channel. Invite me there with “/invite @{name}”."
INVITE_HERE = (
    "I am not in this channel. Invite me with “/invite @{name}”, then ask again: {question}"
)
ARCHIVED = "That channel is archived."
ANSWERED_DIRECTLY = "I am not in this conversation, so I am answering in our direct messages."
ANSWERED_AWAY = (
    "I am not in this channel, so I am answering in our direct messages. For an answer in the "
    "thread, invite me to the channel first."
)
BETWEEN_PEOPLE = (
    "I can't read conversations between people, only the message you choose with “Ask about this…”."
)
CANNOT_ASK = "I can't take this question there: {reason}"
NOT_YOUR_CHANNEL = "You are not in that channel."
MODAL_TOO_LATE = (
    "I was too slow: Slack lets me open a form for three seconds only. Please try again."
)
SHARING = (
    "Posting it in the thread. If it is not there in two minutes, please press the button again."
)
TRY_AGAIN = "Slack did not accept that. Please try again."


def also(texts: Sequence[str]) -> str:
    """Return the title of the card for messages that joined a run."""
    first, *more = texts
    return ALSO_MORE.format(text=first, count=len(more)) if more else ALSO.format(text=first)


ASK_COMMAND = (
    "Or write `/ask` and your question: I answer here. `/ask` alone opens a form, where you can also "
    "choose a direct message."
)


def help_text(name: str) -> str:
    """Return the reply to a mention without a question, as mrkdwn."""
    examples = "\n".join(f"• _{example}_" for example in EXAMPLES)
    return f"{CAN_DO}\n\nFor example, mention @{name} and write:\n{examples}"
