"""Measure the latency of the studio: a raw websocket client drags the target sixty times per second.

    python -m benchmarks.studio

A drag is answered when body points arrive whose tip is at the position of that drag or of a later one. The latency does
not include the browser's rendering.
"""

import platform
import threading
import time

import msgspec
import numpy as np
import viser
import zstandard
from viser.transforms import SO3
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

import arcreach as ar
from arcreach.studio import Studio
from arcreach.studio.state.request import AXIS

DRAGS = 600
RATE = 60.0
# Warm-up drags that load kernels and allocate buffers; they are not measured.
WARM_UP = 60
# Tolerance in units of the reach: points arrive in single precision.
NEAR = 2e-5
CAMERA = {
    "type": "ViewerCameraMessage",
    "wxyz": (1.0, 0.0, 0.0, 0.0),
    "position": (2.0, -2.0, 1.0),
    "fov": 0.7,
    "near": 0.01,
    "far": 100.0,
    "image_height": 800,
    "image_width": 1200,
    "look_at": (0.0, 0.0, 0.0),
    "up_direction": (0.0, 0.0, 1.0),
}


class Listener(threading.Thread):
    """Records when new body points arrive and the tip position in them."""

    def __init__(self, socket, mesh):
        super().__init__(daemon=True)
        self.socket, self.mesh, self.arrivals = socket, mesh, []

    def run(self):
        decompress = zstandard.ZstdDecompressor()
        try:
            for raw in self.socket:
                now = time.perf_counter()
                size = int.from_bytes(raw[8:16], "little")
                window = msgspec.msgpack.decode(decompress.decompress(raw[16 : 16 + size]))
                for message in window["messages"]:
                    if message["type"] == "SceneNodeUpdateMessage" and message["name"] == self.mesh:
                        points = message["updates"].get("vertices")
                        if points is not None:
                            buffer = _buffer(raw, 16 + size, window["binaryBufferLengths"], points["__binary_index"])
                            self.arrivals.append((now, np.frombuffer(buffer, "<f4").reshape(-1, 3)[-1]))
        except ConnectionClosed:
            pass


def _buffer(raw, first, lengths, index):
    """Return one of the arrays after a message; each is aligned to eight bytes."""
    offset = first
    for i, length in enumerate(lengths):
        offset += -offset % 8
        if i == index:
            return raw[offset : offset + length]
        offset += length
    raise IndexError(index)


def drag(socket, studio, poses):
    """Send one pose after another, and return the time at which each was sent."""
    sent = []
    beat = time.perf_counter()
    for pose in poses:
        message = {
            "type": "TransformControlsUpdateMessage",
            "name": "/target",
            "owner": "",
            "wxyz": SO3.from_matrix(pose[:3, :3]).wxyz.tolist(),
            "position": (studio.stage.scale * pose[:3, 3]).tolist(),
        }
        sent.append(time.perf_counter())
        socket.send(msgspec.msgpack.encode(message))
        beat += 1.0 / RATE
        time.sleep(max(0.0, beat - time.perf_counter()))
    time.sleep(0.5)
    return sent


def waits_of(sent, poses, arrivals, scale, radius):
    """Return the time until each drag, or a later one, was drawn; infinity if it never was."""
    # The last body point is the apex of the rounded end.
    tops = np.array([scale * (pose[:3, 3] + radius * pose[:3, 2]) for pose in poses])
    answered = np.full(len(sent), np.inf)
    for arrived, top in arrivals:
        i = int(np.argmin(np.linalg.norm(tops - top, axis=1)))
        if np.linalg.norm(tops[i] - top) < NEAR and arrived > sent[i]:
            answered[i] = min(answered[i], arrived)
    first_of_rest = np.minimum.accumulate(answered[::-1])[::-1]
    return first_of_rest - np.array(sent), int(np.isfinite(answered).sum())


def measure(name, method, compared="nothing"):
    """Drag along a path that never revisits a position, and print the latencies."""
    robot = ar.load_robot(name)
    with Studio(robot, port=0) as studio:
        studio.change(method=method, compared=compared, aim=AXIS)
        begin = studio.q.copy()
        shares = 1.0 - 0.5 * np.arange(DRAGS + WARM_UP) / (DRAGS + WARM_UP)
        poses = [robot.tip_pose(robot.clip(share * begin)) for share in shares]
        body = studio.stage.robot.body
        mesh = f"/robot/{len(body.colours) - 1}"
        version = f"viser-v{viser.__version__}"
        with connect(f"ws://127.0.0.1:{studio.port}", subprotocols=[version], max_size=None) as socket:
            listener = Listener(socket, mesh)
            listener.start()
            socket.send(msgspec.msgpack.encode(CAMERA))
            time.sleep(1.0)
            sent = drag(socket, studio, poses)
        waits, own = waits_of(sent, poses, listener.arrivals, studio.stage.scale, body.tip_radius)
    waits = 1e3 * waits[WARM_UP:]
    title = f"{name}, {method}" + (f" and {compared}" if compared != "nothing" else "")
    figures = f"median {np.median(waits):.1f} ms, 95 % below {np.quantile(waits, 0.95):.1f} ms"
    print(f"{title:32} {figures}, longest {waits.max():.1f} ms; {own} of {len(poses)} drags drawn themselves")


def main():
    """Measure the default view, a comparison, and an arm with a bending tool."""
    print(f"{platform.machine()}, Python {platform.python_version()}, viser {viser.__version__}, {RATE:.0f} drags/s")
    measure("three-section", "auto")
    measure("three-section", "auto", "dls")
    measure("ur5-bending-tool", "auto")


if __name__ == "__main__":
    main()
