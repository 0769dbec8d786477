import pytest

from arcreach.ik import method


@pytest.fixture(autouse=True)
def _registry():
    """Pages and examples declare methods of their own: the other tests must not find them."""
    known = method.methods()
    yield
    for name in method.methods().keys() - known.keys():
        method.unregister(name)
