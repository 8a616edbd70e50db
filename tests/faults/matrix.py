"""Which test shows what happens in which fault: `python -m tests.faults.matrix` writes README.md.

A row names the fault, what is right, and the test, as "file::test" below tests/.
"""

from __future__ import annotations

from pathlib import Path

from tests.faults.libraries import DEFECTS, GONE

TESTS = Path(__file__).parents[1]
PAGE = Path(__file__).with_name("README.md")

ROWS = {
    "Slack": (
        ("an event delivered again", "one run", "faults/test_delivery.py::test_the_same_event_again_and_again"),
        ("one mention as two events", "one run", "unit/slack/test_intake.py::test_a_mention_becomes_one_request_though_slack_sends_two_events"),
        ("a retry of what was never seen", "it is run", "unit/slack/test_intake.py::test_nothing_is_acknowledged_before_it_is_kept"),
        ("events out of order", "answered in the order of the messages", "faults/test_matrix.py::test_messages_are_answered_in_the_order_they_were_written"),
        ("one that could not be kept, with others behind it", "in its place", "faults/test_matrix.py::test_a_message_that_is_not_taken_in_at_once_keeps_its_place"),
        ("429 with Retry-After", "waits, one message", "faults/test_delivery.py::test_slack_asks_to_slow_down"),
        ("429 on every call while 20 runs are under way", "each has its answer, once", "faults/test_delivery.py::test_slack_puts_off_every_call_while_twenty_runs_are_under_way"),
        ("429 while streaming", "what comes meanwhile goes out together", "unit/slack/test_streams.py::test_under_a_rate_limit_what_comes_meanwhile_goes_out_together"),
        ("5xx, reset or lost reply of a post", "looked for, never posted again blindly", "faults/test_delivery.py::test_a_failing_call_of_slack"),
        ("lost replies on the wire", "one message", "faults/test_lines.py::test_slack_acts_and_its_reply_is_lost"),
        ("all connections cut in mid-run", "one message", "faults/test_lines.py::test_slack_is_cut_off_in_mid_run"),
        ("a stream grows old", "goes on as an ordinary message", "unit/slack/test_streams.py::test_a_stream_that_grows_old_goes_on_as_an_ordinary_message"),
        ("Socket Mode connects and stays silent", "rebuilt", "unit/slack/test_socket_mode.py::test_a_connection_that_says_nothing_is_rebuilt"),
        ("Socket Mode drops", "nothing lost", "faults/test_delivery.py::test_sockets_drop_in_mid_run"),
        ("Slack refuses the token for a while", "the queue is kept, one answer each", "faults/test_matrix.py::test_a_token_that_is_refused_for_a_while"),
        ("the channel or membership is gone", "told directly, once", "faults/test_places.py::test_the_place_is_gone"),
        ("a message may not be edited, or is deleted", "posted anew, once, what was unfinished is removed", "faults/test_refusals.py::test_a_message_that_cannot_be_changed_is_replaced"),
        ("a file is refused", "the answer stays up, the thread says which file is missing", "faults/test_refusals.py::test_a_file_that_cannot_be_attached_is_said_to_be_missing"),
        ("the last call of a status fails", "cleared later, by whichever process", "faults/test_statuses.py::test_a_status_of_a_process_that_was_killed_is_cleared"),
        ("all places are taken", "the place in line is shown until one is free", "faults/test_statuses.py::test_who_waits_for_a_place_sees_their_place_in_line"),
        ("the answer is too long", "split, then a file", "unit/slack/test_render.py::test_long_answers_are_split_and_longer_ones_attached"),
        ("invalid_blocks", "plain text", "unit/slack/test_surface.py::test_an_answer_that_slack_refuses_is_posted_as_text"),
        ("Slack down at the end of a run", "posted later, once", "unit/slack/test_surface.py::test_when_slack_is_down_finishing_raises_and_works_later"),
    ),
    "Model": (
        ("429, 5xx", "bounded retries, next model, notice", "unit/agent/test_model_trouble.py::test_when_every_model_is_overloaded_the_run_ends"),
        ("quota, policy", "no retry, notice", "unit/agent/test_model_trouble.py::test_quota_and_policy_end_the_run_at_once"),
        ("cannot be reached", "notice; the next question is answered", "faults/test_lines.py::test_the_model_cannot_be_reached_for_a_while"),
        ("reset in mid-stream, lost reply", "discarded and redone", "faults/test_lines.py::test_the_model_answers_into_the_void"),
        ("ends without a terminal event", "a failure, redone", "unit/model/test_client.py::test_a_stream_without_its_end_is_an_interruption"),
        ("an error inside the stream, broken JSON", "the way of failures", "unit/model/test_client.py::test_errors_inside_a_stream_are_sorted"),
        ("malformed arguments, unknown tool", "an output that says so", "unit/agent/test_calls.py::test_a_bad_call_is_answered_with_what_to_do"),
        ("a call id twice", "run once", "unit/agent/test_calls.py::test_a_call_id_given_twice_is_run_once"),
        ("empty output", "nudged, bounded", "unit/agent/test_model_trouble.py::test_responses_of_no_use_are_bounded"),
        ("cut off by max tokens", "redone from its parent", "unit/agent/test_model_trouble.py::test_a_response_that_was_cut_off_is_done_again_from_its_parent"),
        ("content filter", "said, no retry", "unit/agent/test_model_trouble.py::test_a_content_filter_is_said_and_not_tried_again"),
        ("refusal", "said, no retry", "unit/agent/test_model_trouble.py::test_a_refusal_is_said_and_not_tried_again"),
        ("the previous response is not found", "rebuilt from our own record", "unit/agent/test_long_conversations.py::test_a_chain_that_the_service_lost_is_rebuilt"),
        ("context overflow", "shortened once", "unit/agent/test_long_conversations.py::test_an_overflow_is_shortened_once"),
        ("hangs", "given up", "unit/agent/test_model_trouble.py::test_a_model_that_hangs_is_given_up"),
        ("a slow trickle", "a deadline for the whole", "unit/agent/test_model_trouble.py::test_a_slow_trickle_is_given_up"),
        ("garbage", "one end, nothing harmful posted", "security/test_strange_input.py::test_a_model_that_answers_garbage"),
    ),
    "Redis": (
        ("restored from an older state", "answered, or said to be lost; nothing works for ever", "faults/test_restored_redis.py::test_what_redis_forgot_is_answered_or_said_to_be_lost"),
        ("restored from the middle of runs that were answered since", "gone on with, in the message that is there", "faults/test_restored_redis.py::test_what_was_answered_since_the_copy_is_not_answered_twice"),
        ("not there", "nothing acknowledged", "unit/runs/test_engine.py::test_without_redis_intake_is_told_in_time"),
        ("killed in mid-run", "parked, gone on with", "faults/test_redis.py::test_it_is_killed_and_comes_back"),
        ("stands still for seconds", "waits, one answer", "faults/test_places.py::test_redis_stops_for_seconds_in_mid_run"),
        ("READONLY", "waits, fenced; the threads are told", "faults/test_redis.py::test_it_becomes_a_replica"),
        ("out of memory", "no intake; both threads are told that it waits; not ready", "faults/test_redis.py::test_its_memory_is_full"),
        ("refuses writes, without disk or replicas", "no intake, waits, told", "faults/test_redis.py::test_it_refuses_writes"),
        ("damaged values", "set aside, one thread at most", "faults/test_redis.py::test_values_are_damaged_in_mid_run"),
        ("values of a newer version", "set aside, the thread starts afresh", "faults/test_windows.py::test_a_format_that_nobody_knows"),
        ("slow", "no lease is lost", "faults/test_redis.py::test_it_is_slow"),
        ("replies lost after execution", "no double effect", "faults/test_lines.py::test_redis_acts_and_its_reply_is_lost"),
        ("replies to the engine lost", "no double run", "faults/test_lines.py::test_replies_to_the_engines_own_commands_are_lost"),
        ("cut off again and again", "one answer", "faults/test_lines.py::test_redis_is_cut_off_again_and_again"),
        ("every key", "expires", "faults/test_redis.py::test_every_key_expires"),
        ("the embedded server crashes", "started again", "faults/test_redis.py::test_the_embedded_one_crashes"),
    ),
    "Process": (
        ("SIGTERM", "no new runs, those that end do", "unit/runs/test_engine.py::test_draining_lets_runs_end_and_takes_no_new_ones"),
        ("SIGTERM in mid-run", "stops at a save point, elsewhere at once", "faults/test_draining.py::test_another_worker_goes_on_at_once"),
        ("SIGTERM while something is changed", "that is ended, the rest elsewhere", "unit/runs/test_runner.py::test_a_process_that_stops_ends_what_it_is_changing"),
        ("longer than the grace", "elsewhere at once", "unit/runs/test_engine.py::test_what_outlasts_the_grace_goes_on_elsewhere_at_once"),
        ("kill -9, raise, standstill, lost reply", "`python -m tests.faults`", "faults/test_windows.py::test_nothing_is_lost_and_nothing_doubled"),
        ("killed around the only post of a quick run", "one message", "faults/test_kill.py::test_a_quick_answer_is_posted_once_wherever_the_process_is_killed"),
        ("killed all the time, while Redis stands still now and then", "`python -m tests.faults --storm`", "faults/test_storm.py::test_nothing_is_lost_or_doubled_in_a_short_storm"),
        ("all is lost in a storm, and a backup made in it is restored", "`python -m tests.faults --storm --restore`", "faults/test_storm.py::test_a_backup_made_in_a_storm_brings_back_no_answer_twice"),
        ("stands still, rolling restarts, dies while Slack, Redis or the model fails, or while a person presses Stop", "one end each, in order; nothing is left", "faults/test_other_faults.py::test_every_question_has_one_end"),
        ("stood still, its runs taken over", "no death is counted", "unit/runs/test_engine.py::test_a_process_that_was_believed_dead_is_no_death"),
        ("wakes up after its lease", "what it wrote late is put right", "unit/slack/test_overtaken.py::test_a_message_that_was_posted_late_is_taken_back"),
        ("a request that kills its workers", "alone from the second death on, given up after the third, said", "faults/test_suspects.py::test_a_question_that_kills_its_worker_fails_no_other"),
        ("a question that dies beside it", "alone from the second death on, answered", "faults/test_suspects.py::test_a_question_that_dies_beside_it_is_answered"),
        ("its clock is put back by an hour", "the sweep goes by Redis's", "unit/runs/test_engine.py::test_a_clock_that_was_put_back_holds_nothing_up"),
        ("dies in an erase", "the next one leaves nothing", "security/test_erasing.py::test_an_erase_that_is_killed_is_finished_by_the_next"),
        ("its slot outlives it", "the sweep looks for a heartbeat", "unit/runs/test_engine.py::test_the_slot_of_a_dead_worker_hides_no_request"),
        ("something holds the event loop", "logged, measured, not ready", "operators/test_loop_watch.py::test_a_loop_that_was_held_is_logged_measured_and_not_ready"),
        ("thousands of runs", "nothing grows", "soak/test_soak.py::test_nothing_grows"),
    ),
    "Tool": (
        ("hangs", "stopped", "unit/agent/test_bad_tools.py::test_a_tool_that_hangs_is_stopped"),
        ("huge output", "a preview and a handle", "unit/agent/test_calls.py::test_a_large_output_becomes_a_preview_and_a_handle"),
        ("bytes for text", "refused", "unit/agent/test_bad_tools.py::test_bytes_are_no_output"),
        ("raises", "a short error, no trace", "unit/agent/test_calls.py::test_a_bug_in_a_tool_is_logged_and_its_words_stay_inside"),
        ("changes something", "at most once", "unit/runs/test_runner.py::test_a_change_that_was_begun_is_not_made_again"),
        ("never yields", "named in the log", "unit/agent/test_bad_tools.py::test_a_tool_that_never_yields_is_named"),
    ),
    "People": (
        ("a burst in one thread", "one at a time, in order", "faults/test_delivery.py::test_a_burst_in_one_thread"),
        ("strange and long text", "cleaned, capped", "security/test_strange_input.py::test_in_everything_that_a_person_sets"),
        ("an edit in mid-run", "begun anew, once", "faults/test_edits.py::test_while_it_runs_it_begins_anew_in_the_same_message"),
        ("edits, deletions, Stop and more words while the worker is dead, wherever it died", "one answer each, in the last words", "faults/test_changes.py::test_whatever_people_change_wherever_a_worker_dies"),
        ("the place goes while the worker is dead", "told directly, once", "faults/test_changes.py::test_a_place_that_goes_while_its_worker_is_dead_holds_nothing_up"),
        ("the question is deleted", "cancelled, cleaned up", "faults/test_edits.py::test_a_question_deleted_in_mid_run_leaves_nothing"),
        ("other bots", "ignored", "unit/slack/test_intake.py::test_bots_and_unknown_kinds_of_messages_are_ignored"),
        ("guests, people of other organisations", "told no, once", "unit/slack/test_intake.py::test_guests_and_people_of_other_organisations_are_told_no_once"),
    ),
}  # fmt: skip

_HEAD = """\
# What happens when things go wrong

Written by `python -m tests.faults.matrix`; a test sees that every test named here exists.

- `python -m tests.faults`: real processes (web, two workers, Redis) crash in every window, in every
  way: a table of what was lost, doubled, out of order, and how long it took. `--only hang` takes a
  part, `--random 50` kills at random afterwards. `pytest tests/faults/test_windows.py` is the short form.
- `python -m tests.faults --storm`: a process is killed every 2 to 4 seconds, and Redis stands still now
  and then, while people ask 300 questions in threads of several turns, with three seeds. What is given
  up is held against the log of the worker that had it. On a busy machine all waits grow with the time
  that processes take to start. `pytest tests/faults/test_storm.py` is the short form.
  `--restore` makes a backup in the storm, loses everything later, and restores it.
- `python -m tests.soak`: 10,000 runs with faults among them; soak.csv and soak.png.
- `python -m tests.load`: acknowledgements under bursts, and what a run costs: tests/load/README.md.

Known and open: a worker whose clock is wrong by more than its lease takes over threads that are
served (the engine's library compares clocks of workers; run NTP): nothing doubles, it costs time.
A message that was kept only when Slack delivered it again is answered behind one that was written
after it and is worked on by then: nobody's run waits for what may never come.
What only one person sees cannot be looked for, so after a lost reply it may be shown to them twice.
"""


def page() -> str:
    """The page, as it should stand."""
    parts = [_HEAD]
    for area, rows in ROWS.items():
        lines = [f"| {fault} | {right} | `{test}` |" for fault, right, test in rows]
        parts.append(
            f"\n## {area}\n\n| fault | what happens | test |\n|---|---|---|\n"
            + "\n".join(lines)
            + "\n"
        )
    parts.append(f"\n# Defects of libraries\n\n{GONE}")
    for library, defects in DEFECTS.items():
        lines = [f"| {defect} | {ours} | `{test}` |" for defect, ours, test in defects]
        parts.append(
            f"\n## {library}\n\n| defect | what we do | test |\n|---|---|---|\n"
            + "\n".join(lines)
            + "\n"
        )
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
