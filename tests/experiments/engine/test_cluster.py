"""A cluster of worker processes gives the rows of one process, also when a worker dies."""

import os
import re
import signal
import socket

import pytest

from arcreach.errors import MethodError
from arcreach.experiments import find_experiment, run_experiment
from arcreach.experiments.engine.store import Store

pytest.importorskip("distributed")
# Dask warns of ports and of workers that end; none of it is ours.
pytestmark = pytest.mark.filterwarnings("default")

NAME = "jacobian"
SETTINGS = find_experiment(NAME).settings(1050, 5, ("auto", "fabrikx", "jacobian"))


def rows(folder):
    return Store(folder).rows().collect().drop("seconds").sort("case", "method", "target")


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    folder = tmp_path_factory.mktemp("here")
    run_experiment(NAME, SETTINGS, folder, threads=1)
    return rows(folder)


@pytest.mark.compiled
def test_two_workers_and_one_killed_in_the_middle(here, tmp_path, monkeypatch):
    from arcreach.experiments.engine import cluster

    workers = []
    connected = cluster.connected

    def watched(address):
        manager = connected(address)

        class Watched:
            def __enter__(self):
                pool = manager.__enter__()
                workers.extend(pool.client.run(os.getpid).values())
                return pool

            def __exit__(self, *error):
                return manager.__exit__(*error)

        return Watched()

    def kill_once(progress):
        if progress.fresh and len(killed) == 0:
            killed.append(workers[0])
            os.kill(workers[0], signal.SIGKILL)

    killed = []
    monkeypatch.setattr(cluster, "connected", watched)
    run_experiment(NAME, SETTINGS, tmp_path, cluster="local:2", report=kill_once)
    assert len(set(workers)) == 2
    assert killed
    assert rows(tmp_path).equals(here)


@pytest.mark.compiled
def test_a_scheduler_by_its_address(here, tmp_path):
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as cluster:
        address = cluster.scheduler_address
        run_experiment(NAME, SETTINGS, tmp_path, cluster=address)
        # The cluster is not ours: it goes on without us.
        assert len(cluster.scheduler_info["workers"]) == 1
    assert rows(tmp_path).equals(here)
    assert Store(tmp_path).sessions()[0]["cluster"] == address


def test_nobody_listens(monkeypatch, tmp_path):
    """The error is Dask's port being shut, not Dask's patience being over."""
    from arcreach.experiments.engine import cluster

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"

    def patient(*_, **__):
        raise AssertionError("Dask was asked")

    monkeypatch.setattr("distributed.Client", patient)
    for given in (address, f"tcp://{address}", "127.0.0.1:99999", "[::1]:99999"):
        refusal = re.escape(f"--cluster {given}: no scheduler answers")
        with pytest.raises(MethodError, match=refusal), cluster.connected(given):
            pass
    with pytest.raises(MethodError, match="no scheduler answers"):
        run_experiment(NAME, SETTINGS, tmp_path, cluster=address)


def test_a_scheduler_without_workers(monkeypatch):
    from distributed import LocalCluster

    from arcreach.experiments.engine import cluster

    monkeypatch.setattr(cluster, "SCHEDULER_TIMEOUT", 1)
    with (
        LocalCluster(n_workers=0, processes=False, protocol="tcp", dashboard_address=None, silence_logs=50) as own,
        pytest.raises(MethodError, match="no workers"),
        cluster.connected(own.scheduler_address),
    ):
        pass


def test_workers_of_another_version_are_refused(monkeypatch):
    from distributed import LocalCluster

    from arcreach.experiments.engine import cluster

    def thread():
        import threading

        return threading.current_thread().name

    monkeypatch.setattr(cluster, "kernel_hash", thread)
    with (
        LocalCluster(n_workers=1, processes=False, protocol="tcp", dashboard_address=None, silence_logs=50) as own,
        pytest.raises(MethodError, match="another version of arcreach"),
        cluster.connected(own.scheduler_address),
    ):
        pass


def test_all_workers_are_used_and_an_error_is_not_repeated(monkeypatch, tmp_path):
    from distributed import LocalCluster

    from arcreach.experiments.engine import cluster

    calls = tmp_path / "calls"

    def fail(name, settings, block):
        with calls.open("a") as file:
            file.write("called\n")
        raise ValueError("no rows")

    monkeypatch.setattr(cluster, "remote_rows", fail)
    with (
        LocalCluster(n_workers=6, processes=False, protocol="tcp", dashboard_address=None, silence_logs=50) as own,
        cluster.connected(own.scheduler_address) as pool,
    ):
        assert pool.count == 6
        with pytest.raises(ValueError, match="no rows"):
            list(pool(NAME, SETTINGS, [None]))
    assert calls.read_text() == "called\n"


@pytest.mark.parametrize("address", ["local:0", "local:x", "nonsense", "a b:1"])
def test_a_malformed_address_is_refused(address):
    from arcreach.experiments.engine.cluster import connected

    with pytest.raises(MethodError, match="local:N"), connected(address):
        pass
