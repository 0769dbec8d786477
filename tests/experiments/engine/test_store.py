"""Rows on the disk: whole or not at all, never twice, readable whatever happens."""

import errno
import json
import math
import os
import subprocess

import numpy as np
import polars as pl
import pytest

import arcreach as ar
from arcreach.errors import FileError
from arcreach.experiments import find_experiment
from arcreach.experiments.engine.experiment import Block, Settings, generator, ranges
from arcreach.experiments.engine.store import COLUMNS, Store, describe, session_name

KNOWN = {"experiment": "scaling", "seed": 0, "targets": 10, "methods": ["auto"], "robot": None, "kernels": "k"}
BLOCKS = [Block("a", "auto", first, 5) for first in (0, 5, 10)]


def columns(block):
    rng = np.random.default_rng(block.first)
    return {
        "experiment": "scaling", "case": block.case, "method": block.method, "seed": 0,
        "target": np.arange(block.first, block.first + block.count), "status": np.full(block.count, "REACHED"),
        "reached": np.ones(block.count, bool), "position_error": rng.random(block.count),
        "angle_error": rng.random(block.count), "iterations": np.arange(block.count),
        "seconds": rng.random(block.count),
    }  # fmt: skip


def begun(folder):
    store = Store(folder)
    store.begin(KNOWN)
    return store


def file_of(store, block):
    """The only file of a block."""
    [path] = (store.folder / "rows").glob(f"{block.stem}-*.parquet")
    return path


def test_rows_are_read_as_written(tmp_path):
    store = begun(tmp_path / "run")
    for block in BLOCKS:
        store.write(block, columns(block), {"extra": "Float64"})
    rows = store.rows().collect().sort("target")
    assert rows.columns == [*COLUMNS, "extra"]
    assert rows["target"].to_list() == list(range(15))
    assert rows["position_error"].to_numpy() == pytest.approx(
        np.concatenate([columns(block)["position_error"] for block in BLOCKS]), abs=0.0
    )
    assert rows["extra"].null_count() == 15


def test_a_block_that_was_written_twice_is_read_once(tmp_path):
    store = begun(tmp_path / "run")
    for seconds in (1.0, 2.0):
        store.write(BLOCKS[0], columns(BLOCKS[0]) | {"seconds": seconds}, {})
    assert len(list((tmp_path / "run").glob("rows/*.parquet"))) == 2
    assert store.rows().collect()["target"].to_list() == list(range(5))


def test_a_block_is_left_when_missing_short_or_broken(tmp_path):
    store = begun(tmp_path / "run")
    assert store.left(BLOCKS) == BLOCKS
    for block in BLOCKS:
        store.write(block, columns(block), {})
    assert store.left(BLOCKS) == []
    file_of(store, BLOCKS[0]).unlink()
    file_of(store, BLOCKS[1]).write_bytes(file_of(store, BLOCKS[1]).read_bytes()[:-20])
    short = Block("a", "auto", 10, 3)
    store.write(short, columns(short), {})
    file_of(store, short).replace(file_of(store, BLOCKS[2]))
    assert store.left(BLOCKS) == BLOCKS


def flip_a_byte(path, place):
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)


def test_a_flipped_byte_anywhere_is_found_and_its_block_computed_again(tmp_path):
    store = begun(tmp_path / "run")
    for block in BLOCKS:
        store.write(block, columns(block), {})
    path = file_of(store, BLOCKS[1])
    size = path.stat().st_size
    for place in (4, size // 3, size // 2, size - 9):
        flip_a_byte(path, place)
        assert store.left(BLOCKS) == [BLOCKS[1]]
        with pytest.raises(FileError, match=f"{path.name}: is damaged"):
            store.rows()
        flip_a_byte(path, place)
    flip_a_byte(path, 4)
    store.begin(KNOWN)
    # The damaged file is set aside, and its rows are not part of the run.
    assert path.with_suffix(".damaged").stat().st_size == size
    assert sorted(store.rows().collect()["target"].to_list()) == [*range(5), *range(10, 15)]
    store.write(BLOCKS[1], columns(BLOCKS[1]), {})
    assert store.left(BLOCKS) == []


def test_rows_of_a_lost_description_are_not_taken_for_another_seed(tmp_path):
    store = begun(tmp_path / "run")
    store.write(BLOCKS[0], columns(BLOCKS[0]), {})
    (tmp_path / "run" / "run.json").unlink()
    with pytest.raises(FileError, match=r"holds rows but no run\.json.*another --out"):
        Store(tmp_path / "run").begin(KNOWN | {"seed": 1})
    # Nor are they where the description says another seed.
    (tmp_path / "run" / "run.json").write_text(json.dumps(KNOWN | {"seed": 1}))
    other = Store(tmp_path / "run")
    assert other.left(BLOCKS) == BLOCKS
    with pytest.raises(FileError, match="from another run"):
        other.rows()


def test_foreign_and_broken_files_are_named(tmp_path):
    store = begun(tmp_path / "run")
    store.write(BLOCKS[0], columns(BLOCKS[0]), {})
    foreign = tmp_path / "run" / "rows" / "foreign.parquet"
    pl.DataFrame({"a": [1]}).write_parquet(foreign)
    with pytest.raises(FileError, match=r"foreign\.parquet: is damaged or from another run"):
        store.rows()
    foreign.unlink()
    for name, word in {"sessions/a.json": "a session of a run", "run.json": "the description of a run"}.items():
        for text in ("", "{", "[" * 100_000, '{"experiment": "scaling"}', "\udcff"):
            (tmp_path / "run" / name).write_bytes(text.encode("utf-8", "surrogateescape"))
            with pytest.raises(FileError, match=f"{name}: (is not {word}|is not UTF-8)"):
                Store(tmp_path / "run").sessions() if "a.json" in name else Store(tmp_path / "run").description()


def test_names_that_read_alike_have_files_of_their_own():
    stems = {Block(case, method, 0, 1).stem for case in ("a b", "a-b", "a°b", "a b ") for method in ("x y", "x-y")}
    assert len(stems) == 8
    assert all(stem.isascii() and "/" not in stem and " " not in stem for stem in stems)


@pytest.mark.parametrize("change", [{"seed": 1}, {"targets": 11}, {"methods": []}, {"kernels": "other"}])
def test_another_run_is_refused(tmp_path, change):
    store = begun(tmp_path / "run")
    store.begin(KNOWN)
    with pytest.raises(FileError, match=f"{next(iter(change))} = .*another --out"):
        store.begin(KNOWN | change)
    with pytest.raises(FileError, match="already"):
        store.begin(KNOWN, resume=False)


def test_a_folder_without_a_run_is_refused(tmp_path):
    with pytest.raises(FileError, match="holds no run"):
        Store(tmp_path).description()
    (tmp_path / "run.json").write_text("[]")
    with pytest.raises(FileError, match="not the description"):
        Store(tmp_path).description()


def test_two_runs_do_not_share_a_folder(tmp_path):
    pytest.importorskip("fcntl")
    with Store(tmp_path).locked(), pytest.raises(FileError, match="another run"), Store(tmp_path).locked():
        pass
    with Store(tmp_path).locked():
        pass


def test_a_full_disk_keeps_what_was_written(tmp_path, monkeypatch):
    store = begun(tmp_path / "run")
    store.write(BLOCKS[0], columns(BLOCKS[0]), {})

    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(FileError, match=r"no space left.*run the same command again"):
            store.write(BLOCKS[1], columns(BLOCKS[1]), {})
    assert not list((tmp_path / "run").rglob(".arcreach-*"))
    assert store.rows().collect()["target"].to_list() == list(range(5))
    assert store.left(BLOCKS) == BLOCKS[1:]
    store.write(BLOCKS[1], columns(BLOCKS[1]), {})
    assert len(store.rows().collect()) == 10


@pytest.fixture
def small_disk(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("no right to mount")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=False)


def test_a_small_disk_fills_up_and_the_run_goes_on(small_disk):
    store = begun(small_disk / "run")
    blocks = [Block("a", "auto", 500 * k, 500) for k in range(40)]

    def write_all():
        for block in blocks:
            store.write(block, columns(block), {})

    with pytest.raises(FileError, match="no space left"):
        write_all()
    left = store.left(blocks)
    there = store.rows().collect()
    assert 0 < len(left) < len(blocks)
    assert len(there) == there["target"].n_unique() == 500 * (len(blocks) - len(left))
    # Space is freed: the same run with the same folder goes on.
    subprocess.run(["mount", "-o", "remount,size=4m", str(small_disk)], check=True)
    store.begin(KNOWN)
    for block in left:
        store.write(block, columns(block), {})
    assert sorted(store.rows().collect()["target"].to_list()) == list(range(20_000))


def test_unfinished_files_are_cleared_away(tmp_path):
    store = begun(tmp_path / "run")
    left = tmp_path / "run" / "rows" / ".arcreach-123-abc"
    left.write_bytes(b"half")
    store.begin(KNOWN)
    assert not left.exists()


@pytest.mark.parametrize(("targets", "timed", "block"), [(1, 10, 10), (10, 10, 3), (11, 10, 10), (95, 10, 20)])
def test_ranges_cover_every_target_once(targets, timed, block):
    found = [k for first, count in ranges(targets, timed, block) for k in range(first, first + count)]
    assert found == list(range(targets))


def test_random_numbers_depend_on_seed_and_names_only():
    draw = [
        generator(Settings(seed), *words).random()
        for seed, *words in ((0, "a", 1), (0, "a", 1), (1, "a", 1), (0, "a", 2))
    ]
    assert draw[0] == draw[1]
    assert len(set(draw)) == 3


def test_parquet_files_are_plain(tmp_path):
    store = begun(tmp_path / "run")
    store.write(BLOCKS[0], columns(BLOCKS[0]), {})
    assert pl.read_parquet(file_of(store, BLOCKS[0]))["status"].to_list() == ["REACHED"] * 5


def test_names_of_sessions_sort_by_time_across_a_full_second(monkeypatch):
    times = iter([1_999_999_999, 2_000_000_001])
    monkeypatch.setattr("time.time_ns", lambda: next(times))
    first, second = session_name(), session_name()
    assert first < second


def test_robots_are_described_in_degrees_and_millimetres(tmp_path):
    tendons = (ar.Tendon(0.004, 0.0), ar.Tendon(0.004, math.pi))
    robot = ar.Robot(
        [
            ar.Link((0, 0, 0.0253)),
            ar.Revolute((0, 1, 0), lower=-math.pi / 2, name="waist"),
            ar.Section(0.0333, math.pi / 3, coupled=False, tendons=tendons),
        ]
    )
    description = describe(find_experiment("compare"), Settings(0, 10, ("auto",), robot), "k")
    assert description["robot_text"] == [
        "link-1: translation (0 mm, 0 mm, 25.3 mm)",
        "waist (revolute): axis (0, 1, 0), lower -90°",
        "section-1: length 33.3 mm, bend_max 60°, coupled no, tendons 2",
    ]
    store = Store(tmp_path / "run")
    store.begin(description)
    # A run of an earlier version lacks the text, and is continued.
    del description["robot_text"]
    (tmp_path / "run" / "run.json").write_text(json.dumps(description))
    store.begin(describe(find_experiment("compare"), Settings(0, 10, ("auto",), robot), "k"))
    assert "robot_text" not in store.description()
