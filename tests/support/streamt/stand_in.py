"""A stand-in for the `streamt` program: `test`, and `apply` with its durable sequence.

    stand_in.py [--output json] test|apply [-p DIR] [-e ENV] [ANYTHING...]

The environment variable STAND_IN, a JSON object, says how it behaves:

- ``first``: a file whose number of lines is the first line of stdout;
- ``out``, ``err``: hexadecimal bytes written to stdout (as many ``times``) and stderr;
  ``echo``: copy stdin to stdout;
- ``exit``: exit status; ``suicide``: the signal that it ends itself with;
- ``sleep``: seconds to wait after printing ``ready``; ``patient``: SIGINT and SIGTERM are counted,
  told on stdout, and do not end it before the sleep is over;
- for apply, as streamt's code of today does it: ``ask``, ``refused`` (ends before the operation),
  ``planning`` (seconds before it, with the lock), ``pause`` (seconds after a step; ``pauses``: by
  step; ``created``: after the making of the first state file; without it, until the step was seen:
  the file ``looks`` grew by two bytes, or in the file ``events`` the begin became a START, and
  50 ms where neither is named), ``stateless`` (makes none: an older
  release), ``kind``, ``operation``, ``started_at``, ``version`` of the marker, ``marker`` (fields
  over its own), ``text`` (in its place), ``operations``: how many;
  ``actions``: how many the intent has (default 2), ``done``: how many are completed at the step
  ``progress`` (default all), ``failed``: the next one fails; ``unchanged``: the state file stays;
  ``at``: the step at which ``then`` happens: ``crash``, ``recovery``, ``rollback``, ``kill``, and
  ``interrupt``: as after a KeyboardInterrupt;
- ``lock``: ``held`` from before planning until the end (default), ``file`` (there is one, but it
  is never held), ``none`` (a release without one).

The sequence of an operation: created (a state file, where there is none), begin (marker written),
progress (of its actions), state (replaced), clear (marker cleared), done. A KeyboardInterrupt that
nobody asked for becomes ``recovery_required`` with ``operation_interrupted``, which takes 0.3 s,
and exit status 130.
"""

import fcntl
import json
import os
import signal
import sys
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

PLAN: dict[str, Any] = json.loads(os.environ.get("STAND_IN", "{}"))
SECRET = "hunter2-planted-secret"


def option(names: tuple[str, ...], default: str) -> str:
    value = default
    for word, following in zip(sys.argv, sys.argv[1:], strict=False):
        if word in names:
            value = following
    return value


FOLDER = Path(option(("-p", "--project-dir"), "."), ".streamt", "state")
ENVIRONMENT = option(("-e", "--env"), os.environ.get("STREAMT_ENV", "default"))
MARKER = Path(PLAN.get("path") or FOLDER / f"{ENVIRONMENT}.control.json")
STATE = FOLDER / f"{ENVIRONMENT}.json"
LOCK = FOLDER / f".{ENVIRONMENT}.json.lock"


def replace(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    staging = path.with_name(f".{path.name}.{os.getpid()}")
    with staging.open("w") as file:
        file.write(content if isinstance(content, str) else json.dumps(content))
        file.flush()
        os.fsync(file.fileno())
    staging.rename(path)


def mark(
    status: str,
    intent: dict[str, Any] | None,
    progress: list[dict[str, Any]] | None = None,
    failure: str = "action_failed",
) -> None:
    recovery = {
        "operation_id": intent and intent["operation_id"],
        "failure_code": failure,
        "failed_at": now(),
        "last_completed_action_index": None,
        "mutation_may_have_succeeded": True,
        "detail": SECRET,
    }
    content = {
        "control_version": PLAN.get("version", 3),
        "address": f"streamt-state://local/{PLAN.get('project', 'shop')}/{ENVIRONMENT}",
        "status": status,
        "intent": intent,
        "progress": progress or [],
        "recovery": recovery if status == "recovery_required" else None,
        **PLAN.get("marker", {}),
    }
    replace(MARKER, PLAN.get("text") or content)


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def take_lock() -> None:
    how = PLAN.get("lock", "held")
    if how == "none":
        return
    STATE.parent.mkdir(parents=True, exist_ok=True)
    # Held until the process ends.
    descriptor = os.open(LOCK, os.O_CREAT | os.O_RDWR, 0o600)
    if how == "held":
        fcntl.flock(descriptor, fcntl.LOCK_EX)


def action(intent: dict[str, Any], index: int, status: str, succeeded: bool | None) -> Any:
    return {
        "operation_id": intent["operation_id"],
        "action_index": index,
        "resource_id": SECRET,
        "action": "update",
        "status": status,
        "succeeded": succeeded,
        "recorded_at": now(),
    }


def carry_out(intent: dict[str, Any]) -> None:
    progress: list[dict[str, Any]] = []
    done = PLAN.get("done", len(intent["actions"]))
    for index in range(done + bool(PLAN.get("failed"))):
        progress.append(action(intent, index, "started", None))
        mark("in_progress", intent, progress)
        progress.append(action(intent, index, "completed", index < done))
        mark("in_progress", intent, progress)


def new_intent() -> dict[str, Any]:
    return {
        "operation_id": PLAN.get("operation") or str(uuid.uuid4()),
        "kind": PLAN.get("kind", "apply"),
        "started_at": PLAN.get("started_at") or now(),
        "actor": SECRET,
        "prior_state_serial": 3,
        "prior_state_checksum": "sha256:" + "0" * 64,
        "reviewed_plan_checksum": None,
        "actions": [{"password": SECRET}] * PLAN.get("actions", 2),
        **PLAN.get("intent", {}),
    }


def leave(status: int) -> NoReturn:
    sys.stdout.flush()
    os._exit(status)


def fail(intent: dict[str, Any]) -> NoReturn:
    then = PLAN["then"]
    if then == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if then == "recovery":
        mark("recovery_required", intent)
    if then == "interrupt":
        interrupted(intent)
    if then == "rollback":
        mark("clear", None)
    leave(PLAN.get("exit", 1))


def interrupted(intent: dict[str, Any]) -> NoReturn:
    time.sleep(0.3)
    mark("recovery_required", intent, failure="operation_interrupted")
    leave(130)


def operate() -> None:
    intent = new_intent()
    if not STATE.exists() and not PLAN.get("stateless"):
        replace(STATE, {"serial": 0})
        time.sleep(PLAN.get("pauses", {}).get("created", 0))
    steps: dict[str, Callable[[], None]] = {
        "begin": lambda: mark("in_progress", intent),
        "progress": lambda: carry_out(intent),
        "state": lambda: replace(STATE, {"serial": time.time_ns(), "secret": SECRET}),
        "clear": lambda: mark("clear", None),
    }
    if PLAN.get("unchanged"):
        del steps["state"]
    try:
        for name, step in steps.items():
            before = starts()
            step()
            pause(name, before)
            if PLAN.get("at") == name:
                wait()
                fail(intent)
    except KeyboardInterrupt:
        if json.loads(MARKER.read_text())["status"] == "clear":
            raise
        interrupted(intent)


def starts() -> int:
    """Return how many operations were told so far, where they are."""
    events = Path(PLAN.get("events", "/nonexistent"))
    return events.read_bytes().count(b'"START"') if events.exists() else 0


def pause(step: str, before: int) -> None:
    """Give who watches from outside the time to see a step, however busy the machine is."""
    seconds = PLAN.get("pauses", {}).get(step, PLAN.get("pause"))
    if seconds is None and "looks" in PLAN:
        size = Path(PLAN["looks"]).stat().st_size  # a look may be under way
        wait_until(lambda: Path(PLAN["looks"]).stat().st_size >= size + 2)
    elif seconds is None and "events" in PLAN:
        wait_until(lambda: step != "begin" or starts() > before)
    else:
        time.sleep(0.05 if seconds is None else seconds)


def wait_until(condition: Callable[[], bool], seconds: float = 10) -> None:
    """Wait, not for ever: that nothing was seen is what the test then finds."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.001)


def apply() -> None:
    take_lock()
    time.sleep(PLAN.get("planning", 0))
    if PLAN.get("ask"):
        print("Apply these changes? [y/N] ", end="", flush=True)
        if sys.stdin.readline().strip() != "y":
            print("declined")
            leave(1)
    if "--dry-run" in sys.argv:
        print("would change 2 topics", flush=True)
        return
    if PLAN.get("refused"):
        return
    for _ in range(PLAN.get("operations", 1)):
        operate()
    print("applied")


def wait() -> None:
    if "sleep" not in PLAN:
        return
    if PLAN.get("patient"):
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda n, _: os.write(1, b"got %d\n" % n) and None)
    sys.stdout.flush()
    os.write(1, b"ready\n")
    end = time.monotonic() + PLAN["sleep"]
    while time.monotonic() < end:
        time.sleep(0.02)


def main() -> None:
    if "first" in PLAN:
        print(len(Path(PLAN["first"]).read_text().splitlines()), flush=True)
    if PLAN.get("arguments"):
        print(json.dumps(sys.argv[1:]))
    sys.stdout.flush()
    sys.stdout.buffer.write(bytes.fromhex(PLAN.get("out", "")) * PLAN.get("times", 1))
    sys.stdout.buffer.flush()
    sys.stderr.buffer.write(bytes.fromhex(PLAN.get("err", "")))
    sys.stderr.buffer.flush()
    if PLAN.get("echo"):
        sys.stdout.buffer.write(sys.stdin.buffer.read())
    if "apply" in sys.argv:
        apply()
    if "at" not in PLAN:
        wait()
    if "suicide" in PLAN:
        sys.stdout.flush()
        os.kill(os.getpid(), PLAN["suicide"])
    leave(PLAN.get("exit", 0))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        leave(1)  # as click does
