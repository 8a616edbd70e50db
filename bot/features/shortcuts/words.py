"""Words of shortcuts and their forms."""

from __future__ import annotations

from bot.text.translation import Text

ASK_TITLE = Text("Ask")
QUESTION_LABEL = Text("Your question")
QUESTION_HINT = Text("Anything you would ask a colleague who can look things up")
WHERE_LABEL = Text("Where should I answer?")
ONLY_ME_WHERE = Text("Nobody else sees it. If the message has a thread, look there.")
IN_DM = Text("In a direct message with you")
IN_CHANNEL = Text("In a channel")
CHANNEL_LABEL = Text("Which channel?")
ABOUT_THREAD = Text("The thread of this message:")
INSTRUCTION_LABEL = Text("Anything I should know?")
SUMMARISE_TITLE = Text("Summarise thread")
SUMMARISE_SUBMIT = Text("Summarise")
SUMMARISE_HINT = Text("For example: only what concerns the budget")
SUMMARISE_ASKED = Text("Summarise this thread.")
EXTRACT_TITLE = Text("Extract action items")
EXTRACT_SUBMIT = Text("Extract")
EXTRACT_HINT = Text("For example: only what the sales team has to do")
EXTRACT_ASKED = Text("List the action items of this thread.")
DRAFT_TITLE = Text("Draft a reply")
DRAFT_SUBMIT = Text("Draft")
DRAFT_HINT = Text("For example: say no, kindly, and offer next week")
DRAFT_ASKED = Text("Draft a reply to this message for me.")
CHOOSE_CHANNEL = Text("Please choose a channel, or let me answer in a direct message.")
ANSWERED_AWAY = Text(
    "I am not in this channel, so I am answering in our direct messages. For an answer in the "
    "thread, invite me to the channel first."
)
BETWEEN_PEOPLE = Text(
    "I can't read conversations between people, only the message you choose with “Ask about this…”."
)
