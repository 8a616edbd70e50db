"""Words around the questions that servers ask people."""

from __future__ import annotations

from bot.features.server_questions.forms import FieldKind
from bot.text.translation import Text

ASKS = Text("*{server}* asks you:")
ASKS_TO_VISIT = Text("*{server}* asks you to open a page:")
NOTIFY = Text("{server} asks you something.")
PAGE_IS_ON = Text("The page is on {host}")
TERMS = Text(
    "Only you see this, and your answer goes to {server}. Never enter a password, key or card number "
    "here. I wait until {until}."
)
ANSWER = Text("Answer")
VISIT = Text("Open the page")
YES = Text("Yes")
NO = Text("No")
DECLINE = Text("Go on without an answer")

FORM_TITLE = Text("Answer a question")
PAGE_TITLE = Text("You are leaving Slack")
SEND = Text("Send")
VISITED = Text("Done")
CLOSE = Text("Not now")
GO_TO = Text("Go to {host}")
LEAVING = Text(
    "You go to {host}. The server {server} named this page, not me. Stop if you did not expect it. "
    "Come back when you are done there."
)
NO_SECRETS = Text("Goes to {server}. Never enter a password, key or card number here.")

MISTAKE = Text("Check this field.")
MISTAKES = {
    FieldKind.EMAIL: Text("Enter an email address, such as ada@example.com."),
    FieldKind.ADDRESS: Text("Enter a full address that begins with https://."),
    FieldKind.NUMBER: Text("Enter a number within the limits."),
    FieldKind.INTEGER: Text("Enter a whole number within the limits."),
    FieldKind.TEXT: Text("This is too short or too long."),
    FieldKind.CHOICES: Text("Choose fewer or more of these."),
}

VERDICTS = {
    "approved": Text(":white_check_mark: You answered"),
    "standing": Text(":white_check_mark: You answered"),
    "denied": Text(":fast_forward: I go on without an answer"),
    "expired": Text(":hourglass: Nobody answered in time"),
    "withdrawn": Text(":black_square_for_stop: Cancelled: work on this question has ended"),
}
WAITING_FOR_INPUT = Text("Waiting for {person} to answer a question.")
