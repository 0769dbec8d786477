import os
import threading

import pytest

from arcreach._threads import SMALLEST_PIECE, available_threads, spread


@pytest.mark.parametrize("threads", [1, 2, 3, None])
@pytest.mark.parametrize("rows", [0, 1, SMALLEST_PIECE - 1, 2 * SMALLEST_PIECE, 37 * SMALLEST_PIECE + 5])
def test_every_row_is_served_once(rows, threads):
    served = []
    spread(lambda start, stop, out: out.extend(range(start, stop)), rows, served, threads=threads)
    assert sorted(served) == list(range(rows))


def test_an_error_in_a_piece_reaches_the_caller():
    def fail(start, stop):
        raise RuntimeError("in a thread")

    with pytest.raises(RuntimeError, match="in a thread"):
        spread(fail, 10 * SMALLEST_PIECE, threads=2)


def test_two_callers_at_once():
    totals = []

    def work():
        counts = []
        spread(lambda start, stop: counts.append(stop - start), 50 * SMALLEST_PIECE, threads=2)
        totals.append(sum(counts))

    callers = [threading.Thread(target=work) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert totals == [50 * SMALLEST_PIECE] * 4


def test_the_number_of_threads_can_be_chosen(monkeypatch):
    monkeypatch.setenv("ARCREACH_THREADS", "7")
    assert available_threads() == 7
    for nonsense in ("", "0", "many", "-1", "²"):
        monkeypatch.setenv("ARCREACH_THREADS", nonsense)
        assert 1 <= available_threads() <= (os.cpu_count() or 1)
