"""Words around the questions that servers ask people."""

from __future__ import annotations

from bot.core.forms import FieldKind

ASKS = "*{server}* asks you:"
ASKS_TO_VISIT = "*{server}* asks you to open a page:"
NOTIFY = "{server} asks you something."
PAGE_IS_ON = "The page is on {host}"
TERMS = (
    "Only you see this, and your answer goes to {server}. Never enter a password, key or card number "
    "here. I wait until {until}."
)
ANSWER = "Answer"
VISIT = "Open the page"
YES = "Yes"
NO = "No"
DECLINE = "Go on without an answer"

FORM_TITLE = "Answer a question"
PAGE_TITLE = "You leave Slack"
SEND = "Send"
VISITED = "I am done there"
CLOSE = "Not now"
GO_TO = "Go to {host}"
LEAVING = (
    "You go to {host}. The server {server} named this page, not me. Stop if you did not expect it. "
    "Come back when you are done there."
)
NO_SECRETS = "Goes to {server}. Never enter a password, key or card number here."

MISTAKE = "Check this field."
MISTAKES = {
    FieldKind.EMAIL: "Enter an email address, such as ada@example.com.",
    FieldKind.ADDRESS: "Enter a full address that begins with https://.",
    FieldKind.NUMBER: "Enter a number within the limits.",
    FieldKind.INTEGER: "Enter a whole number within the limits.",
    FieldKind.TEXT: "This is too short or too long.",
    FieldKind.CHOICES: "Choose fewer or more of these.",
}

VERDICTS = {
    "approved": ":white_check_mark: You answered",
    "standing": ":white_check_mark: You answered",
    "denied": ":fast_forward: I go on without an answer",
    "expired": ":hourglass: Nobody answered in time",
    "withdrawn": ":black_square_for_stop: Cancelled: the run has ended",
}
