"""Public names of the package, and modules that importing it does not load."""

import dataclasses
import importlib
import inspect
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import arcreach

ROOT = Path(__file__).parents[1]


def test_public_names_exist_and_are_documented():
    for name in arcreach.__all__:
        assert getattr(arcreach, name).__doc__


@pytest.mark.parametrize("package", ["", ".elements", ".experiments", ".figures", ".files", ".ik", ".planning"])
def test_dir_lists_the_public_names_and_they_exist(package):
    code = f"import arcreach{package} as p; names = dir(p); print(*names); [getattr(p, name) for name in names]"
    names = python(code).stdout.split()
    assert names
    assert [name for name in names if name.startswith("_")] in ([], ["__version__"])
    assert not {"Any", "TYPE_CHECKING", "importlib", "lazy", "annotations"} & set(names)


@pytest.mark.parametrize("package", ["arcreach", "arcreach.files"])
def test_a_name_that_is_not_public_is_no_attribute(package):
    assert not hasattr(importlib.import_module(package), "nonsense")


def test_no_public_signature_shows_packed_rows_or_modes():
    for name in arcreach.__all__:
        thing = getattr(arcreach, name)
        if inspect.isfunction(thing) or dataclasses.is_dataclass(thing) or name in ("Target", "Targets"):
            assert not {"mode", "rows", "row", "packed"} & set(inspect.signature(thing).parameters), name


# Packages of the extras. `sys.modules[name] = None` makes their import fail, as on a core install.
EXTRAS = (
    "sympy", "matplotlib", "viser", "trimesh", "shapely", "ruckig", "dask",
    "distributed", "polars", "numba_cuda", "_numba_cuda_redirector",
)  # fmt: skip
IMPORT_ALL = """
import importlib, pkgutil, sys
sys.modules |= dict.fromkeys({names}, None)
import arcreach
count = 0
for module in pkgutil.walk_packages(arcreach.__path__, "arcreach."):
    if module.name != "arcreach.__main__":
        importlib.import_module(module.name)
        count += 1
print(count)
"""


@pytest.mark.parametrize("missing", [(), EXTRAS], ids=["without a GPU", "core install"])
def test_every_module_can_be_imported_without_a_gpu(missing):
    done = python(IMPORT_ALL.format(names=missing), NUMBA_ENABLE_CUDASIM=None)
    assert int(done.stdout) > 100, done.stderr


def test_python_m_arcreach_is_the_command_line():
    done = subprocess.run(
        [sys.executable, "-m", "arcreach", "--version"], capture_output=True, text=True, timeout=300, check=True
    )
    assert done.stdout == f"arcreach {arcreach.__version__}\n"


def test_import_brings_no_optional_package_and_no_file_format():
    optional = ("sympy", "matplotlib", "viser", "typer", "dask", "pydantic")
    assert loaded("import arcreach", optional) == []


def test_a_solve_brings_its_own_method_alone():
    here = ("arcreach.ik.methods.ccd", "arcreach.ik.methods.chords", "arcreach.ik.methods.hierarchical")
    assert loaded("from arcreach.ik.method import find_method; find_method('ccd')", here) == [here[0]]


def loaded(line, names):
    """Which modules a new process has imported after a line of code."""
    code = f"{line}\nimport sys; print(*(name for name in {names} if name in sys.modules))"
    return python(code).stdout.split()


def python(code, **variables):
    """Run code in a new process; a variable of the environment that is None is left out."""
    environment = {name: value for name, value in {**os.environ, **variables}.items() if value is not None}
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True, env=environment
    )


def test_the_version_has_one_home():
    assert f"version: {arcreach.__version__}" in (ROOT / "CITATION.cff").read_text()
    assert f"## {arcreach.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_ci_installs_exact_versions_of_everything():
    requirements = pytest.importorskip("packaging.requirements")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    groups = project["dependency-groups"]
    wanted = list(project["project"]["dependencies"])
    for name, extra in project["project"]["optional-dependencies"].items():
        wanted += extra if name != "all" else []
    for name in ("test", "lint", "docs"):
        wanted += groups[name]
    lines = (ROOT / ".ci" / "constraints.txt").read_text().splitlines()
    locked = {name.lower().replace("_", "-"): version for name, version in (line.split("==") for line in lines)}
    for text in wanted:
        requirement = requirements.Requirement(text)
        version = locked.get(requirement.name.lower())
        assert version is not None, f"{requirement.name} is not in .ci/constraints.txt; run make lock"
        assert version in requirement.specifier, f"{requirement} allows not {version}; run make lock"
