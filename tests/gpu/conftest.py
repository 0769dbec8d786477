import pytest

from arcreach.gpu import driver


@pytest.fixture(autouse=True)
def _device(request):
    """Skip what needs a GPU or its simulator where there is neither."""
    needed = request.node.get_closest_marker("device") is not None
    if needed and driver.unusable():
        pytest.skip(f"{driver.unusable()} (NUMBA_ENABLE_CUDASIM=1 simulates one)")
