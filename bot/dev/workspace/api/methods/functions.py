"""functions.*: the end of a workflow step."""

from bot.dev.workspace.api.arguments import JsonObject
from bot.dev.workspace.api.methods.method import method
from bot.dev.workspace.core import Core
from bot.dev.workspace.errors import SlackFault
from bot.dev.workspace.store.state import Execution, Json


@method("functions.completeSuccess")
async def complete_success(core: Core, *, function_execution_id: str, outputs: JsonObject) -> Json:
    """Complete the step; its outputs must be those of the manifest, all of them text."""
    execution = _running(core, function_execution_id)
    wrong = [name for name, value in outputs.items() if not isinstance(value, str)]
    if wrong or outputs.keys() != execution.outputs_declared:
        raise SlackFault("parameter_validation_failed", parameters=sorted(outputs))
    execution.outputs = outputs
    _notify(core, function_execution_id)
    return {}


@method("functions.completeError")
async def complete_error(core: Core, *, function_execution_id: str, error: str) -> Json:
    """Fail the step; people see the reason."""
    execution = _running(core, function_execution_id)
    execution.error = error
    _notify(core, function_execution_id)
    return {}


def _running(core: Core, wanted: str) -> Execution:
    execution = core.state.executions.get(wanted)
    if execution is None:
        raise SlackFault("function_execution_not_found")
    if execution.is_over:
        raise SlackFault("execution_not_in_running_state")
    return execution


def _notify(core: Core, execution: str) -> None:
    by = core.state.executions[execution].by
    core.changed("workflow", user=by, data={"execution": execution})
