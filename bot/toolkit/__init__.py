"""The public API for tool authors. A tool is one typed function in a file of `tools/`:

from bot.toolkit import tool

@tool(group="time", summary="Day of the week of a date")
async def weekday(date: datetime.date) -> str:
    "The English name of the day of the week on which a date falls."
    return f"{date:%A}"
"""

from bot.core.answers import Chart, Series, Source
from bot.core.context import RequestContext, current_request
from bot.core.errors import TemporaryError, ToolError
from bot.core.request import FileRef
from bot.core.schedule import Schedule, cron_in_words, often_of
from bot.library.documents.cells import cell_text, clean, csv_text
from bot.text.counting import counted
from bot.text.time_zones import day_and_time, zone_label, zone_note, zone_of
from bot.text.translation import Plural, Text
from bot.toolkit.message_tables import messages_result
from bot.toolkit.narrowing import Compact, Fields, Query, TimeRange
from bot.toolkit.progress import current_progress, progress
from bot.toolkit.provided.artifacts import CHART_TYPE, Artifact, Artifacts, Column, gaps_of
from bot.toolkit.provided.canvases import Canvas, CanvasEdit, Canvases, Change
from bot.toolkit.provided.conversation import (
    Clip,
    Conversation,
    Download,
    FoundFiles,
    SharedFile,
    ThreadMessage,
    message_line,
    message_time,
)
from bot.toolkit.provided.databases import Databases, Selection
from bot.toolkit.provided.directory import (
    ChannelEntry,
    Directory,
    FoundMessage,
    PersonEntry,
    SearchResults,
)
from bot.toolkit.provided.documents import Documents, DocumentText, ReadTable
from bot.toolkit.provided.exports import ChartImage, Exports, ReportFile
from bot.toolkit.provided.file_readers import FileReaders
from bot.toolkit.provided.interpreters import Interpreters
from bot.toolkit.provided.memories import Memories, Memory, MemoryScope
from bot.toolkit.provided.programs import Programs
from bot.toolkit.provided.scheduled_messages import ScheduledMessages, WaitingMessage
from bot.toolkit.provided.schedules import SchedulePlace, Schedules
from bot.toolkit.provided.skill_files import SkillFiles
from bot.toolkit.provided.tables import (
    TABLE_TYPE,
    RowLimit,
    Rows,
    TableHandle,
    Tables,
    is_table,
)
from bot.toolkit.provided.web import (
    MAX_QUERY_CHARACTERS,
    MAX_RESULTS,
    Fetcher,
    Page,
    Search,
    WebResult,
    WebSearch,
)
from bot.toolkit.provider import Provider, Secret, provider
from bot.toolkit.safety import Changes, Reads
from bot.toolkit.size import current_room
from bot.toolkit.time_zones import zone_named
from bot.toolkit.tool import Provided, Services, Tool, ToolResult, tool

__all__ = [
    "CHART_TYPE",
    "MAX_QUERY_CHARACTERS",
    "MAX_RESULTS",
    "TABLE_TYPE",
    "Artifact",
    "Artifacts",
    "Canvas",
    "CanvasEdit",
    "Canvases",
    "Change",
    "Changes",
    "ChannelEntry",
    "Chart",
    "ChartImage",
    "Clip",
    "Column",
    "Compact",
    "Conversation",
    "Databases",
    "Directory",
    "DocumentText",
    "Documents",
    "Download",
    "Exports",
    "Fetcher",
    "Fields",
    "FileReaders",
    "FileRef",
    "FoundFiles",
    "FoundMessage",
    "Interpreters",
    "Memories",
    "Memory",
    "MemoryScope",
    "Page",
    "PersonEntry",
    "Plural",
    "Programs",
    "Provided",
    "Provider",
    "Query",
    "ReadTable",
    "Reads",
    "ReportFile",
    "RequestContext",
    "RowLimit",
    "Rows",
    "Schedule",
    "SchedulePlace",
    "ScheduledMessages",
    "Schedules",
    "Search",
    "SearchResults",
    "Secret",
    "Selection",
    "Series",
    "Services",
    "SharedFile",
    "SkillFiles",
    "Source",
    "TableHandle",
    "Tables",
    "TemporaryError",
    "Text",
    "ThreadMessage",
    "TimeRange",
    "Tool",
    "ToolError",
    "ToolResult",
    "WaitingMessage",
    "WebResult",
    "WebSearch",
    "cell_text",
    "clean",
    "counted",
    "cron_in_words",
    "csv_text",
    "current_progress",
    "current_request",
    "current_room",
    "day_and_time",
    "gaps_of",
    "is_table",
    "message_line",
    "message_time",
    "messages_result",
    "often_of",
    "progress",
    "provider",
    "tool",
    "zone_label",
    "zone_named",
    "zone_note",
    "zone_of",
]
