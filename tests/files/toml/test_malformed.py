"""Malformed files: every one is read, or refused by an error that names it; none hangs or fills the memory."""

import contextlib
import io
import json
import os
import signal
import struct
import subprocess
import sys
import zipfile
from importlib.resources import files as resources
from pathlib import Path

import numpy as np
import pytest

import arcreach as ar
from arcreach.cli.configurations import read_configurations
from arcreach.cli.targets import read_targets
from arcreach.errors import ArcreachError
from arcreach.files import load_planar_scene
from arcreach.files.load import read_any
from arcreach.files.toml import sizes
from arcreach.files.toml.robot_file import parse_robot
from arcreach.files.urdf import parse_urdf

CASES = 100  # of every kind
# Seconds after which a case counts as hanging: many times what the slowest takes on a slow machine.
HANGS = 60

ARM = ar.load_robot("two-section")
DATA = resources("arcreach.files.catalogues")
TETRAHEDRON = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float)
FACES = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])
# Pieces that parsers trip over.
PIECES = (
    b"nan",
    b"inf",
    b"-1",
    b"1e999",
    b"1e-400",
    b"9" * 20,
    b"0x" + b"f" * 5000,
    b"",
    b"\0",
    b"\xff\xfe",
    b'"',
    b"'''",
    b"[",
    b"]]",
    b"{",
    b"}",
    b"=",
    b".",
    b",",
    b"\n",
    b"\r",
    b"<",
    b"/>",
    b"&a;",
    b"<!DOCTYPE a>",
    b"#",
    b"true",
    b"[[elements]]\n",
    b"kind",
    b"a" * 300,
    b"a." * 40,
    b"[" * 40,
    "°µ∞\u202e".encode(),
    b"PK\x03\x04",
    b"${x}",
    b"-0",
)


def mesh_texts():
    obj = "".join(f"v {x} {y} {z}\n" for x, y, z in TETRAHEDRON) + "".join(f"f {a} {b} {c}\n" for a, b, c in FACES + 1)
    rows = "".join(f"{x} {y} {z}\n" for x, y, z in TETRAHEDRON) + "".join(f"3 {a} {b} {c}\n" for a, b, c in FACES)
    header = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
    ply = f"{header}element face 4\nproperty list uchar int vertex_indices\nend_header\n{rows}"
    binary = bytes(80) + struct.pack("<I", 4)
    for face in FACES:
        binary += struct.pack("<12fH", 0.0, 0.0, 0.0, *TETRAHEDRON[face].ravel(), 0)
    ascii_stl = "solid a\n"
    for face in FACES:
        corners = "".join(f"vertex {x} {y} {z}\n" for x, y, z in TETRAHEDRON[face])
        ascii_stl += f"facet normal 0 0 0\nouter loop\n{corners}endloop\nendfacet\n"
    return {
        "a.stl": binary, "b.stl": (ascii_stl + "endsolid a\n").encode(), "c.obj": obj.encode(), "d.ply": ply.encode(),
        "e.off": f"OFF\n4 4 0\n{rows}".encode(),
    }  # fmt: skip


def catalogue_texts(folder):
    found = sorted((DATA / folder).iterdir(), key=lambda entry: entry.name)
    return {entry.name: entry.read_bytes() for entry in found if entry.name.endswith(".toml")}


# Good files of every kind, and what reads them.
GOOD = {
    "robots": (catalogue_texts("robots"), ar.load_robot),
    "scenes": (
        catalogue_texts("scenes") | {"mesh.toml": b'[[obstacles]]\nkind = "mesh"\npath = "part.stl"\n'},
        ar.load_scene,
    ),
    "planar scenes": (catalogue_texts("planar"), load_planar_scene),
    "urdf": (
        {"arm.urdf": (Path(__file__).parents[1] / "arm.urdf").read_bytes()},
        lambda path: read_any(path, tip="tool0"),
    ),
    "targets": (
        {
            "targets.csv": b"x,y,z,ax,ay,az\n0.02,0.01,0.092,0.3,0.15,1\n20mm,1cm,-2e-3,0,0,1\n",
            "b.csv": b"X,Y,Z\n1,2,3\n",
        },
        read_targets,
    ),
    "configurations": (
        {"q.csv": ",".join(ARM.coordinates).encode() + b"\n0,30deg,0.5,-1\n", "r.csv": b"0,0,0,0\n1,2,3,4\n"},
        lambda path: read_configurations(path, ARM),
    ),
    "paths": (
        {"path.csv": ",".join((*ARM.coordinates, "status", "x", "y", "z")).encode() + b"\n0,0,0,0,REACHED,0,0,1\n"},
        lambda path: ar.Path.from_csv(path, ARM),
    ),
    "meshes": (mesh_texts(), lambda path: ar.Mesh(str(path))),
}


@contextlib.contextmanager
def not_hanging(case):
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def hangs(*_):
        raise TimeoutError(f"{case} takes more than {HANGS} s")

    before = signal.signal(signal.SIGALRM, hangs)
    signal.alarm(HANGS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def broken(content, rng):
    """A good file with one to four faults in it."""
    content = bytearray(content)
    for _ in range(rng.integers(1, 5)):
        at = int(rng.integers(0, len(content) + 1))
        end = min(len(content), at + int(rng.integers(0, 40)))
        match rng.integers(0, 6):
            case 0:
                del content[at:]
            case 1:
                del content[at:end]
            case 2:
                content[at:at] = content[at:end] * int(rng.integers(1, 200))
            case 3 if at < len(content):
                content[at] ^= 1 << int(rng.integers(0, 8))
            case 4:
                content[at:end] = rng.bytes(int(rng.integers(1, 20)))
            case _:
                content[at:end] = PIECES[rng.integers(0, len(PIECES))]
    return bytes(content)


def refusal(read, path):
    """The error that refuses a file, if one does; any other error than one of ours is a failure."""
    with not_hanging(path):
        try:
            read(path)
        except ArcreachError as error:
            return error
    return None


@pytest.mark.parametrize("kind", GOOD)
def test_malformed_files_are_read_or_named(kind, tmp_path):
    if kind in ("meshes", "scenes"):
        pytest.importorskip("trimesh")
    texts, read = GOOD[kind]
    (tmp_path / "part.stl").write_bytes(mesh_texts()["a.stl"])
    for name, content in texts.items():
        (tmp_path / name).write_bytes(content)
        if not (kind == "robots" and b"matrix" in content):
            assert refusal(read, tmp_path / name) is None
    rng = np.random.default_rng(14)
    refused = 0
    for k in range(CASES):
        name, content = list(texts.items())[k % len(texts)]
        path = tmp_path / f"case-{k}{Path(name).suffix}"
        path.write_bytes(broken(content, rng))
        error = refusal(read, path)
        if error is not None:
            refused += 1
            assert path.name in str(error)
            assert len(str(error)) < 1000
            assert "\n" not in str(error)
        path.unlink()
    assert refused > CASES // 3


JOINT = '[[elements]]\nkind = "revolute"\n'
SPHERE = '[[obstacles]]\nkind = "sphere"\ncentre = [0, 0, 1]\nradius = 0.1\n'
MATRIX = """matrix = [["1", "0", "0", "{0}"], ["0", "1", "0", "{0}"], ["0", "0", "1", "{0}"], ["0", "0", "0", "1"]]
[[coordinates]]
name = "q0"
lower = 0
upper = 1
"""
ROW, BAD_ROW = "[0.5, 0, 0],", "[true, 0, 0],"
# Texts that are small, but take long or much memory where nothing bounds them: what the error says.
BOMBS = {
    "40,000 nested keys": ("a." * 40_000 + "a = 1", "nested too deeply"),
    "1,100 nested keys": ("a." * 1_100 + "a = 1", "nested too deeply"),
    "quoted keys": ('"a".' * 1_100 + "a = 1", "nested too deeply"),
    "nested header": ("[" + "a." * 1_100 + "a]", "nested too deeply"),
    "nested lists": ("a = " + "[" * 100_000, "nested too deeply"),
    "nested tables": ("a = " + "{a = " * 1_100, "nested too deeply"),
    "66,000 joints": (JOINT * 60_000, "tables; at most"),
    "1,001 joints": (JOINT * 1_001, "at most 1000 entries"),
    "1,001 bad joints": ("[[elements]]\n" * 1_001, "at most 1000 entries"),
    "rows of joints": ('[[elements]]\nkind = "dh"\nrows = [' + "{}," * 600 + "]\n", None),
    "more rows of joints": (('[[elements]]\nkind = "dh"\nrows = [' + "{}," * 600 + "]\n") * 2, "elements has"),
    "robots of the catalogue": ('[[elements]]\nkind = "robot"\nrobot = "ur5"\n' * 400, "elements has"),
    "bad keys": ("".join(f"k{i} = 1\n" for i in range(50_000)), "100 more"),
    "quotes": ('"' * 1_900_000, "is not valid TOML"),
    "escapes": ('"""' + '\\"""' * 400_000, "is not valid TOML"),
    "digits": ("a = " + "9" * 100_000, "digits"),
    "long formula": (MATRIX.format("+".join(["q0"] * 3_000)), "characters; at most"),
    "long matrix": (MATRIX.format("+".join(["q0"] * 3_000)), "matrix has|the formula has"),
    "deep formula": (MATRIX.format("1/(" * 80 + "q0" + "+1)" * 80), "nested too deeply"),
}


@pytest.mark.parametrize("case", BOMBS)
def test_small_texts_that_would_explode_are_refused(case):
    text, words = BOMBS[case]
    with not_hanging(case):
        if words is None:
            assert parse_robot(text, "bomb").dof == 600
            return
        with pytest.raises(ar.FileError, match=f"^bomb: .*({words})"):
            parse_robot(text, "bomb")


def test_what_is_long_and_harmless_is_read():
    brackets, dots = "[{" * 1_000, "a." * 1_000
    for source in (
        f'"{brackets}{dots}"',
        f"'{brackets}{dots}'",
        f'"""{brackets}\n"{dots}"""',
        f"'''{brackets}\n{dots}'''",
    ):
        assert parse_robot(f"# {brackets}{dots}\nsource = {source}  # {brackets}\n{JOINT}", "x").dof == 1
    assert parse_robot(JOINT * sizes.MOST_ELEMENTS, "x").dof == sizes.MOST_ELEMENTS


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (SPHERE * 10_001, "at most 10000 entries"),
        (f'[[obstacles]]\nkind = "mesh"\nvertices = [{ROW * 20_000}]\nfaces = [["a", 1, 2]]\n', "faces"),
        (
            f'[[obstacles]]\nkind = "mesh"\nvertices = [{BAD_ROW * 20_000}]\nfaces = []\n',
            "vertices",
        ),
        (f"a = [{ROW * 200_000}]", "at most 2 MB"),
    ],
)
def test_scenes_are_bounded(tmp_path, text, words):
    path = tmp_path / "scene.toml"
    path.write_text(text)
    with not_hanging(words), pytest.raises(ar.FileError, match=words) as caught:
        ar.load_scene(path)
    assert len(caught.value.problems) <= 101


def test_planar_scenes_are_bounded(tmp_path):
    path = tmp_path / "scene.toml"
    section = '[[elements]]\nkind = "section"\nlength = 0.1\nbend_max = 1\n'
    corners = ", ".join(f"[{np.cos(angle)}, {np.sin(angle)}]" for angle in np.linspace(0.0, 6.2, 1_001))
    path.write_text(f'target = [0, 1]\n{section}[[obstacles]]\nkind = "polygon"\npoints = [{corners}]\n')
    with not_hanging("polygon"), pytest.raises(ar.FileError, match=r"obstacles\[0\]\.points = .*at most 1000 entries"):
        load_planar_scene(path)


def chain(n):
    joints = "".join(
        f"<link name='l{i + 1}'/><joint name='j{i}' type='continuous'><parent link='l{i}'/>"
        f"<child link='l{i + 1}'/></joint>"
        for i in range(n)
    )
    return f"<robot name='a'><link name='l0'/>{joints}</robot>"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (chain(1_001), "has 1001 entries; at most 1000"),
        ("<robot>" + "<a>" * 200_000, "inside each other"),
        ("<robot>" + "<a/>" * 300_000 + "</robot>", "more than 200000 XML elements"),
        ('<!DOCTYPE a [<!ENTITY b "bbbb">]><robot/>', "DOCTYPE"),
    ],
)
def test_urdf_is_bounded(text, words):
    with not_hanging(words), pytest.raises(ar.FileError, match=f"^bomb: .*{words}"):
        parse_urdf(text, "bomb")
    assert parse_urdf(chain(1_000), "x").dof == 1_000


def zipped():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("part.stl", mesh_texts()["a.stl"])
    return stream.getvalue()


PLY = (
    "ply\nformat {} 1.0\nelement vertex 1000000000000\nproperty float x\nproperty float y\nproperty float z\n"
    "end_header\n"
)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("part.stl", bytes(80) + struct.pack("<I", 0xFFFFFFFF) + bytes(50)),
        ("part.ply", PLY.format("ascii").encode() + b"0 0 0\n"),
        ("part.ply", PLY.format("binary_little_endian").encode() + bytes(100)),
        ("part.off", b"OFF\n1000000000 1000000000 0\n0 0 0\n"),
        ("part.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 1000000000\n"),
        ("part.stl", zipped()),
        ("part.zip", zipped()),
        ("part.3mf", zipped()),
        ("part.stl", b""),
    ],
)
def test_meshes_that_would_explode_are_refused(tmp_path, name, content):
    pytest.importorskip("trimesh")
    (tmp_path / name).write_bytes(content)
    with not_hanging(name), pytest.raises(ar.SceneError, match=f"mesh: path = '.*{name}'"):
        ar.Mesh(str(tmp_path / name))


def test_a_mesh_opens_no_other_file(tmp_path):
    pytest.importorskip("trimesh")
    os.mkfifo(tmp_path / "pipe.mtl")
    (tmp_path / "part.obj").write_bytes(b"mtllib pipe.mtl\nusemtl a\n" + mesh_texts()["c.obj"])
    with not_hanging("a material that is a pipe"):
        assert len(ar.Mesh(str(tmp_path / "part.obj")).surface[1]) == 4
    os.mkfifo(tmp_path / "pipe.stl")
    for path, words in {
        "pipe.stl": "is not a regular file",
        "none.stl": "no such file",
        "a" * 5_000 + ".stl": "cannot be read",
        "a\0b.stl": "cannot be read",
    }.items():
        with not_hanging(path), pytest.raises(ar.SceneError, match=words) as caught:
            ar.Mesh(str(tmp_path / path))
        assert len(str(caught.value)) < 400


def test_readers_of_meshes_print_nothing(tmp_path):
    pytest.importorskip("trimesh")
    # Neither a binary file nor one with readable normals: trimesh notes both failures with a traceback.
    (tmp_path / "part.stl").write_bytes(mesh_texts()["b.stl"].replace(b"normal 0 0 0", b"normal 0 0 x"))
    read = "import arcreach; print(len(arcreach.Mesh('part.stl').surface[1]))"
    ran = subprocess.run([sys.executable, "-c", read], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert (ran.stdout, ran.stderr) == ("4\n", "")


def test_corners_that_are_not_finite_are_refused(tmp_path):
    pytest.importorskip("trimesh")
    (tmp_path / "part.obj").write_bytes(mesh_texts()["c.obj"].replace(b"v 1.0", b"v nan"))
    with pytest.raises(ar.SceneError, match="a corner is not finite"):
        ar.Mesh(str(tmp_path / "part.obj"))


def test_targets_of_a_path_are_named_by_its_file(tmp_path):
    names = ",".join((*ARM.coordinates, "x", "y", "z"))
    (tmp_path / "path.csv").write_text(f"{names}\n0,0,0,0,0,0,1e300\n")
    with pytest.raises(ar.FileError, match=r"path\.csv: position of target 0"):
        ar.Path.from_csv(tmp_path / "path.csv", ARM)


def test_robots_too_long_to_be_read_are_not_written(tmp_path):
    robot = ar.Robot([ar.Link()] * (sizes.MOST_ELEMENTS + 1))
    with pytest.raises(ar.FileError, match="elements has 1001 entries"):
        ar.save_robot(robot, tmp_path / "robot.toml")
    assert os.listdir(tmp_path) == []


def test_problems_are_counted_and_the_first_reported(tmp_path):
    path = tmp_path / "robot.toml"
    path.write_text((JOINT + "a = 1\n") * 500)
    with pytest.raises(ar.FileError) as caught:
        ar.load_robot(path)
    assert len(caught.value.problems) == 101
    assert caught.value.problems[-1] == "has 400 more problems"
    json.dumps(caught.value.problems)
