"""The pictures of the documentation load nothing, are small, and are what the script draws."""

import pathlib
import re
import sys
import unittest
import xml.etree.ElementTree

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parents[2]
PICTURES = HERE / "docs/pictures"
sys.path.insert(0, str(PICTURES))

import drawing
import terminal


def text(frame):
    return ["".join(char for char, _ in line) for line in frame.lines]


class Files(unittest.TestCase):
    def test_the_first_page_begins_with_the_moving_picture(self):
        paragraphs = (HERE / "README.md").read_text(encoding="utf-8").split("\n\n")
        self.assertRegex(paragraphs[2], r"^!\[[^\]]{80,}\]\(docs/pictures/apply\.svg\)$")

    def test_all_pictures_are_shown_and_have_a_text(self):
        pages = [HERE / "README.md", *(HERE / "docs").rglob("*.md")]
        shown = [match for page in pages for match in re.findall(r"!\[([^\]]*)\]\([^)]*pictures/([^)]+)\)", page.read_text(encoding="utf-8"))]
        files = {path.name for path in PICTURES.iterdir() if path.suffix in (".svg", ".png")}
        self.assertEqual({name for _, name in shown}, files)
        self.assertEqual([name for words, name in shown if len(words) < 80], [])

    def test_pictures_are_small(self):
        for path in PICTURES.iterdir():
            self.assertLess(path.stat().st_size, 200_000 if path.suffix == ".png" else 150_000, path)

    def test_drawings_load_nothing_and_are_described(self):
        for path in PICTURES.glob("*.svg"):
            content = path.read_text(encoding="utf-8")
            root = xml.etree.ElementTree.fromstring(content)
            names = {element.tag.rpartition("}")[2] for element in root.iter()}
            self.assertEqual(names & {"script", "image", "foreignObject", "a"}, set(), path)
            self.assertEqual(re.findall(r"url\((?!#)|href=\"(?!#)|@import", content), [], path)
            self.assertEqual(root.get("role"), "img", path)
            self.assertLessEqual({"title", "desc"}, names, path)

    def test_motion_ends_for_readers_who_want_none(self):
        content = (PICTURES / "apply.svg").read_text(encoding="utf-8")
        self.assertIn("@media (prefers-reduced-motion:reduce){.log,.strip{animation:none}}", content)
        seconds = float(re.search(r"animation:([\d.]+)s", content)[1])
        self.assertLess(seconds, 20)


class Terminal(unittest.TestCase):
    def shown(self, data, columns=10, rows=4):
        screen = terminal.Terminal(columns, rows)
        screen.feed(data)
        return screen

    def test_an_area_that_goes_leaves_nothing(self):
        area = "\x1b[?2026h\x1b[?7lone\r\ntwo\x1b[1A\r\x1b[?7h\x1b[?2026l"
        self.assertEqual(text(self.shown("log\r\n" + area).frame(0)), ["log", "one", "two"])
        self.assertEqual(text(self.shown("log\r\n" + area + "\r\x1b[Jmore\r\n").frame(0)), ["log", "more", ""])

    def test_lines_are_broken_or_cut(self):
        self.assertEqual(text(self.shown("0123456789ab").frame(0)), ["0123456789", "ab"])
        self.assertEqual(text(self.shown("\x1b[?7l0123456789ab").frame(0)), ["0123456789"])

    def test_codes_may_come_in_two_parts(self):
        screen = self.shown("\x1b[3")
        screen.feed("1mred\x1b[0m \x1b]9;4;1;20\x1b\\plain")
        styles = [style.colour for _, style in screen.lines[0]]
        self.assertEqual(styles, [31] * 3 + [None] * 6)
        self.assertEqual(text(screen.frame(0)), ["red plain"])

    def test_what_it_does_not_know_is_an_error(self):
        self.assertRaises(ValueError, self.shown, "\x1b[2S")


class Drawing(unittest.TestCase):
    def frames(self):
        screen = terminal.Terminal(10, 3)
        made = []
        for number, data in enumerate(["a\r\nx", "\r\x1b[Jb\r\nx", "\r\x1b[Jc\r\nd<"]):
            screen.feed(data)
            made.append(screen.frame(float(number)))
        return made

    def test_texts_have_places_and_widths(self):
        picture = drawing.still(self.frames()[-1], 10, "A title", "A description")
        self.assertIn('<text x="0" y="13" textLength="16">d&lt;</text>', picture)
        self.assertIn(">A title</title>", picture)
        xml.etree.ElementTree.fromstring(picture)

    def test_the_log_scrolls_and_the_rest_is_drawn_over_it(self):
        picture = drawing.animation(self.frames(), 10, 3, 2, 1, "A title", "A description")
        xml.etree.ElementTree.fromstring(picture)
        # The fourth line moves the first off the screen.
        self.assertIn("@keyframes scroll{0%{transform:translate(0px,0px)}50%{transform:translate(0px,-17px)}}", picture)
        # The line of the area, which two frames have, is defined once.
        self.assertEqual(picture.count(">x</text>"), 1)


if __name__ == "__main__":
    unittest.main()
