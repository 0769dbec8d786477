import threading
import time

from arcreach.studio.mailbox import Mailbox
from arcreach.studio.worker import Worker
from tests.studio.conftest import until


def test_only_the_latest_is_kept():
    mailbox: Mailbox[int] = Mailbox()
    for i in range(5):
        mailbox.post(i)
    assert mailbox.take() == 4
    assert mailbox.take(timeout=0.01) is None


def test_to_close_wakes_who_waits():
    mailbox: Mailbox[int] = Mailbox()
    taken = []
    thread = threading.Thread(target=lambda: taken.append(mailbox.take()))
    thread.start()
    mailbox.close()
    thread.join(5.0)
    assert taken == [None]
    mailbox.post(1)
    assert mailbox.closed
    assert mailbox.take(timeout=0.01) is None


def test_a_worker_skips_what_was_overtaken():
    done, begin, go = [], threading.Event(), threading.Event()

    def job(item: int) -> None:
        begin.set()
        go.wait(5.0)
        done.append(item)

    worker = Worker("test", job)
    worker.post(0)
    assert begin.wait(5.0)
    for i in range(1, 10):
        worker.post(i)
    go.set()
    until(lambda: len(done) == 2)
    worker.stop()
    assert done == [0, 9]


def test_a_worker_outlives_a_job_that_fails(caplog):
    done = []

    def job(item: int) -> None:
        done.append(item)
        if item == 0:
            raise RuntimeError("no luck")

    worker = Worker("test", job)
    worker.post(0)
    until(lambda: done == [0])
    worker.post(1)
    until(lambda: done == [0, 1])
    worker.stop()
    assert "no luck" in caplog.text


def test_a_worker_that_is_stopped_begins_nothing():
    done = []
    worker = Worker("test", done.append)
    worker.stop()
    worker.post(1)
    time.sleep(0.05)
    assert done == []
