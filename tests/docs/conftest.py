import pytest

from arcreach.ik import method


@pytest.fixture(autouse=True)
def _registry():
    """Pages and examples declare methods of their own: the other tests must not find them."""
    known = dict(method.methods())
    yield
    method._methods.clear()
    method._methods.update(known)
