"""Spark: a task for each item, through DataFrames and Arrow, or RDDs where Arrow is missing.

DataFrames work wherever Spark does (Spark Connect, Databricks' standard and serverless
compute); RDDs need nothing but Python on the workers. The workers need this package: the
documentation says how to ship it.
"""

from __future__ import annotations

import logging
import signal
import threading
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Self

from streamt_ol.problems import INVALID, USAGE, Location, StreamtOlError
from streamt_ol.redaction import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from streamt_ol.scale.engines import EngineOptions, Task

_ARROW = ("pyarrow", "pandas")  # what Spark's ``mapInArrow`` asks for


class Spark:
    """The session that is there already (``spark-submit``, a notebook), or one at ``master``."""

    def __init__(self, options: EngineOptions) -> None:
        self._master = options.master
        self._session: Any = None
        self._own = False
        # Py4J logs a traceback of a call that Ctrl-C cuts short: shown where there is no handler.
        self._silence = logging.NullHandler()
        self.shares_files = (options.master or "").startswith("local")

    def __enter__(self) -> Self:
        try:
            from pyspark.sql import SparkSession
        except ImportError:
            raise StreamtOlError(
                USAGE,
                "--engine spark needs PySpark, and it is not installed",
                location=Location(option="engine"),
                suggestion="pip install 'streamt-ol[spark]', or run by spark-submit",
            ) from None
        self._session = SparkSession.getActiveSession()
        if self._session is None:
            builder = SparkSession.builder.appName("streamt-ol validate")
            if self._master is not None:
                builder = _at(builder, self._master)
            with _as_errors("Spark does not start"), _own_interrupts():
                self._session = builder.getOrCreate()
            self._own = True
        logging.getLogger().addHandler(self._silence)
        return self

    def __exit__(self, *_: object) -> None:
        if self._own:
            self._session.stop()
        logging.getLogger().removeHandler(self._silence)

    def map(self, task: Task, items: Sequence[bytes]) -> Iterator[bytes]:
        """Yield what ``task`` makes of each item. Raises E506 where Spark gives up."""
        if not items:
            return
        mapped = self._arrow if all(map(find_spec, _ARROW)) else self._rdd
        with _as_errors("Spark gave up"):
            yield from mapped(task, items)  # Spark itself shows on a terminal how far it is

    def _arrow(self, task: Task, items: Sequence[bytes]) -> list[bytes]:
        def run(batches: Iterable[Any]) -> Iterator[Any]:
            import pyarrow as pa

            for batch in batches:
                for item in batch.column(0).to_pylist():
                    yield pa.RecordBatch.from_pydict(
                        {"result": pa.array([task(item)], pa.binary())}
                    )

        rows = self._session.createDataFrame([(item,) for item in items], "item binary")
        done = rows.repartition(len(items)).mapInArrow(run, "result binary")
        return [bytes(row.result) for row in done.collect()]

    def _rdd(self, task: Task, items: Sequence[bytes]) -> list[bytes]:
        context = self._session.sparkContext
        done: list[bytes] = context.parallelize(items, len(items)).map(task).collect()
        return done


@contextmanager
def _own_interrupts() -> Iterator[None]:
    """Keep what Ctrl-C does here: PySpark's own handler calls Spark from within a call to Spark."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread() and before is not None:
            signal.signal(signal.SIGINT, before)


def _at(builder: Any, master: str) -> Any:
    """Return ``builder`` for ``master``, a classic cluster's address or Spark Connect's."""
    return builder.remote(master) if master.startswith("sc://") else builder.master(master)


class _as_errors:  # noqa: N801 - it reads as the context that it is
    """Turn what Spark raises into E506: Py4J, Connect and Python have classes of their own."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, StreamtOlError):
            text = str(error).strip().partition("\n")[0]
            raise StreamtOlError(
                INVALID,
                f"{self._what}: {one_line(text or type(error).__name__, 300)}",
                location=Location(option="engine"),
            ) from None
