import sys

import pytest

from arcreach.cli import main


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the command line in this process: exit code, stdout, stderr."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["arcreach", *map(str, arguments)])
        with pytest.raises(SystemExit) as caught:
            main()
        out = capsys.readouterr()
        return caught.value.code or 0, out.out, out.err

    return call
