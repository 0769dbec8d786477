"""Robots as they were built: fitted parameters, configurations from sensed points, uncertainty of the tip."""

from arcreach.calibration.measurements import Measurements, read_measurements
from arcreach.calibration.robot_fit import Fit, fit
from arcreach.calibration.shape import ShapeFit, fit_shape
from arcreach.calibration.uncertainty import TipCovariance, tip_covariance

__all__ = [
    "Fit",
    "Measurements",
    "ShapeFit",
    "TipCovariance",
    "fit",
    "fit_shape",
    "read_measurements",
    "tip_covariance",
]
