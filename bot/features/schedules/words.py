"""Words of schedules, reminders and scheduled messages."""

from bot.text.translation import Text

HOME_SCHEDULES = Text("What you scheduled")
HOME_ALL_SCHEDULES = Text("*Scheduled by people here,* soonest first:")
HOME_NEXT_SCHEDULES = Text("*Scheduled by people here,* the next {shown} of {count}:")
TO_BE_POSTED = Text("to be posted {when}")
MORE_TO_BE_POSTED = Text("{count} more are scheduled after these.")
CANCEL, CANCEL_TITLE, CANCEL_IT, KEEP_IT = (
    Text("Cancel"),
    Text("Cancel this?"),
    Text("Cancel it"),
    Text("Keep it"),
)
CANCEL_QUESTION = Text("“{text}” will not run again.")
CANCEL_QUESTION_OF = Text(
    "What was scheduled {often} will not run again. If somebody else scheduled it, I tell them."
)
CANCEL_MESSAGE = Text("“{text}” will not be posted.")
NOT_CANCELLED = Text("Not cancelled")
MESSAGE_GONE = Text(
    "This message is no longer scheduled: it was already posted or cancelled, or is about to be "
    "posted."
)
MESSAGE_PERHAPS = Text(
    "I don't know whether this message was cancelled, because Slack did not respond. Press Cancel "
    "again to find out."
)
SCHEDULE_CANCELLED = Text("<@{person}>, an admin, cancelled it. Ask them if you need it.")
SCHEDULE_PAUSED = Text("paused until you connect {server}")
REMINDER, REMINDER_FROM = Text("Reminder for {person}"), Text("Reminder from {person}")
REMINDER_LATE = Text("This was due {when}. I was not running then.")
NEXT_TIME = Text("next {when}")
ONCE_AT = Text("for {when}")
