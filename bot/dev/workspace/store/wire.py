"""People, channels and files as Slack's API shows them."""

import mimetypes
from urllib.parse import quote

from bot.dev.workspace.store.state import Channel, File, Json, Person, State

LABELS = {"public": "channel", "private": "group", "im": "im", "mpim": "mpim"}


def user_object(person: Person, state: State) -> Json:
    """Return the `user` of users.info; people of other workspaces are "strangers"."""
    profile = {
        "real_name": person.real_name,
        "display_name": person.real_name,
        "real_name_normalized": person.real_name,
        "display_name_normalized": person.real_name,
        "title": "",
        "team": person.team_id,
    }
    if not person.is_bot:
        profile["email"] = f"{person.name}@example.com"
    user: Json = {
        "id": person.id,
        "team_id": person.team_id,
        "name": person.name,
        "deleted": person.is_deactivated,
        "color": person.colour.lstrip("#"),
        "real_name": person.real_name,
        "tz": person.tz,
        "tz_label": person.tz,
        "tz_offset": person.tz_offset,
        "locale": person.locale,
        "profile": profile,
        "is_admin": person.is_admin,
        "is_owner": person.is_admin,
        "is_primary_owner": False,
        "is_restricted": person.is_guest,
        "is_ultra_restricted": False,
        "is_bot": person.is_bot,
        "is_app_user": False,
        "updated": 1_700_000_000,
    }
    if person.is_deactivated:  # Slack says nothing else about a deleted user
        user = {key: value for key, value in user.items() if not key.startswith(("is_", "tz"))}
        user |= {"is_bot": False, "is_app_user": False}
    if person.team_id != state.team_id:
        user |= {"is_stranger": True}
    if person.is_bot:
        profile["api_app_id"] = person.app_id or state.app_id
        profile["bot_id"] = person.bot_id or state.bot_id
    return user


def channel_object(channel: Channel, state: State) -> Json:
    """Return the `channel` of conversations.info."""
    is_member = state.bot_user_id in channel.members
    common: Json = {
        "id": channel.id,
        "created": channel.created,
        "is_archived": channel.archived,
        "is_channel": channel.kind == "public",
        "is_group": channel.kind == "private",
        "is_im": channel.kind == "im",
        "is_mpim": channel.kind == "mpim",
        "is_private": channel.kind != "public",
        "is_ext_shared": channel.is_ext_shared,
        "is_shared": channel.is_ext_shared,
        "is_org_shared": False,
        "context_team_id": state.team_id,
        "updated": channel.created * 1000,
    }
    if channel.canvas:
        canvas = {"file_id": channel.canvas, "is_empty": False, "quip_thread_id": ""}
        common["properties"] = {"canvas": canvas}
    if channel.kind == "im":
        other = next(m for m in channel.members if m != state.bot_user_id)
        return common | {"user": other, "is_open": True}
    return common | {
        "name": channel.name,
        "name_normalized": channel.name,
        "is_member": is_member,
        "is_general": channel.name == "general",
        "creator": channel.members[0] if channel.members else "",
        "num_members": len(channel.members),
        "topic": {"value": channel.topic, "creator": "", "last_set": 0},
        "purpose": {"value": "", "creator": "", "last_set": 0},
    }


def file_object(file: File, state: State) -> Json:
    """Return the `file` of files.info and of messages."""
    mimetype = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    external = file.external_url is not None
    page = f"{state.url}files-pri/{state.team_id}-{file.id}"
    name = quote(file.name, safe="", errors="replace") or "file"
    shown: Json = {
        "id": file.id,
        "created": file.created,
        "timestamp": file.created,
        "name": file.name,
        "title": file.title or file.name,
        "mimetype": mimetype,
        "filetype": file.name.rpartition(".")[2].lower() or "binary",
        "pretty_type": file.name.rpartition(".")[2].upper(),
        "user": file.user,
        "user_team": state.everyone()[file.user].team_id,
        "editable": False,
        "size": file.size,
        "mode": "external" if external else "hosted",
        "is_external": external,
        "external_type": "app" if external else "",
        "external_url": file.external_url or "",
        "is_public": True,
        "public_url_shared": False,
        "display_as_bot": False,
        "username": "",
        "url_private": file.external_url or f"{page}/{name}",
        "permalink": f"{state.url}files/{file.user}/{file.id}/{name}",
        "has_rich_preview": False,
        "file_access": "visible",
    }
    if not external:
        shown["url_private_download"] = f"{page}/download/{name}"
    if file.alt_txt:
        shown["alt_txt"] = file.alt_txt
    if file.canvas:
        shown |= _as_canvas(file, state)
    if file.seconds is not None:
        shown |= _as_clip(file, file.seconds, state)
    return shown


_PREVIEW = 100  # characters


def _as_clip(file: File, seconds: float, state: State) -> Json:
    kind = "video" if file.name.endswith((".mp4", ".webm")) else "audio"
    shown: Json = {
        "subtype": f"slack_{kind}",
        "media_display_type": kind,
        "duration_ms": round(seconds * 1000),
    }
    if (transcript := file.transcript) is None:
        return shown | {"transcription": {"status": "none"}}
    if transcript.status != "complete":
        return shown | {"transcription": {"status": transcript.status}}
    text = transcript.text
    preview = {"content": text[:_PREVIEW], "has_more": len(text) > _PREVIEW}
    shown["transcription"] = {"status": "complete", "locale": "en-US", "preview": preview}
    if transcript.has_captions:
        shown["vtt"] = f"{state.url}files-tmb/{state.team_id}-{file.id}/file.vtt"
    return shown


def _as_canvas(file: File, state: State) -> Json:
    return {
        "mimetype": "application/vnd.slack-docs",
        "filetype": "quip",
        "pretty_type": "Canvas",
        "mode": "quip",
        "editable": True,
        "permalink": f"{state.url}docs/{state.team_id}/{file.id}",
        "canvas_creator_id": file.user,
    }
