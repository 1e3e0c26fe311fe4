# SPDX-License-Identifier: BSD-3-Clause
"""SVG, written by hand so that the same data give the same bytes: shapes, and charts of lines over two axes.

Lines are labelled where they end, instead of in a legend; labels that would overlap move apart.
"""

import html
import math

INK, GREY, LIGHT = "#1f2933", "#5f6b76", "#d5dbe1"
FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif"
MARGIN = 36


# --- Shapes, as text -------------------------------------------------------------------------------------------------


def number(value):
    return f"{value:.1f}".removesuffix(".0")


def text(x, y, words, size=13, color=INK, anchor="start", bold=False):
    weight = ' font-weight="600"' if bold else ""
    place = f'x="{number(x)}" y="{number(y)}" font-size="{size}" fill="{color}" text-anchor="{anchor}"'
    return f"<text {place}{weight}>{html.escape(words)}</text>"


def rect(x, y, width, height, fill, edge=None):
    stroke = f' stroke="{edge}"' if edge else ""
    place = f'x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}"'
    return f'<rect {place} fill="{fill}"{stroke}/>'


def line(start, end, color, width=1.0, dashes=None):
    style = f'stroke="{color}" stroke-width="{number(width)}"' + (f' stroke-dasharray="{dashes}"' if dashes else "")
    ends = f'x1="{number(start[0])}" y1="{number(start[1])}" x2="{number(end[0])}" y2="{number(end[1])}"'
    return f"<line {ends} {style}/>"


def polyline(points, color, width=1.0, dashes=None):
    style = f'stroke="{color}" stroke-width="{number(width)}"' + (f' stroke-dasharray="{dashes}"' if dashes else "")
    places = " ".join(f"{number(x)},{number(y)}" for x, y in points)
    return f'<polyline points="{places}" fill="none" stroke-linejoin="round" {style}/>'


def dot(x, y, radius, color):
    return f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(radius)}" fill="{color}"/>'


def document(width, height, maker, title, shapes):
    """The file: shapes on a white sheet. `title` is for those who do not see it."""
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {number(height)}" width="{width}" '
        f'height="{number(height)}" role="img" font-family="{FONT}">',
        f"<!-- Made by {maker}. -->",
        f"<title>{html.escape(title)}</title>",
        rect(0.5, 0.5, width - 1, height - 1, "#ffffff", LIGHT),
    ]
    return "\n".join(head + shapes + ["</svg>"]) + "\n"


# --- Charts ----------------------------------------------------------------------------------------------------------


class Axis:
    """From `low` to `high`, both above 0 where it is logarithmic. `ticks` are (value, words)."""

    def __init__(self, title, low, high, ticks, is_log=False):
        self.title, self.low, self.high, self.ticks, self.is_log = title, low, high, ticks, is_log

    def part(self, value):
        """Where on the axis, 0 to 1."""
        if self.is_log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


class Series:
    """`points` are (x, y), in the order of x. One without a `label` is drawn thin."""

    def __init__(self, points, color, label=None, dashes=None, has_dots=False):
        self.points, self.color, self.label, self.dashes, self.has_dots = points, color, label, dashes, has_dots


class Band:
    """The part of the chart between two values of y."""

    def __init__(self, low, high, words, color):
        self.low, self.high, self.words, self.color = low, high, words, color


def decades(low, high, words):
    """Ticks at the powers of 10 within and next to [low, high]."""
    first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
    return [(10.0**power, words(10.0**power)) for power in range(first, max(last, first + 1) + 1)]


def apart(places, gap):
    """Moves places (of y, in any order) apart so that none is nearer than `gap` to the next."""
    order = sorted(range(len(places)), key=lambda index: places[index])
    moved = list(places)
    for _ in range(200):
        is_done = True
        for low, high in zip(order, order[1:]):
            missing = gap - (moved[high] - moved[low])
            if missing > 0.01:
                moved[low] -= missing / 2
                moved[high] += missing / 2
                is_done = False
        if is_done:
            break
    return moved


def chart(maker, title, subtitle, axes, series, bands=(), size=(880, 520), label_width=230):
    """Lines over two axes, as a file. `axes` are x and y."""
    width, height = size
    x_axis, y_axis = axes
    left, right, top, bottom = MARGIN + 54, width - MARGIN - label_width, 108, height - 62

    def place(point):
        return left + (right - left) * x_axis.part(point[0]), bottom - (bottom - top) * y_axis.part(point[1])

    shapes = [text(MARGIN, 42, title, 19, bold=True), text(MARGIN, 65, subtitle, 13, GREY)]
    for band in bands:
        high, low = place((x_axis.low, band.high))[1], place((x_axis.low, band.low))[1]
        shapes += [rect(left, high, right - left, low - high, band.color), text(left + 8, low - 6, band.words, 11, GREY)]
    for value, words in y_axis.ticks:
        y = place((x_axis.low, value))[1]
        shapes += [line((left, y), (right, y), LIGHT), text(left - 8, y + 4, words, 12, GREY, "end")]
    for value, words in x_axis.ticks:
        x = place((value, y_axis.low))[0]
        shapes += [line((x, bottom), (x, bottom + 5), GREY), text(x, bottom + 20, words, 12, GREY, "middle")]
    shapes += [
        line((left, bottom), (right, bottom), GREY),
        text((left + right) / 2, bottom + 42, x_axis.title, 13, GREY, "middle"),
        text(MARGIN, top - 14, y_axis.title, 12, GREY),
    ]
    labelled = [one for one in series if one.label]
    for one in [one for one in series if not one.label] + labelled:
        places = [place(point) for point in one.points]
        shapes.append(polyline(places, one.color, 2.4 if one.label else 0.8, one.dashes))
        if one.has_dots:
            shapes += [dot(x, y, 3.2, one.color) for x, y in places]
    ends = [place(one.points[-1]) for one in labelled]
    for one, (x, y), moved in zip(labelled, ends, apart([y for _, y in ends], 15)):
        shapes.append(line((x + 4, y), (right + 14, moved), one.color, 0.7))
        shapes.append(text(right + 18, moved + 4, one.label, 12, one.color, bold=True))
    return document(width, height, maker, title, shapes)
