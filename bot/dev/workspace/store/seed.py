"""The people and channels of a fresh workspace."""

from bot.dev.workspace.store.state import BOT_USER, OTHER_TEAM, Channel, Kind, Person, State

ADA, BEN, CHLOE, GUS, EVE = "U0ADA00001", "U0BEN00001", "U0CHLOE001", "U0GUS00001", "U0EVE00001"
ALERTS = "U0ALERTS01"


def seed(state: State) -> None:
    """Add an admin, two members, a guest, an external person, and channels with and without the bot."""
    for person in _people():
        state.people[person.id] = person
    for channel in _channels():
        state.channels[channel.id] = channel
    for person in state.people.values():
        direct = f"D{person.id[1:]}"
        state.channels[direct] = Channel(direct, person.name, "im", [person.id, BOT_USER])
    state.channels["D0ADABEN01"] = Channel("D0ADABEN01", "ada-ben", "im", [ADA, BEN])


def add_alerts(state: State) -> tuple[str, str, str]:
    """Add a channel with an app that posts alerts there: whoever acts as it posts them. Return the app, the
    channel and a first alert."""
    app = Person(ALERTS, "alerts", "Alerts", "#cc4400", is_bot=True, app_id="A0ALERTS01")
    members = [ADA, BEN, CHLOE, app.id, BOT_USER]
    channel = Channel("C0ALERTS01", "alerts", "public", members, topic="What went wrong")
    state.people[app.id], state.channels[channel.id] = app, channel
    return app.id, channel.id, "Error: the queue of billing is stuck"


def _people() -> list[Person]:
    return [
        Person(ADA, "ada", "Ada Lovelace", "#1264a3", is_admin=True),
        Person(
            BEN,
            "ben",
            "Ben Okafor",
            "#2bac76",
            tz="America/New_York",
            locale="en-US",
        ),
        Person(
            CHLOE,
            "chloe",
            "Chloe Martin",
            "#e01e5a",
            tz="Europe/Paris",
            locale="fr-FR",
        ),
        Person(GUS, "gus", "Gus Guest", "#ecb22e", is_guest=True),
        Person(EVE, "eve", "Eve External", "#616061", is_external=True, team_id=OTHER_TEAM),
    ]


def _channels() -> list[Channel]:
    def make(
        id: str, name: str, people: list[str], topic: str = "", kind: Kind = "public"
    ) -> Channel:
        return Channel(id, name, kind, people, topic=topic)

    everyone = [ADA, BEN, CHLOE]
    archive = make("C0ARCHIVE1", "archive", [*everyone, BOT_USER], "Closed")
    archive.archived = True
    partners = make("C0PARTNER1", "partners", [ADA, EVE, BOT_USER], "Shared with another company")
    partners.is_ext_shared = True
    return [
        make("C0GENERAL1", "general", [*everyone, GUS, BOT_USER], "For everybody"),
        make("C0SALES001", "sales", [*everyone, BOT_USER], "Numbers and customers"),
        make("C0RANDOM01", "random", [*everyone, GUS], "Anything else"),
        archive,
        partners,
        make("C0FINANCE1", "finance", [ADA, BEN], "Budgets and invoices", "private"),
    ]
