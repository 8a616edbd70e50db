"""Executions of the app's step in a workflow."""

import secrets
from collections.abc import Sequence

from bot.dev.workspace.core import Core
from bot.dev.workspace.store.state import Execution, Json


def start_step(
    core: Core, function: str, inputs: Json, outputs: Sequence[str], by: str | None
) -> str:
    """Send the app a step to execute and return the execution's id.

    Slack does not tell the app who started the workflow (`by`).
    """
    execution = f"Fx{secrets.token_hex(5).upper()}"
    core.state.executions[execution] = Execution(function, inputs, frozenset(outputs), by)
    event: Json = {
        "type": "function_executed",
        "function": {
            "id": "Fn0STEP0001",
            "callback_id": function,
            "type": "app",
            "app_id": core.app_id,
        },
        "inputs": inputs,
        "function_execution_id": execution,
        "workflow_execution_id": f"Wx{secrets.token_hex(5).upper()}",
        "bot_access_token": core.bot_token,
    }
    core.emit(event)
    return execution
