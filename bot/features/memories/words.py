"""Words of memories in the Home tab."""

from bot.text.translation import Text

HOME_MEMORIES = Text("What I remember about you")
HOME_SETTINGS = Text("Your settings")
HOME_NO_MEMORIES = Text("Nothing yet.")
HOME_REMEMBER = Text("Write to me directly: “Remember that …”.")
NEWEST_MEMORIES = Text("These are the newest {shown} of {count}. Forget one to see older ones.")
FORGET, FORGET_TITLE, FORGET_IT = Text("Forget"), Text("Forget this?"), Text("Forget it")
KEEP_IT = Text("Keep it")
