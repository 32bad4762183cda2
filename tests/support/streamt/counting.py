"""A child that counts every signal that it can catch, and says how many of each came.

It ends with status 0 when a line ``end`` arrives on its standard input.
"""

import os
import signal
import sys
import threading

counts: dict[int, int] = {}


def count(number: int, _frame: object) -> None:
    counts[number] = counts.get(number, 0) + 1


for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}:
    if signal.getsignal(number) is not signal.SIG_IGN:
        signal.signal(number, count)

os.write(1, b"ready\n")
ended = threading.Event()


def read() -> None:
    for line in sys.stdin:
        if line == "end\n":
            break
    ended.set()


threading.Thread(target=read, daemon=True).start()
while not ended.wait(0.05):
    pass
for came, times in sorted(counts.items()):
    os.write(1, b"%d: %d\n" % (came, times))
os._exit(0)
