"""Draws the frames of a terminal as an SVG: still, or as an animation of CSS that needs no script and loads nothing.

Every run of characters has its place and its width, so that columns align with any font. The lines of the last frame are drawn once, as
a log that scrolls. What differs from it at some time is drawn over it: the frames stand side by side on a strip, of which one shows.
"""

import html
import re

from terminal import Style

FONT = 13.3
ADVANCE = 8
LINE = 17
PADDING = 16
BAR = 30

# Light text on a dark panel, with a border that is visible on dark pages. All have a contrast above 4.5 to the panel.
PANEL, BORDER, DOT, TEXT = "#161b22", "#3d444d", "#545d68", "#e6edf3"
COLOURS = {
    30: "#8b949e", 31: "#ff7b72", 32: "#56d364", 33: "#e3b341", 34: "#79c0ff", 35: "#d2a8ff", 36: "#56d4dd", 37: "#e6edf3",
    90: "#9198a1", 91: "#ffa198", 92: "#7ee787", 93: "#f2cc60", 94: "#a5d6ff", 95: "#e2c5ff", 96: "#b3f0ff", 97: "#ffffff",
}  # fmt: skip

# Lines of boxes are drawn: those of a font have gaps between rows. Where they begin and end: left, up, right, down of the middle.
BOX = {"─": (1, 0, 1, 0), "│": (0, 1, 0, 1), "╷": (0, 0, 0, 1), "╵": (0, 1, 0, 0)}


def number(value):
    return f"{value:.2f}".rstrip("0").rstrip(".")


def runs(line):
    """The parts of a line to be drawn: (column, text, Style), without blanks, or with single ones within."""
    found = []
    for column, (char, style) in enumerate(line):
        if char == "" and found:
            continue
        if found and found[-1][2] == style and found[-1][0] + len(found[-1][1]) == column:
            found[-1][1] += char
        else:
            found.append([column, char, style])
    for column, text, style in found:
        for match in re.finditer(r"[─]+|[│╷╵]|[^\s─│╷╵]+(?: [^\s─│╷╵]+)*", text):
            yield column + match.start(), match[0], style


class Drawing:
    """The parts of a picture: rows that are drawn more than once are defined once."""

    def __init__(self):
        self.styles, self.rows, self.uses = {}, {}, {}

    def style_class(self, style):
        if style == Style():
            return ""
        return f' class="{self.styles.setdefault(style, "s" + str(len(self.styles)))}"'

    def box(self, x, text, style):
        left, up, right, down = BOX[text[0]]
        middle, half = x + ADVANCE / 2, LINE / 2
        colour = COLOURS.get(style.colour, TEXT)
        if left:
            path = f"M{number(x)} {half}h{number(ADVANCE * len(text))}"
        else:
            path = f"M{number(middle)} {0 if up else half}V{LINE if down else half}"
        return f'<path d="{path}" stroke="{colour}"/>'

    def row(self, line):
        """The elements of a line at the origin."""
        parts = []
        for column, text, style in runs(line):
            x = column * ADVANCE
            if text[0] in BOX:
                parts.append(self.box(x, text, style))
                continue
            width = f' textLength="{number(len(text) * ADVANCE)}"' if len(text) > 1 else ""
            parts.append(f'<text x="{number(x)}" y="13"{width}{self.style_class(style)}>{html.escape(text, quote=False)}</text>')
        return "".join(parts)

    def place(self, line, x, y):
        """The elements of a line at a place; `finish` decides whether they are there or refer to a definition."""
        row = self.row(line)
        if not row:
            return ""
        self.uses[row] = self.uses.get(row, 0) + 1
        self.rows.setdefault(row, len(self.rows))
        return f"\0{self.rows[row]} {number(x)} {number(y)}\0"

    def finish(self, body):
        """(definitions, body) with the rows in it."""
        by_index = {index: row for row, index in self.rows.items()}
        shared = {index: row for index, row in by_index.items() if self.uses[row] > 1}
        definitions = "".join(f'<g id="r{index}">{row}</g>\n' for index, row in shared.items())

        def drawn(match):
            index, x, y = match[1].split(" ")
            place = ("" if x == "0" else f' x="{x}"') + ("" if y == "0" else f' y="{y}"')
            if int(index) in shared:
                return f'<use href="#r{index}"{place}/>\n'
            at = "" if (x, y) == ("0", "0") else f' transform="translate({x} {y})"'
            return f"<g{at}>{by_index[int(index)]}</g>\n"

        return definitions, re.sub("\0([^\0]*)\0", drawn, body)

    def css(self):
        rules = [f"text{{font:{FONT}px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace;fill:{TEXT}}}"]
        for style, name in self.styles.items():
            properties = []
            if style.colour:
                properties.append(f"fill:{COLOURS[style.colour]}")
            if style.bold:
                properties.append("font-weight:700")
            if style.dim:
                properties.append("opacity:.7")
            if style.underline:
                properties.append("text-decoration:underline")
            rules.append(f".{name}{{{';'.join(properties)}}}")
        return "".join(rule + "\n" for rule in rules)


def page(columns, rows, title, description, css, definitions, body):
    """The whole file."""
    width, height = round(columns * ADVANCE + 2 * PADDING), BAR + rows * LINE + PADDING
    dots = "".join(f'<circle cx="{x}" cy="16" r="5" fill="{DOT}"/>' for x in (20, 38, 56))
    return f"""<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" aria-labelledby="title description">
<title id="title">{html.escape(title, quote=False)}</title>
<desc id="description">{html.escape(description, quote=False)}</desc>
<style>
{css}</style>
<defs>
<clipPath id="screen"><rect width="{number(columns * ADVANCE + PADDING - 2)}" height="{rows * LINE}"/></clipPath>
{definitions}</defs>
<rect x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="8" fill="{PANEL}" stroke="{BORDER}"/>
{dots}
<g transform="translate({PADDING} {BAR})"><g clip-path="url(#screen)">
{body}</g></g>
</svg>
"""


def still(frame, columns, title, description):
    """A picture of all lines of a frame."""
    drawing = Drawing()
    lines = list(frame.lines)
    while lines and not "".join(char for char, _ in lines[-1]).strip():
        lines.pop()
    body = "".join(drawing.place(line, 0, row * LINE) for row, line in enumerate(lines))
    definitions, body = drawing.finish(body)
    return page(columns, len(lines), title, description, drawing.css(), definitions, body)


def same_start(lines, last):
    """How many lines at the start are as at the end."""
    count = 0
    while count < min(len(lines), len(last)) and lines[count] == last[count]:
        count += 1
    return count


def keyframes(name, values, times, length):
    """An animation that jumps between values."""
    steps, previous = [], None
    for value, at in zip(values, times):
        if value != previous:
            steps.append(f"{number(100 * at / length)}%{{transform:translate({value[0]}px,{value[1]}px)}}")
            previous = value
    return f"@keyframes {name}{{{''.join(steps)}}}\n"


def animation(frames, columns, rows, hold, telling, title, description):
    """A picture that plays all frames, then shows the last for `hold` seconds. `telling`: the frame for readers who asked for no motion."""
    drawing = Drawing()
    last = frames[-1].lines
    times = [frame.time - frames[0].time for frame in frames]
    length = times[-1] + hold
    width = round(columns * ADVANCE + 2 * PADDING)
    log = "".join(drawing.place(line, 0, row * LINE) for row, line in enumerate(last))
    strip, places, tops, slots = [], [], [], {}
    for frame in frames:
        first = same_start(frame.lines, last)
        # What is above the screen is not seen any more.
        first = max(first, len(frame.lines) - rows)
        tail, cursor = frame.lines[first:], frame.cursor and (frame.cursor[0] - first, frame.cursor[1])
        slot = slots.setdefault((tail, cursor), len(slots))
        if slot == len(strip):
            parts = [drawing.place(line, slot * width, row * LINE) for row, line in enumerate(tail)]
            if cursor:
                x, y = slot * width + cursor[1] * ADVANCE, cursor[0] * LINE
                parts.append(f'<rect x="{number(x)}" y="{y}" width="8" height="16" fill="{TEXT}"/>\n')
            strip.append("".join(parts))
        places.append((-slot * width, first * LINE))
        tops.append((0, -max(0, len(frame.lines) - rows) * LINE))
    css = drawing.css() + keyframes("scroll", tops, times, length) + keyframes("play", places, times, length)
    css += f".log,.strip{{animation:{number(length)}s step-end infinite}}\n.log{{animation-name:scroll}}.strip{{animation-name:play}}\n"
    css += "@media (prefers-reduced-motion:reduce){.log,.strip{animation:none}}\n"
    cover = f'<rect width="{len(strip) * width}" height="{rows * LINE + LINE}" fill="{PANEL}"/>'
    still_log, still_strip = (f"translate({x} {y})" for x, y in (tops[telling], places[telling]))
    body = f"""<g class="log" transform="{still_log}">
{log}<g class="strip" transform="{still_strip}">
{cover}
{"".join(strip)}</g></g>
"""
    definitions, body = drawing.finish(body)
    return page(columns, rows, title, description, css, definitions, body)
