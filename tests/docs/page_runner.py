"""Run the code blocks of a page from top to bottom in one folder, as a reader would.

The language of a block decides how it is run:

- `python` is run; all blocks of a page share one namespace. A comment after a `print` must be its output.
- `text` right below a Python block is the output of that block.
- `sh`, or no language, is a list of commands. A comment `exit code 1` after one is its exit code, if not 0.
- `console` is one command and its output.
- `toml` is a robot, a scene or a planar scene, and is loaded.
- `c` is a program, whose caption names it, for a command with `cc` below it.
- A block with a caption is a file of that name, which all later blocks can use.

In expected output, `...` stands for any text.
"""

import contextlib
import io
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
import tomllib
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

import jsonschema

from arcreach.cli import main
from arcreach.files import load_planar_scene, load_scene
from arcreach.files.toml.robot_file import json_schema, parse_robot

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
# Files that pages mention and do not show: every reader has their own.
READERS_FILES = Path(__file__).parent / "files"

# Directives of MyST that hold no code, or code that Sphinx itself runs.
NO_CODE = {
    "image",
    "figure",
    "include",
    "toctree",
    "eval-rst",
    "container",
    "note",
    "warning",
    "only",
    "table",
    "list-table",
}
LANGUAGES = {"python", "sh", "console", "toml", "text", "c"}

# Commands that take minutes, or need a machine that no test has, are run on a smaller scale.
SMALLER = (
    (r"--targets (full|\d+)", "--targets 3"),
    (r"(experiment run (?!.*--targets)\S+)", r"\1 --targets 3"),
    (r"--cluster \S+", "--cluster local:1"),
)

_FENCE = re.compile(r"^(?P<marks>`{3,})(?P<info>[^`\n]*)\n(?P<text>.*?)^(?P=marks)[ \t]*$", re.MULTILINE | re.DOTALL)
_OPTION = re.compile(r"^:([\w-]+):[ \t]*(.*)\n", re.MULTILINE)
_PROMISE = re.compile(r"^.*?\bprint\(.*\)\s+# (.+)$", re.MULTILINE)
SECONDS = 60


@dataclass
class Block:
    """A fenced block of a page."""

    page: Path
    line: int
    language: str
    text: str
    argument: str = ""
    options: dict[str, str] = field(default_factory=dict)

    @property
    def place(self):
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def caption(self):
        return self.options.get("caption", "")


def pages():
    """Every page a person wrote, and the README."""
    generated = {"equations.md", "methods-table.md"}
    found = [
        path for path in sorted(DOCS.rglob("*.md")) if path.name not in generated and path.parent.name != "measured"
    ]
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *found]


def blocks_of(page):
    """The blocks of a page in their order."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in _FENCE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        found.append(_block(page, line, match["info"].strip(), match["text"]))
    return found


def _block(page, line, info, text):
    directive = re.fullmatch(r"\{([\w-]+)\}\s*(.*)", info)
    if directive is None:
        return Block(page, line, info or "sh", text)
    name, argument = directive.groups()
    options = {}
    while match := _OPTION.match(text):
        options[match[1]] = match[2]
        text = text[match.end() :]
    if name == "code-block":
        return Block(page, line, argument, text.lstrip("\n"), "", options)
    return Block(page, line, f"{{{name}}}", text, argument, options)


def holds_code(block):
    return block.language.strip("{}") not in NO_CODE


class PageRun:
    """A run of a page from top to bottom, in a folder of its own."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.names = {"__name__": "page"}
        self.printed = None  # by the previous block, if it was Python
        shutil.copytree(READERS_FILES, self.folder, dirs_exist_ok=True)

    def run(self, block):
        kind = block.language.strip("{}").replace("-", "_")
        printed, self.printed = self.printed, None
        if block.caption and block.language != "{literalinclude}":
            (self.folder / block.caption).write_text(block.text, encoding="utf-8")
            if block.language == "toml":
                self.toml(block)
            return
        if kind == "text":
            assert printed is not None, (
                f"{block.place}: says what nobody printed; give it a caption, or another language"
            )
            assert_lines(printed, block.text, block.place)
            return
        getattr(self, kind)(block)

    def python(self, block):
        out = io.StringIO()
        # Line numbers of an error are those of the page.
        code = compile("\n" * block.line + block.text, block.place, "exec")
        with contextlib.redirect_stdout(out):
            exec(code, self.names)
        self.printed = out.getvalue()
        lines = iter(self.printed.splitlines())
        for promise in _PROMISE.findall(block.text):
            assert any(alike(line, promise) for line in lines), f"{block.place}: not printed: {promise}\n{self.printed}"

    def literalinclude(self, block):
        source = (block.page.parent / block.argument).resolve()
        if block.caption:
            shutil.copy(source, self.folder / block.caption)

    def toml(self, block):
        data = tomllib.loads(block.text)
        if block.caption == "pyproject.toml":
            return
        if "obstacles" not in data:
            assert parse_robot(block.text, block.place).dof > 0
            jsonschema.validate(data, json_schema())
            return
        file = self.folder / (block.caption or "scene.toml")
        file.write_text(block.text, encoding="utf-8")
        assert load_planar_scene(str(file)).robot.dof if "elements" in data else len(load_scene(file))

    def sh(self, block):
        for line in re.sub(r"\\\n\s*", "", block.text).splitlines():
            if line.strip() and not line.startswith("#"):
                command, _, comment = line.partition(" #")
                expected = re.search(r"exit code (\d)", comment)
                self.command(command.strip(), int(expected[1]) if expected else 0, block.place)

    def console(self, block):
        line, _, shown = block.text.partition("\n")
        out = self.command(line.removeprefix("$ "), None, block.place)
        assert_lines(out, shown, block.place)

    def command(self, line, expected, place):
        """Run a command; return its output, stdout first."""
        for pattern, smaller in SMALLER:
            line = re.sub(pattern, smaller, line)
        words = shlex.split(line.removeprefix(".venv/bin/"))
        if words[0] in OUTSIDE:
            return OUTSIDE[words[0]](line, words) or ""
        if words[:2] == ["arcreach", "studio"]:
            open_studio(words, place)
            return ""
        assert words[0] in ("arcreach", "python"), f"{place}: nobody runs '{words[0]}'"
        code, out = run_arcreach(words) if words[0] == "arcreach" else run_python(words)
        assert expected is None or code == expected, f"{place}: {line} ended with {code}:\n{out}"
        return out


def run_arcreach(words):
    out, err, argv = io.StringIO(), io.StringIO(), sys.argv
    sys.argv = words
    code = 0
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as end:
        code = end.code or 0
    finally:
        sys.argv = argv
    noise = ("Compiling",)
    return code, out.getvalue() + "".join(
        line for line in err.getvalue().splitlines(keepends=True) if not line.startswith(noise)
    )


def run_python(words):
    words = [sys.executable, *words[1:]]
    done = subprocess.run(words, capture_output=True, text=True, timeout=10 * SECONDS, check=False)
    return done.returncode, done.stdout + done.stderr


def open_studio(words, place):
    """Open the studio on a free port, check that it answers, and close it."""
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
    words = [word for k, word in enumerate(words) if word != "--port" and words[k - 1] != "--port"]
    line = [
        sys.executable,
        "-c",
        "from arcreach.cli import main; main()",
        *words[1:],
        "--port",
        str(port),
        "--no-browser",
    ]
    server = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        for _ in range(10 * SECONDS):
            assert server.poll() is None, f"{place}: the studio ended: {server.stdout.read()}"
            with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5) as page:
                assert b"<html" in page.read().lower()
                return
            time.sleep(0.1)
        raise AssertionError(f"{place}: the studio does not answer")
    finally:
        server.terminate()
        server.communicate(timeout=SECONDS)


def check_make(line, words):
    """Check that targets of make exist; they take too long for a test."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in words[1:]:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"{line}: the Makefile has no such target"


def check_pip(line, words):
    """Check that the extras exist; installing would change the environment."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for extras in re.findall(r"\[([\w,]+)\]", line):
        assert set(extras.split(",")) <= set(project["optional-dependencies"]), line


def check_peers(line, words):
    """Check the options only: the compared packages need an environment of their own."""
    known = subprocess.run(
        [sys.executable, "-m", words[2], "--help"],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=True,
        cwd=ROOT,
    ).stdout
    assert all(word in known for word in words if word.startswith("--")), line


def run_compiler(line, words):
    """Run a C compiler, which CI has, or the program that it made."""
    done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, f"{line}: {done.stderr}"
    return done.stdout


OUTSIDE = {
    "make": check_make,
    "cc": run_compiler,
    "./loop": run_compiler,
    "pip": check_pip,
    ".ci/run": lambda line, words: None,
}
OUTSIDE["build/peers-venv/bin/python"] = check_peers


def alike(line, promise):
    """Return whether a line is as expected; `...` stands for anything."""
    return re.fullmatch(".*?".join(map(re.escape, promise.rstrip().split("..."))), line.rstrip()) is not None


def assert_lines(printed, shown, place):
    """Compare line by line, without the empty lines that Rich puts around its tables."""
    lines = [line.rstrip() for line in printed.splitlines() if line.strip()]
    promised = [line.rstrip() for line in shown.splitlines() if line.strip()]
    if "..." in promised:
        cut = promised.index("...")
        lines, promised = (
            [*lines[:cut], *lines[len(lines) - (len(promised) - cut - 1) :]],
            [line for line in promised if line != "..."],
        )
    same = len(lines) == len(promised) and all(map(alike, lines, promised))
    assert same, f"{place} shows\n{shown}\nand it prints\n{printed}"


@contextlib.contextmanager
def reader_s_desk(folder):
    """Work in a folder as a reader does, in a terminal of 80 columns; forget modules imported from it afterwards."""
    before, path, columns = Path.cwd(), list(sys.path), os.environ.get("COLUMNS")
    loaded = set(sys.modules)
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    os.environ["COLUMNS"] = "80"
    try:
        yield
    finally:
        os.chdir(before)
        sys.path[:] = path
        for name in set(sys.modules) - loaded:
            if str(folder) in str(getattr(sys.modules[name], "__file__", "")):
                del sys.modules[name]
        if columns is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = columns
