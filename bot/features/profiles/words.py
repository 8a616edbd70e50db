"""Words of profiles in the Home tab and its forms."""

from bot.text.translation import Plural, Text

HOME_PROFILES = Text(
    "*Profiles:* how I answer, under a name, for any number of channels and for direct messages."
)
IN_CHANNELS = Plural("{count} channel: {channels}", "{count} channels: {channels}")
IN_NO_CHANNEL = Text("no channel")
OF_OPERATOR = Text("from bot.toml")
FOR_CHANNELS = Text("For channels without one: {profile}")
FOR_DIRECT = Text("For direct messages: {profile}")
GONE = Text("The profile that was chosen for these channels is gone: {channels}")
NONE = Text("none")
NEW, CHANGE, CHOOSE = Text("New profile"), Text("Change a profile"), Text("Choose for all")
TITLE, CHOOSE_TITLE = Text("Profile"), Text("Profiles")
SAVE, CLOSE = Text("Save"), Text("Close")
NAME = Text("Short name")
NAME_HINT = Text("Lower-case letters, digits, - and _, such as support. It cannot be changed.")
NAME_WRONG = Text("Up to 30 lower-case letters, digits, - and _, please.")
NAME_TAKEN = Text("There is a profile of this name already.")
TOO_MANY = Text("There are {count} profiles already. Delete one first.")
CHANGED_MEANWHILE = Text("Somebody has changed this profile meanwhile. Open it again, please.")
NOT_CHANGEABLE = Text("This profile is gone, or bot.toml has it now.")
SHOWN_AS = Text("Name for people")
SHOWN_AS_HINT = Text("The details of an answer name it. Empty: the short name.")
INSTRUCTIONS = Text("Instructions")
STYLE = Text("How answers are written")
TOOLS = Text("The only tools")
TOOLS_HINT = Text(
    "Names of tools or groups, separated by commas; * matches any letters. Empty: all tools. "
    "It cannot add tools that your operator has ruled out for all channels."
)
NO_SUCH_TOOL = Text("There is no tool or group of tools called {names}.")
SKILLS = Text("Skills to begin with")
SKILLS_HINT = Text(
    "Names of skills, separated by commas. If you name tools above, name the skills there, too."
)
MODEL = Text("Model")
MODEL_USUAL = Text("As in channels without a profile")
EARLIER = Text("Earlier versions")
AS_ABOVE = Text("Save what stands above")
VERSION_EMPTY = Text("without instructions")
PERMITS_NOTHING = Text(
    "A profile permits nothing: who may ask, what needs approval and what may be spent are set in "
    "the settings of a channel."
)
DELETE, DELETE_TITLE = Text("Delete"), Text("Delete this profile?")
DELETE_SURE = Text("It no longer applies in the channels that have it.")
DELETED = Text("The profile {name} is deleted.")
CHANNELS = Text("Channels without a profile of their own")
DIRECT = Text("Direct messages")
NO_PROFILE = Text("No profile")
AS_IN_FILE = Text("As bot.toml says")
