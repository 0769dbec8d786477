import io
import os
import pickle
import threading
import time

import pytest
from tests.studio.waiting import until

from arcreach.errors import TargetError
from arcreach.studio.player.background import Background, _outcome, serve
from arcreach.studio.stage.contact import ContactMotion


def add(a, b):
    return a + b


def sleep(seconds):
    time.sleep(seconds)
    return seconds


def refuse():
    raise TargetError("position = 7 is not accepted")


def fail():
    raise RuntimeError("boom")


def restore():
    raise ImportError("no such module")


class Unreadable:
    """Can be pickled and not unpickled."""

    def __reduce__(self):
        return restore, ()


def unreadable():
    return Unreadable()


@pytest.fixture(autouse=True)
def known(monkeypatch):
    monkeypatch.setattr(
        "arcreach.studio.player.background.TASKS",
        {"add": add, "sleep": sleep, "refuse": refuse, "fail": fail, "unreadable": unreadable},
    )


def test_the_process_runs_tasks_until_their_stream_ends():
    tasks = io.BytesIO(b"".join(map(pickle.dumps, [("add", (1, 2)), ("refuse", ()), ("fail", ())])))
    results = io.BytesIO()
    serve(tasks, results)
    results.seek(0)
    assert [pickle.load(results) for _ in range(3)] == [
        (True, 3),
        (False, "position = 7 is not accepted"),
        (False, "the work failed: RuntimeError: boom"),
    ]
    assert _outcome("unknown", ())[0] is False


class Thread:
    """The same protocol in a thread, which starts faster than a process."""

    started = 0

    def __init__(self):
        Thread.started += 1
        here, self.tasks = (os.fdopen(end, mode) for end, mode in zip(os.pipe(), ("rb", "wb"), strict=True))
        self.results, there = (os.fdopen(end, mode) for end, mode in zip(os.pipe(), ("rb", "wb"), strict=True))
        self._there = (here, there)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        serve(*self._there)
        for stream in self._there:
            stream.close()

    def alive(self):
        return self._thread.is_alive()

    def end(self):
        self.tasks.close()
        self._thread.join(5.0)
        self.results.close()


@pytest.fixture
def background():
    Thread.started = 0
    made = Background(Thread)
    yield made
    made.stop()


def test_a_result_arrives(background):
    got = []
    background.start("add", (1, 2), got.append, got.append)
    until(lambda: got)
    assert got == [3]
    assert not background.cancel()
    background.start("add", (3, 4), got.append, got.append)
    until(lambda: len(got) == 2)
    # The process is kept for the next task.
    assert Thread.started == 1


def test_a_failure_is_reported(background):
    done, failed = [], []
    background.start("nothing", (), done.append, failed.append)
    until(lambda: failed)
    assert done == []
    assert "KeyError" in failed[0]


@pytest.mark.parametrize(
    ("task", "arguments"),
    [("add", ("x" * 100_000, threading.Lock())), ("add", (1, lambda: None)), ("unreadable", ())],
    ids=["lock", "lambda", "answer"],
)
def test_data_that_cannot_be_pickled_is_reported_and_the_next_task_runs(background, task, arguments):
    done, failed = [], []
    background.start(task, arguments, done.append, failed.append)
    until(lambda: failed)
    assert failed[0].startswith("the work failed: ")
    assert not background.cancel()
    background.start("add", (1, 2), done.append, failed.append)
    until(lambda: done)
    assert done == [3]
    assert len(failed) == 1


def test_a_process_that_cannot_be_started_is_reported():
    def launch():
        raise OSError("too many processes")

    failed = []
    background = Background(launch)
    background.start("add", (1, 2), failed.append, failed.append)
    until(lambda: failed)
    assert failed == ["the work failed: OSError: too many processes"]
    assert not background.cancel()


def test_a_cancelled_task_reports_nothing(background):
    got = []
    background.start("sleep", (0.2,), got.append, got.append)
    assert background.cancel()
    assert not background.cancel()
    time.sleep(0.3)
    assert got == []


def test_only_the_latest_task_reports(background):
    got = []
    background.start("sleep", (0.3,), got.append, got.append)
    until(lambda: Thread.started)
    background.start("add", (1, 1), got.append, got.append)
    until(lambda: got)
    time.sleep(0.4)
    assert got == [2]
    assert Thread.started == 2


def test_a_process_that_died_is_started_again(background):
    got = []
    background.start("add", (1, 1), got.append, got.append)
    until(lambda: got == [2])
    background._process.end()
    background.start("add", (2, 2), got.append, got.append)
    until(lambda: len(got) == 2)
    assert got == [2, 4]


@pytest.mark.compiled
def test_a_process_of_its_own():
    background = Background()
    got = []
    background.start("contact", ("wedge",), got.append, got.append)
    until(lambda: background._process)
    process = background._process
    assert process.alive()
    assert background.cancel()
    assert not process.alive()
    background.start("contact", ("wedge",), got.append, got.append)
    until(lambda: got)
    assert isinstance(got[0], ContactMotion)
    background.stop()


@pytest.mark.compiled
def test_no_file_of_the_current_folder_is_imported(tmp_path, monkeypatch):
    for name in ("pickle", "arcreach", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'a').write({name!r})\n")
    monkeypatch.chdir(tmp_path)
    background = Background()
    got = []
    background.start("contact", ("wedge",), got.append, got.append)
    until(lambda: got)
    background.stop()
    assert isinstance(got[0], ContactMotion)
    assert not (tmp_path / "ran").exists()
