"""Plots: panels of bars and curves as a file, by matplotlib, loaded when one is drawn."""

from phalanx_core.plots.panels import Bars, Curve, check_format, drawn

__all__ = ["Bars", "Curve", "check_format", "drawn"]
