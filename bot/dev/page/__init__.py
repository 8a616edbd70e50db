"""The page of the local workspace: a small Slack-like client in the browser, without a build step.

routes.py   the URLs, and `mount`
guard.py    which requests the page takes, and its content policy
screens.py  the workspace as one viewer sees it, as values for the templates
actions.py  what a person does on the page: say, click, submit …
live.py     changes of the workspace, pushed to open pages over a WebSocket
sidebar.py  the conversations of a person
files.py    attached files, shown and downloaded
render/     Slack messages and blocks to safe HTML
"""

from bot.dev.page.routes import mount

__all__ = ["mount"]
