"""A program in a pseudo terminal of a fixed size, and what the terminal shows from moment to moment.

Interprets what Terrane writes: colours, cursor movements, erased lines and screens, synchronised updates. Owns no files.
"""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
import unicodedata
from typing import NamedTuple

# Frames that follow each other sooner are one frame: a reader would not see the first.
SHORTEST = 0.06

ESCAPE = re.compile(r"\x1b\[([?0-9;]*)([@-~])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[=>()78][0B]?")


class Style(NamedTuple):
    colour: int | None = None
    bold: bool = False
    dim: bool = False
    underline: bool = False


class Frame(NamedTuple):
    """`lines` are all lines since the start, also those that have left the screen: tuples of (character, Style)."""

    time: float
    lines: tuple
    # (line, column) if the terminal waits for a key.
    cursor: tuple | None


class Terminal:
    """A screen of so many columns and rows, and the lines that have left it."""

    def __init__(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.lines, self.row, self.column = [[]], 0, 0
        self.style, self.wraps, self.is_held, self.rest = Style(), True, False, ""

    @property
    def top(self):
        """The first line on the screen."""
        return max(0, len(self.lines) - self.rows)

    def feed(self, text):
        text, at = self.rest + text, 0
        self.rest = ""
        while at < len(text):
            if text[at] == "\x1b":
                match = ESCAPE.match(text, at)
                if not match:
                    self.rest = text[at:]
                    break
                if match[2]:
                    self.control(match[1], match[2])
                at = match.end()
                continue
            self.put(text[at])
            at += 1

    def put(self, char):
        if char == "\r":
            self.column = 0
        elif char == "\b":
            self.column = max(0, self.column - 1)
        elif char == "\n":
            self.down()
        elif char == "\t":
            self.column = min(self.columns - 1, self.column // 8 * 8 + 8)
        elif char >= " ":
            wide = 2 if unicodedata.east_asian_width(char) in "WF" else 1
            if self.column + wide > self.columns:
                if not self.wraps:
                    return
                self.column = 0
                self.down()
            self.write([(char, self.style)] + [("", self.style)] * (wide - 1))

    def write(self, cells):
        line = self.lines[self.row]
        line.extend([(" ", Style())] * (self.column - len(line)))
        line[self.column : self.column + len(cells)] = cells
        self.column += len(cells)

    def down(self):
        self.row += 1
        if self.row == len(self.lines):
            self.lines.append([])

    def control(self, parameters, final):
        numbers = [int(number or 0) for number in parameters.lstrip("?").split(";")]
        first = max(1, numbers[0])
        if final == "m":
            for number in numbers:
                self.set_style(number)
        elif final == "A":
            self.row = max(self.top, self.row - first)
        elif final == "B":
            self.row = min(self.top + self.rows - 1, self.row + first)
            self.lines.extend([] for _ in range(self.row + 1 - len(self.lines)))
        elif final == "C":
            self.column = min(self.columns - 1, self.column + first)
        elif final == "D":
            self.column = max(0, self.column - first)
        elif final == "G":
            self.column = first - 1
        elif final in "JK":
            if numbers[0] == 2:
                self.lines[self.row] = []
            else:
                del self.lines[self.row][self.column :]
            if final == "J":
                # Lines below stay empty, as on a screen; `frame` leaves them out.
                for row in range(self.row + 1, len(self.lines)):
                    self.lines[row] = []
        elif final in "hl" and parameters == "?7":
            self.wraps = final == "h"
        elif final in "hl" and parameters == "?2026":
            self.is_held = final == "h"
        elif final not in "hl":
            raise ValueError(f"the terminal does not know ESC [ {parameters} {final}")

    def set_style(self, number):
        style = self.style
        changes = {
            1: style._replace(bold=True),
            2: style._replace(dim=True),
            4: style._replace(underline=True),
            22: style._replace(bold=False, dim=False),
            24: style._replace(underline=False),
            39: style._replace(colour=None),
        }
        if number == 0:
            self.style = Style()
        elif 30 <= number <= 37 or 90 <= number <= 97:
            self.style = style._replace(colour=number)
        elif number in changes:
            self.style = changes[number]
        else:
            raise ValueError(f"the terminal does not know the colour {number}")

    def frame(self, now, has_cursor=False):
        lines = [tuple(line) for line in self.lines]
        while len(lines) > self.row + 1 and not lines[-1]:
            lines.pop()
        return Frame(now, tuple(lines), (self.row, self.column) if has_cursor else None)


class Recording:
    """The frames of a shell in which commands are typed."""

    def __init__(self, columns, rows):
        self.terminal = Terminal(columns, rows)
        self.frames, self.began = [], time.monotonic()

    def keep(self, has_cursor=False):
        """Adds what is on the screen, unless it is there already."""
        frame = self.terminal.frame(time.monotonic() - self.began, has_cursor)
        if self.frames and self.frames[-1][1:] == frame[1:]:
            return
        if len(self.frames) > 1 and frame.time - self.frames[-1].time < SHORTEST:
            frame = frame._replace(time=self.frames.pop().time)
        self.frames.append(frame)

    def wait(self, seconds):
        time.sleep(seconds)

    def prompt(self):
        self.terminal.feed("\x1b[32m$\x1b[0m ")
        self.keep(has_cursor=True)

    def type(self, text, pace=0.045):
        """A command line, which no program reads."""
        for char in text:
            self.wait(pace)
            self.terminal.feed(char)
            self.keep(has_cursor=True)
        self.wait(0.3)
        self.terminal.feed("\r\n")

    def run(self, command, folder, environment, answers=()):
        """Runs a program to its end. Each of `answers` is (text of the screen's last line, seconds to read, what is typed)."""
        process, master = pty.fork()
        if process == 0:
            try:
                os.chdir(folder)
                signal.pthread_sigmask(signal.SIG_SETMASK, ())
                # The size is there before the program asks for it.
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", self.terminal.rows, self.terminal.columns, 0, 0))
                os.execve(command[0], command, environment)
            finally:
                os._exit(127)
        answers = list(answers)
        try:
            while data := self.read(master):
                self.terminal.feed(data.decode())
                # A question ends without a line.
                asks = answers and self.last_line().endswith(answers[0][0])
                if not self.terminal.is_held:
                    self.keep(has_cursor=asks)
                if asks:
                    self.answer(master, *answers.pop(0)[1:])
        finally:
            os.close(master)
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])

    def read(self, master):
        """What the program has written; nothing: it has ended. Only whole characters."""
        data = b""
        while True:
            try:
                data += os.read(master, 65536)
            except OSError:
                return data
            if not data:
                return data
            try:
                data.decode()
            except UnicodeDecodeError:
                select.select([master], [], [])
                continue
            return data

    def answer(self, master, reading, text):
        self.wait(reading)
        for char in text:
            os.write(master, char.encode())
            # The terminal shows what is typed.
            self.terminal.feed(os.read(master, 64).decode())
            self.keep(has_cursor=True)
            self.wait(0.14)
        os.write(master, b"\n")

    def last_line(self):
        return "".join(char for char, _ in self.terminal.lines[self.terminal.row]).strip()

    def text(self):
        """All that was shown, to look for what no picture should have."""
        return "\n".join("".join(char for char, _ in line) for frame in self.frames for line in frame.lines)
