"""Words of profiles in the Home tab and its forms."""

from bot.text.translation import Plural, Text

HOME_PROFILES = Text("*Profiles:* named ways of answering, for channels and direct messages.")
IN_CHANNELS = Plural("{count} channel: {channels}", "{count} channels: {channels}")
IN_NO_CHANNEL = Text("no channel")
OF_OPERATOR = Text("from bot.toml")
FOR_CHANNELS = Text("Default in channels: {profile}")
FOR_DIRECT = Text("Default in direct messages: {profile}")
GONE = Text("The profile that was chosen for these channels is gone: {channels}")
NONE = Text("none")
INSTEAD_OF = Text("{profile} ({gone} was chosen, and is gone)")
NEW, CHANGE, CHOOSE = Text("New profile"), Text("Change a profile"), Text("Set defaults")
TITLE, CHOOSE_TITLE = Text("Profile"), Text("Default profiles")
SAVE = Text("Save")
NAME = Text("Short name")
NAME_HINT = Text("Lower-case letters, digits, - and _, such as support. It cannot be changed.")
NAME_WRONG = Text("Use up to 30 lower-case letters, digits, - and _.")
NAME_TAKEN = Text("There is a profile of this name already.")
TOO_MANY = Text("There are {count} profiles already. Delete one first.")
CHANGED_MEANWHILE = Text("Somebody changed this profile meanwhile. Open it again.")
NOT_CHANGEABLE = Text("This profile was deleted, or is now in bot.toml.")
SHOWN_AS = Text("Displayed name")
SHOWN_AS_HINT = Text("Shown in the details of an answer. Empty: the short name.")
INSTRUCTIONS = Text("Instructions")
STYLE = Text("Style of answers")
TOOLS = Text("Tools")
TOOLS_HINT = Text(
    "Names of tools or groups, separated by commas; * matches any letters. Empty: all tools. "
    "Tools that your bot's operator has excluded stay excluded."
)
NO_SUCH_TOOL = Text("There is no tool or group of tools called {names}.")
SKILLS = Text("Skills that each thread starts with")
SKILLS_HINT = Text(
    "Names of skills, separated by commas. If you name tools above, name the skills there, too."
)
MODEL = Text("Model")
MODEL_USUAL = Text("As in channels without a profile")
EARLIER = Text("Earlier versions")
AS_ABOVE = Text("Save what is written above")
VERSION_EMPTY = Text("without instructions")
PERMITS_NOTHING = Text(
    "A profile permits nothing. Who may ask, what needs approval and what may be spent are "
    "settings of a channel."
)
DELETE, DELETE_TITLE = Text("Delete"), Text("Delete this profile?")
DELETE_SURE = Text("It no longer applies in the channels that have it.")
DELETED = Text("The profile {name} is deleted.")
CHANNELS = Text("Channels without a profile of their own")
DIRECT = Text("Direct messages")
NO_PROFILE = Text("No profile")
AS_IN_FILE = Text("As in bot.toml")
