"""Shorten a path: leave out points, and take short-cuts between any two of its points."""

from arcreach._jit import clock, kernel
from arcreach.kernels.math.linalg import copy
from arcreach.kernels.planning.sampling import uniform
from arcreach.kernels.planning.tree import distance, is_free

# Most short-cuts tried, and most failures in a row.
_TRIES = 200
_PATIENCE = 25
# Least gain of a short-cut, as a share of the length of the path.
_LEAST_GAIN = 1e-3


@kernel
def move_rows(path, first, last, to):
    """Move rows first to last - 1 so that they begin at row `to`. Source: derived."""
    if to <= first:
        for row in range(first, last):
            copy(path[row], path[row - first + to])
    else:
        for row in range(last - 1, first - 1, -1):
            copy(path[row], path[row - first + to])


@kernel
def leave_out(space, demand, pulls, path, count, work):
    """Leave out points between two that a free straight motion connects; return the number left. Source: [GO07]."""
    i = 0
    while i < count - 2:
        j = count - 1
        while j > i + 1 and not is_free(space, demand, pulls, path[i], path[j], work):
            j = (i + j) // 2 if j - i > 3 else j - 1
        if j > i + 1:
            move_rows(path, j, count, i + 1)
            count -= j - i - 1
        i += 1
    return count


@kernel
def path_length(weights, path, count, lengths):
    """Write the length of a path up to each of its points; return the total length. Source: derived."""
    lengths[0] = 0.0
    for i in range(1, count):
        lengths[i] = lengths[i - 1] + distance(weights, path[i - 1], path[i])
    return lengths[count - 1]


@kernel
def at_length(path, count, lengths, wanted, v):
    """Write the point at a length along the path; return the index of the point before it. Source: derived."""
    i = 0
    while i < count - 2 and lengths[i + 1] < wanted:
        i += 1
    edge = lengths[i + 1] - lengths[i]
    share = min((wanted - lengths[i]) / edge, 1.0) if edge > 0.0 else 0.0
    for k in range(v.shape[0]):
        v[k] = path[i, k] + share * (path[i + 1, k] - path[i, k])
    return i


@kernel
def short_cuts(space, demand, pulls, path, count, scratch, work):
    """Replace parts of a path by straight motions between random points of it; return the number of points.

    Source: [GO07].
    """
    a, b, lengths = scratch.near, scratch.new, scratch.lengths
    failed = 0
    for _ in range(_TRIES):
        if count <= 2 or failed >= _PATIENCE or count + 1 > path.shape[0] or clock(work.timer) > work.deadline[0]:
            break
        total = path_length(space.weights, path, count, lengths)
        first, second = uniform(scratch.state) * total, uniform(scratch.state) * total
        i = at_length(path, count, lengths, min(first, second), a)
        j = at_length(path, count, lengths, max(first, second), b)
        if i == j:
            continue
        failed += 1
        gain = abs(second - first) - distance(space.weights, a, b)
        if gain < _LEAST_GAIN * total or not is_free(space, demand, pulls, a, b, work):
            continue
        failed = 0
        # a and b replace the points i + 1 to j.
        move_rows(path, j + 1, count, i + 3)
        copy(a, path[i + 1])
        copy(b, path[i + 2])
        count += i + 2 - j
    return count


@kernel
def shorten(space, demand, pulls, path, count, scratch, work):
    """Return the number of points of the shortened path. Source: [GO07]."""
    if count > 2:
        count = leave_out(space, demand, pulls, path, count, work)
        count = short_cuts(space, demand, pulls, path, count, scratch, work)
        count = leave_out(space, demand, pulls, path, count, work)
    return count
