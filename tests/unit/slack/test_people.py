"""Who counts as a member, from what Slack says of a user."""

from __future__ import annotations

from typing import Any

import pytest

from bot.core.errors import NotPermitted
from bot.runs.policy.access import PersonKind, Policy
from bot.slack.edge.client import Identity
from bot.slack.edge.people_and_channels import person_from

OURS, OTHER, ORGANISATION = "T1", "T2", "E1"
IDENTITY = Identity(
    team=OURS, enterprise=ORGANISATION, user="U0", bot="B0", name="bot", url="https://x.slack.com/"
)


@pytest.mark.parametrize(
    ("home", "organisation", "kind"),
    [
        (OURS, None, PersonKind.MEMBER),
        (OURS, {"enterprise_id": ORGANISATION, "teams": [OURS]}, PersonKind.MEMBER),
        (OTHER, {"enterprise_id": ORGANISATION, "teams": [OTHER, OURS]}, PersonKind.MEMBER),
        (OTHER, {"enterprise_id": ORGANISATION, "teams": [OTHER]}, PersonKind.EXTERNAL),
        (OTHER, {"enterprise_id": ORGANISATION, "teams": []}, PersonKind.EXTERNAL),
        (OTHER, {"enterprise_id": ORGANISATION}, PersonKind.EXTERNAL),
        (ORGANISATION, {"enterprise_id": ORGANISATION, "is_admin": True}, PersonKind.EXTERNAL),
        (OTHER, {"enterprise_id": ORGANISATION, "teams": f"{OURS},{OTHER}"}, PersonKind.EXTERNAL),
        (OTHER, {"enterprise_id": "E2", "teams": ["T3"]}, PersonKind.EXTERNAL),
        (OTHER, None, PersonKind.EXTERNAL),
        (None, None, PersonKind.EXTERNAL),
    ],
)
def test_membership_follows_the_workspace_not_the_organisation(
    home: str | None, organisation: dict[str, Any] | None, kind: PersonKind
) -> None:
    """On Enterprise Grid people of other workspaces are external, and no admins here."""
    facts = {"id": "U1", "team_id": home, "enterprise_user": organisation}
    person = person_from({**facts, "is_admin": True, "is_owner": True}, IDENTITY)
    assert person.kind is kind
    assert person.is_admin is (kind is PersonKind.MEMBER)
    if kind is not PersonKind.MEMBER:
        with pytest.raises(NotPermitted):
            Policy().may_administer(person)
