"""The public API for tool authors. A tool is one typed function in a file of `tools/`:

from bot.toolkit import tool

@tool(group="time", summary="Day of the week of a date")
async def weekday(date: datetime.date) -> str:
    "The English name of the day of the week on which a date falls."
    return f"{date:%A}"
"""

from bot.core.answers import Chart, Series, Source
from bot.core.context import RequestContext, current_request
from bot.core.errors import ToolError
from bot.core.memory import Memory, MemoryScope
from bot.core.request import FileRef
from bot.core.schedule import Schedule, cron_in_words
from bot.core.text.time_zones import day_and_time, zone_label, zone_named, zone_note, zone_of
from bot.toolkit.artifacts import CHART_TYPE, Artifact, Artifacts, Column, gaps_of
from bot.toolkit.canvases import Canvas, CanvasEdit, Canvases, Change
from bot.toolkit.conversation import Conversation, Download, ThreadMessage
from bot.toolkit.directory import (
    ChannelEntry,
    Directory,
    FoundMessage,
    PersonEntry,
    SearchResults,
    SharedFile,
)
from bot.toolkit.memories import Memories
from bot.toolkit.narrowing import Compact, Fields, Query, TimeRange
from bot.toolkit.scheduled_messages import ScheduledMessages, WaitingMessage
from bot.toolkit.schedules import Schedules
from bot.toolkit.size import current_room
from bot.toolkit.sql import Databases, Selection
from bot.toolkit.tool import Provided, Services, Tool, ToolResult, tool
from bot.toolkit.web import (
    MAX_QUERY_CHARACTERS,
    MAX_RESULTS,
    Fetcher,
    Page,
    Search,
    WebResult,
    WebSearch,
)

__all__ = [
    "CHART_TYPE",
    "MAX_QUERY_CHARACTERS",
    "MAX_RESULTS",
    "Artifact",
    "Artifacts",
    "Canvas",
    "CanvasEdit",
    "Canvases",
    "Change",
    "ChannelEntry",
    "Chart",
    "Column",
    "Compact",
    "Conversation",
    "Databases",
    "Directory",
    "Download",
    "Fetcher",
    "Fields",
    "FileRef",
    "FoundMessage",
    "Memories",
    "Memory",
    "MemoryScope",
    "Page",
    "PersonEntry",
    "Provided",
    "Query",
    "RequestContext",
    "Schedule",
    "ScheduledMessages",
    "Schedules",
    "Search",
    "SearchResults",
    "Selection",
    "Series",
    "Services",
    "SharedFile",
    "Source",
    "ThreadMessage",
    "TimeRange",
    "Tool",
    "ToolError",
    "ToolResult",
    "WaitingMessage",
    "WebResult",
    "WebSearch",
    "cron_in_words",
    "current_request",
    "current_room",
    "day_and_time",
    "gaps_of",
    "tool",
    "zone_label",
    "zone_named",
    "zone_note",
    "zone_of",
]
