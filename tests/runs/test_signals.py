"""Each signal of the table in `docs/runs.md`, by each sender, with real processes and terminals."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from support.commands import PROGRAM
from support.delivery.servers import Server
from support.streamt.place import NAMESPACE, Json, Place, read_until, sent, wait_for
from support.streamt.terminal import Terminal

from streamt_ol.runs.signals import ENDING

# Counts every signal that can be counted, says so, and ends with 0 after a while or on a line.
COUNTING = Path(__file__).parents[1] / "support" / "streamt" / "counting.py"
SENT = [
    signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2,
    signal.SIGALRM, signal.SIGWINCH, signal.SIGCONT, signal.SIGPROF, signal.SIGVTALRM,
    signal.SIGRTMIN, signal.SIGRTMAX, signal.SIGABRT, signal.SIGTRAP,
]  # fmt: skip


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def line(*command: str) -> list[str]:
    return [PROGRAM, "run", "--job-namespace", NAMESPACE, "--job-name", "n", "--", *command]


# Its child is gone before the first look at it, by a signal to one process or to the group.
GONE_AT_ONCE = """
import os, signal, sys
from streamt_ol.runs.child import run_child
from streamt_ol.runs.signals import signals_held

def end(child):
    send, whom = {"group": (os.killpg, 0), "child": (os.kill, child)}[sys.argv[1]]
    send(whom, signal.SIGHUP)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)

with signals_held() as signals:
    ended = run_child(["sleep", "60"], os.environ, signals, end)
print(ended.stopped_by and ended.stopped_by.name, ended.killed_by)
"""
# Its group gets a signal when the child has just begun, which is not yet attended to.
SENT_AT_ONCE = """
import os, signal, sys
from streamt_ol.runs.child import run_child
from streamt_ol.runs.signals import signals_held

CHILD = '''
import os, signal, sys, time
tell, found = int(sys.argv[1]), []
signal.signal(signal.SIGUSR1, lambda *_: found.append(os.write(tell, b".")))
os.write(tell, b".")
time.sleep(0.7)
print(len(found))
'''

def send(child):
    os.read(ready, 1)
    os.killpg(0, signal.SIGUSR1)
    os.read(ready, 1)

ready, tell = os.pipe()
os.set_inheritable(tell, True)
with signals_held() as signals:
    run_child([sys.executable, "-c", CHILD, str(tell)], os.environ, signals, send)
"""
# It is killed when its child has been forked, before anybody is told of the child.
KILLED_AT_ONCE = """
import os, signal
from streamt_ol.runs.child import run_child
from streamt_ol.runs.signals import signals_held

with signals_held() as signals:
    ours, guard = os.getpid(), signals.witness.guard

    def late(child):
        os.kill(ours, signal.SIGKILL)
        guard(child)

    signals.witness.guard = late
    run_child(["sleep", "60"], os.environ, signals)
"""
# Ends with 3, and leaves a process that sends its parent a signal a little after that has seen it.
SENDING_LATE = """
import os, time

child, wrapper = os.getpid(), os.getppid()
if os.fork():
    os._exit(3)
os.setsid()
for stream in (0, 1, 2):
    os.close(stream)
try:
    while True:
        os.kill(child, 0)
except ProcessLookupError:
    time.sleep({seconds})
    os.kill(wrapper, {number})
"""
COUNT = line(sys.executable, "-S", str(COUNTING))


def started(place: Place, words: list[str], **options: bool) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        words,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=place.environment(),
        cwd=place.folder,
        process_group=0,
    )


def counted(process: subprocess.Popen[bytes]) -> list[bytes]:
    """Return what the counting child has counted, after its end."""
    time.sleep(0.3)  # a second delivery would come in this time
    out, err = process.communicate(b"end\n", timeout=30)
    assert err == b""
    return out.splitlines()


class TestWithoutATerminal:
    @pytest.mark.parametrize("number", SENT)
    def test_to_our_process_alone_is_passed_on_once(self, place: Place, number: int) -> None:
        process = started(place, COUNT)
        read_until(process, b"ready")
        process.send_signal(number)
        assert counted(process) == [b"%d: 1" % number]
        assert (process.returncode, place.kinds()) == (0, ["START", "COMPLETE"])

    @pytest.mark.parametrize("number", SENT)
    def test_to_the_whole_group_reaches_the_child_once(self, place: Place, number: int) -> None:
        process = started(place, COUNT)
        read_until(process, b"ready")
        os.killpg(process.pid, number)
        assert counted(process) == [b"%d: 1" % number]
        assert (process.returncode, place.kinds()) == (0, ["START", "COMPLETE"])

    def test_several_at_once(self, place: Place) -> None:
        process = started(place, COUNT)
        read_until(process, b"ready")
        os.killpg(process.pid, signal.SIGTERM)
        process.send_signal(signal.SIGUSR1)
        os.killpg(process.pid, signal.SIGHUP)
        assert set(counted(process)) == {b"1: 1", b"10: 1", b"15: 1"}

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_by_timeout(self, place: Place, number: signal.Signals) -> None:
        """It sends its signal to its child and then to its whole group."""
        words = ["timeout", "-s", number.name, "2", *COUNT]
        process = started(place, words)
        read_until(process, b"ready")
        wait_for(lambda: len(place.lines()) == 1)
        time.sleep(2.2)
        lines = counted(process)
        assert [one for one in lines if not one.startswith(b"18:")] == [b"%d: 1" % number]
        assert process.returncode == 124
        assert place.kinds() == ["START", "COMPLETE"]

    def test_to_the_child_alone(self, place: Place) -> None:
        process = started(place, COUNT)
        read_until(process, b"ready")
        (child,) = psutil.Process(process.pid).children()
        child.send_signal(signal.SIGTERM)
        assert counted(process) == [b"15: 1"]
        assert (process.returncode, place.kinds()) == (0, ["START", "COMPLETE"])

    @pytest.mark.parametrize(
        ("number", "status", "end"),
        [
            (signal.SIGINT, -signal.SIGINT, "ABORT"),
            (signal.SIGTERM, -signal.SIGTERM, "FAIL"),
            (signal.SIGHUP, -signal.SIGHUP, "FAIL"),
            (signal.SIGQUIT, -signal.SIGQUIT, "FAIL"),
            (signal.SIGUSR1, 138, "FAIL"),
            (signal.SIGALRM, 142, "FAIL"),
            (signal.SIGABRT, 134, "FAIL"),
            (signal.SIGSYS, 159, "FAIL"),
        ],
    )
    @pytest.mark.parametrize("whole_group", [True, False])
    def test_a_child_that_does_not_care(
        self, place: Place, number: int, status: int, end: str, whole_group: bool
    ) -> None:
        process = started(place, line("sh", "-c", "echo ready; exec sleep 60"))
        read_until(process, b"ready")
        (os.killpg if whole_group else os.kill)(process.pid, number)
        process.communicate(timeout=30)
        assert (process.returncode, place.kinds()) == (status, ["START", end])

    def test_sigkill_of_our_process_kills_the_child(self, place: Place) -> None:
        process = started(place, line("sh", "-c", "echo ready; exec sleep 60"))
        read_until(process, b"ready")
        (child,) = psutil.Process(process.pid).children()
        process.kill()
        process.wait(30)
        wait_for(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE)
        assert place.kinds() == ["START"]
        process.communicate(timeout=30)  # nobody holds the pipes any longer

    def test_a_signal_to_the_group_while_the_child_starts_reaches_it_once(
        self, place: Place
    ) -> None:
        process = started(place, [sys.executable, "-c", SENT_AT_ONCE])
        out, err = process.communicate(timeout=30)
        assert (process.returncode, out, err) == (0, b"1\n", b"")

    def test_sigkill_while_the_child_starts_leaves_no_child(self, place: Place) -> None:
        process = started(place, [sys.executable, "-c", KILLED_AT_ONCE])
        out, err = process.communicate(timeout=30)  # the child would hold the pipes for a minute
        assert (process.returncode, out, err) == (-signal.SIGKILL, b"", b"")

    @pytest.mark.parametrize("command", ["run", "apply"])
    @pytest.mark.parametrize("number", [*sorted(ENDING), signal.SIGUSR1])
    def test_no_signal_after_the_childs_end_changes_the_exit_status(
        self, place: Place, number: int, command: str
    ) -> None:
        """At any moment until the process is gone: a waiting for a server is all that it ends."""
        for milliseconds in range(0, 40, 4):
            late = SENDING_LATE.format(number=int(number), seconds=milliseconds / 1000)
            place.streamt.write_text(f"#!{sys.executable} -IS\n{late}")
            done = place.run(command, *([str(place.streamt)] if command == "run" else []))
            assert done.returncode == 3, milliseconds
            assert b"Traceback" not in done.stderr

    def test_sigkill_of_the_group_kills_both(self, place: Place) -> None:
        process = started(place, line("sh", "-c", "echo ready; exec sleep 60"))
        read_until(process, b"ready")
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=30)
        assert place.kinds() == ["START"]

    def test_an_ignored_signal_stays_ignored(self, place: Place) -> None:
        process = started(place, ["nohup", *line("sh", "-c", "echo ready; sleep 1; echo done")])
        read_until(process, b"ready")
        os.killpg(process.pid, signal.SIGHUP)
        process.send_signal(signal.SIGHUP)
        process.communicate(timeout=30)
        assert (process.returncode, place.kinds()) == (0, ["START", "COMPLETE"])


class TestSuspending:
    @pytest.mark.parametrize("number", [signal.SIGTSTP, signal.SIGSTOP])
    @pytest.mark.parametrize("trap", ["", 'trap "" TSTP; '])
    def test_the_group_is_suspended_and_resumed(self, place: Place, number: int, trap: str) -> None:
        """As Ctrl-Z and `fg` do it, many times over."""
        process = started(place, line("sh", "-c", f"{trap}echo ready; read x; echo finished"))
        read_until(process, b"ready")
        for _ in range(5):
            os.killpg(process.pid, number)
            time.sleep(0.1)
            os.killpg(process.pid, signal.SIGCONT)
            time.sleep(0.05)
        out, err = process.communicate(b"x\n", timeout=30)
        assert (out, err) == (b"finished\n", b"")
        assert (process.returncode, place.kinds()) == (0, ["START", "COMPLETE"])

    def test_our_process_alone_suspends_and_resumes_the_child(self, place: Place) -> None:
        process = started(place, line("sh", "-c", "echo ready; read x; echo finished"))
        read_until(process, b"ready")
        us = psutil.Process(process.pid)
        (child,) = us.children()
        for _ in range(3):
            process.send_signal(signal.SIGTSTP)
            wait_for(lambda: child.status() == psutil.STATUS_STOPPED)
            wait_for(lambda: us.status() == psutil.STATUS_STOPPED)
            process.send_signal(signal.SIGCONT)
            wait_for(lambda: child.status() != psutil.STATUS_STOPPED)
        out, err = process.communicate(b"x\n", timeout=30)
        assert (out, err) == (b"finished\n", b"")
        assert (process.returncode, place.kinds()) == (0, ["START", "COMPLETE"])

    def test_a_child_suspended_by_somebody_else_does_not_suspend_us(self, place: Place) -> None:
        """Nobody would resume us with it."""
        process = started(place, line("sh", "-c", "echo ready; read x; echo finished"))
        read_until(process, b"ready")
        (child,) = psutil.Process(process.pid).children()
        child.suspend()
        time.sleep(0.2)
        child.resume()
        out, _ = process.communicate(b"x\n", timeout=30)
        assert (out, process.returncode) == (b"finished\n", 0)


@pytest.mark.filterwarnings("ignore:.*use of forkpty:DeprecationWarning")
class TestDyingAsTheChildDied:
    """Whoever waits for the command sees the end that it has without `streamt-ol`."""

    @pytest.mark.parametrize("wrapper", [[], line()], ids=["bare", "wrapped"])
    @pytest.mark.parametrize(
        ("trap", "status", "goes_on"),
        [("", -signal.SIGINT, False), ("trap 'exit 130' INT; ", 0, True)],
        ids=["killed", "handled"],
    )
    def test_ctrl_c_ends_the_loop_of_a_shell_where_it_killed_the_command(
        self, place: Place, wrapper: list[str], trap: str, status: int, goes_on: bool
    ) -> None:
        # By the time it is ready the shell waits for it.
        script = f"{trap}sleep 0.5; echo ready; while :; do sleep 0.05; done"
        command = shlex.join([*wrapper, "sh", "-c", script])
        loop = f"for i in 1 2; do {command}; echo went on $?; done; echo over"
        terminal = Terminal(
            ["/usr/bin/env", "bash", "--norc", "-c", loop], place.environment(), place.folder
        )
        for _ in range(2 if goes_on else 1):
            terminal.read_until(b"ready")
            terminal.type(b"\x03")
        ended, _ = terminal.end()
        assert ended == status
        assert terminal.seen.count(b"went on 130") == (2 if goes_on else 0)
        assert (b"over" in terminal.seen) == goes_on
        if wrapper:
            assert place.kinds() == ["START", "ABORT"] * (2 if goes_on else 1)

    @pytest.mark.parametrize("number", [*sorted(ENDING), signal.SIGKILL, signal.SIGSEGV])
    def test_a_shell_says_128_and_the_number(self, place: Place, number: int) -> None:
        killed = shlex.join(line("sh", "-c", f"kill -{number} $$"))
        done = subprocess.run(
            ["bash", "-c", f"{killed}; echo $?"],
            capture_output=True, env=place.environment(), cwd=place.folder, check=False,
        )  # fmt: skip
        assert done.stdout == b"%d\n" % (128 + number)

    @pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGPIPE])
    def test_a_crash_is_the_childs_alone(self, place: Place, number: int) -> None:
        done = place.run("run", "sh", "-c", f"kill -{number} $$")
        assert done.returncode == 128 + number

    def test_of_sigquit_only_the_child_leaves_a_core(self, place: Place) -> None:
        wrapped = shlex.join(line("sh", "-c", "ulimit -S -c 0; kill -QUIT $$"))
        process = subprocess.Popen(
            ["sh", "-c", f"ulimit -S -c $(ulimit -H -c); exec {wrapped}"],
            env=place.environment(), cwd=place.folder,
        )  # fmt: skip
        _, status = os.waitpid(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == -signal.SIGQUIT
        assert not os.WCOREDUMP(status)

    def test_an_ignored_signal_is_died_by_all_the_same(self, place: Place) -> None:
        """As the child did, which has it no longer ignored."""
        reset = "import os, signal; signal.signal(1, signal.SIG_DFL); os.kill(os.getpid(), 1)"
        done = subprocess.run(
            ["nohup", *line(sys.executable, "-c", reset)], stdin=subprocess.DEVNULL,
            capture_output=True, env=place.environment(), cwd=place.folder, check=False,
        )  # fmt: skip
        assert done.returncode == -signal.SIGHUP


@pytest.mark.filterwarnings("ignore:.*use of forkpty:DeprecationWarning")
class TestOnATerminal:
    """The command line under a shell with job control, as a person has it."""

    @pytest.fixture
    def shell(self, place: Place) -> Terminal:
        if shutil.which("bash") is None:
            pytest.skip("bash, a shell with job control, is not installed")
        environment = {**place.environment(), "PS1": "$ ", "HISTFILE": "/dev/null"}
        shell = ["/usr/bin/env", "bash", "--noprofile", "--norc", "-i"]
        terminal = Terminal(shell, environment, place.folder)
        terminal.read_until(b"$ ")
        return terminal

    def run(self, shell: Terminal, words: list[str]) -> None:
        shell.type(" ".join(words).encode() + b"; echo status $?.\n")

    @pytest.mark.parametrize(
        ("key", "number"), [(b"\x03", signal.SIGINT), (b"\x1c", signal.SIGQUIT)]
    )
    def test_a_key_reaches_the_child_once(
        self, place: Place, shell: Terminal, key: bytes, number: int
    ) -> None:
        self.run(shell, COUNT)
        shell.read_until(b"ready")
        shell.type(key)
        time.sleep(0.5)
        shell.type(b"end\n")
        said = shell.read_until(b"status 0.")
        assert (b"%d: 1\r\n" % number) in said
        assert place.kinds() == ["START", "COMPLETE"]
        shell.hang_up()

    def test_ctrl_z_and_fg(self, place: Place, shell: Terminal) -> None:
        self.run(shell, line("sh", "-c", "'echo ready; read x; echo finished; exit 3'"))
        shell.read_until(b"ready\r\n")
        for _ in range(3):
            shell.type(b"\x1a")
            shell.read_until(b"Stopped")
            shell.type(b"jobs; fg\n")
            shell.read_until(b"sh -c")
            time.sleep(0.2)
        shell.type(b"x\n")
        shell.read_until(b"finished")
        wait_for(lambda: len(place.lines()) == 2)
        assert place.kinds() == ["START", "FAIL"]
        shell.hang_up()

    def test_a_pager_behind_a_pipe_has_the_terminal(self, place: Place, shell: Terminal) -> None:
        """Another job than ours in the foreground group reads keys from the terminal."""
        words = " ".join(line("sh", "-c", "'echo ready; sleep 1'"))
        self.run(shell, [f"{words} | sh -c 'cat; read x < /dev/tty; echo read $x'"])
        shell.read_until(b"ready\r\n")
        shell.type(b"key\n")
        shell.read_until(b"status 0.")
        assert b"read key" in shell.seen
        shell.hang_up()

    def test_a_closed_terminal(self, place: Place, shell: Terminal) -> None:
        self.run(shell, line("sh", "-c", "'echo ready; exec sleep 60'"))
        shell.read_until(b"ready\r\n")
        shell.hang_up()
        wait_for(lambda: len(place.lines()) == 2)
        end = place.events()[1]
        assert end["eventType"] == "FAIL"
        message = end["run"]["facets"]["errorMessage"]["message"]
        assert message == "The command was stopped by SIGHUP."

    def test_a_closed_terminal_that_we_lead(self, place: Place) -> None:
        words = line("sh", "-c", "echo ready; exec sleep 60")
        terminal = Terminal(words, place.environment(), place.folder)
        terminal.read_until(b"ready\r\n")
        terminal.hang_up()
        wait_for(lambda: len(place.lines()) == 2)
        assert place.kinds() == ["START", "FAIL"]

    def test_kill_by_the_shell(self, place: Place, shell: Terminal) -> None:
        """`kill %1` goes to the whole group of the job."""
        shell.type(" ".join(COUNT).encode() + b" < /dev/zero &\n")
        shell.read_until(b"ready\r\n")
        shell.type(b"kill -USR1 %1; sleep 0.5; kill -TERM %1; sleep 0.5; kill -KILL %1\n")
        wait_for(lambda: not _alive(COUNTING.name))
        shell.hang_up()


def _alive(name: str) -> bool:
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if any(name in word for word in process.cmdline()):
                return True
    return False


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGALRM, signal.SIGRTMIN])
@pytest.mark.parametrize("event", ["START", "COMPLETE"])
def test_no_other_signal_ends_us_while_an_event_is_delivered(
    place: Place, tmp_path: Path, number: int, event: str
) -> None:
    plan = {"match": f'"{event}"', "kind": "hang", "seconds": 1}
    with Server(tmp_path / "s", plan) as server:
        process = subprocess.Popen(
            line("true"), stderr=subprocess.PIPE, env=place.environment(**place.to(server))
        )
        while event.encode() not in server.log.read_bytes():
            assert process.poll() is None
        process.send_signal(number)
        process.communicate(timeout=30)
        assert process.returncode == 0
        told = {one["eventType"] for one in sent(server)}
    assert told == {"START", "COMPLETE"}


@pytest.mark.parametrize(("target", "said"), [("group", "SIGHUP 1\n"), ("child", "None 1\n")])
def test_a_child_that_is_gone_before_the_first_look(target: str, said: str) -> None:
    command = [sys.executable, "-c", GONE_AT_ONCE, target]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=30, process_group=0, check=False
    )
    assert (done.stdout, done.stderr) == (said, "")


def scripts(folder: Path) -> dict[str, Json]:
    made: dict[str, Json] = {}
    for name, content in {
        "plain": b"echo ran $1\n",
        "empty": b"",
        "binary": b"\x7fELF\x00\x01\n",
        "text": b"# a comment\nexit 7\n",
    }.items():
        path = folder / name
        path.write_bytes(content)
        path.chmod(0o755)
        made[name] = {"path": path}
    return made


class TestAScriptWithoutAShebang:
    @pytest.mark.parametrize("command", ["run", "test"])
    @pytest.mark.parametrize(
        ("name", "status"), [("plain", 0), ("empty", 0), ("binary", 126), ("text", 7)]
    )
    def test_it_runs_as_a_shell_would_run_it(
        self, place: Place, command: str, name: str, status: int
    ) -> None:
        scripts(place.folder)
        if command == "run":
            done = place.run("run", f"./{name}", "word")
        else:
            words = ["test", "--streamt", f"./{name}", "--", "word"]
            done = place.run(*words, emit=False)
        assert done.returncode == status
        if name == "plain":
            assert done.stdout == (b"ran word\n" if command == "run" else b"ran test\n")
        if status == 126:
            assert done.stderr.startswith(b"E507_COMMAND_NOT_STARTED: cannot start './binary': ")

    def test_one_that_is_searched_on_the_path(self, place: Place) -> None:
        scripts(place.folder)
        done = place.run("run", "plain", "word", PATH=f"{place.folder}:{os.environ['PATH']}")
        assert (done.returncode, done.stdout) == (0, b"ran word\n")
