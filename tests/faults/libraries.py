"""Defects of the libraries that we use, in the versions in which we met them: what we do about
each, and the test that fails without it. `python -m tests.faults.matrix` writes the page.

The tests were run once with the workaround taken away, and failed; those of † hold what must be, and
pass without it as well, or were not run so.
"""

DEFECTS = {
    "slack-bolt 1.30, slack-sdk 3.47": (
        ("Events are acknowledged before their listener runs.", "`process_before_response`; listeners only keep and enqueue (slack/app.py)", "unit/slack/test_intake.py::test_nothing_is_acknowledged_before_it_is_kept"),
        ("When `auth.test` fails, the event is acknowledged and no listener runs.", "our own `authorize`, with what was found at start (slack/app.py)", "faults/test_libraries.py::test_an_event_is_taken_in_though_slack_will_not_say_who_we_are"),
        ("Nothing refers to the task of a listener: it may be collected.", "each connection keeps those under way (slack/socket_mode.py)", "faults/test_libraries.py::test_an_event_that_is_worked_on_is_not_collected"),
        ("`close_async()` drops handlers that run.", "they are waited for first (slack/socket_mode.py)", "unit/slack/test_socket_mode.py::test_what_was_received_is_kept_and_acknowledged_before_it_closes"),
        ("`connect()` tries one refused ticket for ever.", "each try has an address of its own (slack/socket_mode.py)", "unit/slack/test_socket_mode.py::test_a_refused_connection_is_tried_at_another_address"),
        ("Silence after a reconnect counts as connected.", "only one that Slack has greeted is up (slack/socket_mode.py)", "unit/slack/test_socket_mode.py::test_a_connection_that_says_nothing_is_rebuilt"),
        ("What nobody listens to is not acknowledged, and comes again.", "it is answered (slack/app.py)", "unit/slack/test_socket_mode.py::test_what_nobody_listens_to_is_acknowledged"),
        ("The default client posts again on a dropped connection.", "no such retry for posts; looked for instead (slack/client.py, poster.py)", "faults/test_lines.py::test_slack_posts_and_its_reply_is_lost"),
        ("429 is not retried by default.", "retry handlers for each kind of call (slack/client.py)", "faults/test_libraries.py::test_a_call_that_slack_puts_off_is_made_again"),
        ("A session given to the client makes it ignore its timeout.", "a deadline around every call (slack/client.py)", "faults/test_libraries.py::test_a_call_of_slack_ends_by_its_deadline"),
        ("`AsyncChatStream` starts twice, and repeats text after a lost reply.", "our own, one writer each (slack/streams.py, live.py)", "unit/slack/test_streams.py::test_an_addition_whose_reply_is_lost_is_not_made_twice"),
        ("Errors are logged with the address of Socket Mode, ticket included.", "secrets are taken out of every line (logs.py)", "faults/test_libraries.py::test_a_socket_modes_address_is_not_logged"),
    ),
    "redis-py 8.1": (
        ("Ten retries by itself: after a lost reply a command is done twice. †", "its retries are off, and ours repeat only what may be done twice (store/connection.py, store/lua)", "faults/test_lines.py::test_redis_acts_and_its_reply_is_lost"),
        ("`SET NX` answers None to who holds the lock after a lost reply.", "claims and writes carry who made them (store/lua)", "unit/store/test_run.py::test_a_save_point_whose_reply_was_lost_is_kept_once"),
        ("A transaction that was cancelled may be carried out.", "what belongs together is one script (store/leases.py)", "faults/test_libraries.py::test_a_save_point_that_is_cancelled_is_whole_or_nothing"),
        ("With Python 3.11 a cancellation that meets a reply is lost.", "looked for after each reply (store/connection.py)", "unit/store/test_connection.py::test_a_cancellation_is_never_lost"),
        ("The pool refuses at once when it is full.", "`BlockingConnectionPool` (store/connection.py)", "faults/test_libraries.py::test_more_commands_than_connections_wait_their_turn"),
        ("READONLY is not tried again.", "named StoreUnavailable, and waited for (store/connection.py, runs/engine.py)", "faults/test_redis.py::test_it_becomes_a_replica"),
        ("OOM is not tried again.", "likewise", "faults/test_redis.py::test_its_memory_is_full"),
    ),
    "openai 3.52": (
        ("A stream that ends without a terminal event raises nothing.", "it is asked for one (model/client.py)", "unit/model/test_client.py::test_a_stream_without_its_end_is_an_interruption"),
        ("`error` and `response.failed` in a stream raise nothing, broken JSON a raw error.", "sorted like every error (model/client.py, errors.py)", "unit/model/test_client.py::test_a_stream_without_its_end_is_an_interruption"),
        ("Leaving a stream early keeps its connection. †", "`async with`, `aclosing` (model/client.py)", "unit/model/test_client.py::test_leaving_early_drops_the_connection"),
        ("The timeout is for each read: a trickle goes on.", "a deadline for the call (agent/interrupt.py)", "unit/agent/test_model_trouble.py::test_a_slow_trickle_is_given_up"),
        ("A 429 that will not pass is tried again.", "it is not made again (model/endpoint.py)", "faults/test_libraries.py::test_a_quota_that_is_used_up_is_asked_for_once"),
        ("A crash between a call and its output makes the chain unusable. †", "the chain moves on only with outputs for all (agent/state.py)", "unit/runs/test_runner.py::test_a_run_goes_on_where_the_process_died"),
    ),
    "pydocket 0.27": (
        ("A ticket of a key that waits is dropped, and wakes nobody.", "a fresh key each time (runs/engine.py)", "faults/test_libraries.py::test_every_request_of_a_thread_has_a_ticket"),
        ("No lease is renewed while a worker stops. †", "it stops after its last run has ended (runs/engine.py)", "faults/test_libraries.py::test_a_drain_longer_than_the_lease_loses_none"),
        ("After any error of Redis a worker ends all its jobs first.", "its connections try again (runs/engine.py)", "unit/runs/test_engine.py::test_a_cut_connection_costs_nothing"),
        ("The pool stops at 100 connections.", "1,000 (runs/engine.py)", "faults/test_libraries.py::test_more_than_a_hundred_tickets_at_once"),
        ("A job that kills its workers is delivered for ever.", "given up, and said (runs/runner.py)", "unit/runs/test_runner.py::test_what_kills_its_workers_is_given_up"),
        ("A worker that stood still renews a slot that another has by now; the safeguard fails on two.", "ours does not fail (runs/docket.py)", "unit/runs/test_engine.py::test_a_thread_with_two_holders_of_its_slot_fails_nothing"),
        ("The slot of a dead worker stays for four leases.", "the sweep looks for a heartbeat (runs/engine.py)", "unit/runs/test_engine.py::test_the_slot_of_a_dead_worker_hides_no_request"),
    ),
}  # fmt: skip

GONE = """\
Each test was run once with the workaround taken away, and failed; those of † hold what must be, and
passed without it as well, or were not run so.

Not there any more in these versions: slack-sdk's endless retry after `close()` (#1913) and its closed
session made anew (#1922), redis-py's replies to the wrong command after a cancellation (#2624, #2665).
A blocking read of redis-py is still broken off by the timeout of commands; we have none, and a
subscription waits for as long as it must.
Ping staleness by wall clock in slack-sdk does no harm: aiohttp's heartbeat, by the event loop's clock,
closes a dead connection before.
"""
