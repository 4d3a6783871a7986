"""Pictures, drawn by matplotlib: charts of messages as files, and plots of answers for notebooks."""

from aoe_reports.present.figures.charts import MAX_ALT, Picture, can_draw, draw_png

__all__ = ["MAX_ALT", "Picture", "can_draw", "draw_png"]
