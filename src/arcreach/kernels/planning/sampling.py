"""Random solver variables within the limits, the same with and without compilation."""

from arcreach._jit import kernel
from arcreach.kernels.chain.layout import BEND, PLANAR

_MODULI = (2147483563, 2147483399)
_FACTORS = (40014, 40692)


@kernel
def uniform(state):
    """Return a number between 0 and 1 and advance the state (2,). Source: [LE88] fig. 3."""
    state[0] = _FACTORS[0] * state[0] % _MODULI[0]
    state[1] = _FACTORS[1] * state[1] % _MODULI[1]
    difference = state[0] - state[1]
    if difference < 1:
        difference += _MODULI[0] - 1
    return difference / _MODULI[0]


@kernel
def draw(model, low, high, state, v):
    """Write random variables, uniform within the limits of every element. Source: derived."""
    for row in range(model.moving.shape[0]):
        element = model.moving[row]
        k = element.variable
        last = k + element.width - 1
        inside = False
        while not inside:
            for j in range(k, last + 1):
                v[j] = low[j] + uniform(state) * (high[j] - low[j])
            inside = True
            if element.kind == BEND or element.kind == PLANAR:
                most = element.bend_max * (v[last] if element.stretch > 0.0 and element.slope > 0.0 else 1.0)
                across = v[k + 1] if element.kind == BEND else 0.0
                inside = v[k] * v[k] + across * across <= most * most
