"""Methods of users' own modules; tests/cli runs them by commands."""

import arcreach as ar
from arcreach.ik.own_methods import load_method


def test_a_function_whose_docstring_is_blank_gets_a_summary(tmp_path, monkeypatch):
    (tmp_path / "blank.py").write_text('def rest(robot, target):\n    """ """\n    return robot.neutral\n')
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    method = load_method("blank:rest")
    assert method.summary == "a function of the user's"
    robot = ar.load_robot("ur5")
    assert (ar.solve(robot, [0.3, 0.2, 0.4], method.name).q == robot.neutral).all()
