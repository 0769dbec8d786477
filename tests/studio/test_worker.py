import threading

from arcreach.studio.worker import Worker
from tests.studio.waiting import until


def test_items_posted_in_between_are_skipped():
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


def test_a_worker_survives_a_job_that_raises(caplog):
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


def test_a_stopped_worker_starts_nothing():
    done = []
    worker = Worker("test", done.append)
    worker.stop()
    worker.post(1)
    until(lambda: not worker._thread.is_alive())
    assert done == []
