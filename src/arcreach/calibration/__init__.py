"""Robots as they were built: the uncertainty of the tip."""

from arcreach.calibration.uncertainty import TipCovariance, tip_covariance

__all__ = ["TipCovariance", "tip_covariance"]
