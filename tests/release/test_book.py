"""The book has every page, and its links are checked."""

import importlib.machinery
import importlib.util
import pathlib
import re
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parents[2]
DOCS = HERE / "docs"


def load_script():
    """The script .ci/book as a module: its name has no ending that Python knows."""
    loader = importlib.machinery.SourceFileLoader("book", str(HERE / ".ci/book"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("book", loader))
    loader.exec_module(module)
    return module


book = load_script()


def settings():
    """The lines of docs/book.toml by section and name. They use a part of TOML only, so that any Python can read them."""
    found, section = {}, {}
    for line in (DOCS / "book.toml").read_text(encoding="utf-8").splitlines():
        if match := re.fullmatch(r"\[([\w.]+)\]", line):
            section = found.setdefault(match[1], {})
        elif match := re.fullmatch(r'"?([\w/.-]+)"? = (?:\[?"([^"]*)"\]?|(true|false|\d+))', line):
            section[match[1]] = match[2] or match[3]
        elif line and not line.startswith("#"):
            raise ValueError(f"docs/book.toml: {line}")
    return found


class Folder(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()

    def write(self, path, text=""):
        path = self.root / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path


class Sources(unittest.TestCase):
    def test_summary_has_every_page_once(self):
        listed = re.findall(r"\]\(([^)]+)\)", (DOCS / "SUMMARY.md").read_text(encoding="utf-8"))
        self.assertEqual(sorted(listed), sorted(set(listed)), "pages that are listed twice")
        pages = [path for path in book.pages(HERE) if path.suffix == ".md"]
        there = {path.relative_to(DOCS).as_posix() for path in pages} - {"SUMMARY.md"}
        self.assertEqual(there - set(listed), set(), "docs/SUMMARY.md lacks these pages")
        self.assertEqual(set(listed) - there, set(), "docs/SUMMARY.md has pages that do not exist")
        self.assertEqual(listed[0], "README.md")

    def test_settings_lead_to_this_repository(self):
        found = settings()
        self.assertEqual(found["book"]["src"], ".")
        self.assertEqual(found["build"]["build-dir"], "../target/book/html")
        address = book.project.repository()
        self.assertEqual(found["output.html"]["git-repository-url"], address)
        self.assertEqual(found["output.html"]["edit-url-template"], f"{address}/edit/main/docs/{{path}}")
        self.assertNotEqual(found["output.html.search"].get("enable"), "false")

    def test_folders_with_a_first_page_have_an_index(self):
        redirected = settings()["output.html.redirect"]
        folders = {path.parent.relative_to(DOCS).as_posix() for path in DOCS.rglob("README.md") if path.parent != DOCS}
        self.assertEqual(redirected, {f"/{folder}/index.html": "README.html" for folder in folders})


class Contributing(unittest.TestCase):
    def test_page_names_the_command_and_its_variables(self):
        page = (DOCS / "contributing.md").read_text(encoding="utf-8")
        variables = set(re.findall(r"TERRANE_\w+", (HERE / ".ci/book").read_text(encoding="utf-8")))
        self.assertEqual(variables, {"TERRANE_CI_CACHE"})
        for text in (".ci/book --check", *variables):
            self.assertIn(text, page)


class Copies(Folder):
    def copied(self, text):
        """A page of the copy that mdBook gets."""
        self.write("docs/book.toml")
        self.write("docs/one/page.md", text)
        book.copy_sources(self.root, self.root / "copy", "https://example.com/blob/v1")
        return (self.root / "copy/one/page.md").read_text(encoding="utf-8")

    def test_links_to_files_that_are_no_pages_lead_to_the_repository(self):
        for path in ["LICENSE", "src/main.rs", "docs/two.md", "docs/one/example/main.tf", "docs/images/a.svg"]:
            self.write(path)
        text = self.copied("[a](../../LICENSE), [`b`](../../src/main.rs#L1) [c](example/main.tf)\n[d](../two.md#x) ![](../images/a.svg)")
        address = "https://example.com/blob/v1"
        first = f"[a]({address}/LICENSE), [`b`]({address}/src/main.rs#L1) [c]({address}/docs/one/example/main.tf)"
        self.assertEqual(text, f"{first}\n[d](../two.md#x) ![](../images/a.svg)")
        copied = sorted(path.relative_to(self.root / "copy").as_posix() for path in (self.root / "copy").rglob("*.*"))
        self.assertEqual(copied, ["book.toml", "images/a.svg", "one/page.md", "two.md"])

    def test_code_and_other_addresses_stay(self):
        text = "`[a](x)` [b](https://example.com/x) [c](#d) <e@f>\n```text\n[g](x)\n```\n"
        self.assertEqual(self.copied(text), text)

    def test_links_to_nothing_are_errors(self):
        for target in ["two.md", "../../../etc/hosts", "../../LICENCE"]:
            with self.assertRaisesRegex(book.project.Failure, re.escape(f"docs/one/page.md: {target} is not in the repository")):
                self.copied(f"[a]({target})")

    def test_builds_of_the_example_and_former_copies_are_left_out(self):
        self.write("docs/sdk/todo/target/doc/page.md")
        self.write("copy/old.md")
        self.copied("")
        self.assertFalse((self.root / "copy/sdk").exists() or (self.root / "copy/old.md").exists())


class Links(Folder):
    def broken(self, **pages):
        """What is wrong with pages, by their names; each is in a folder `one` beside index.html."""
        self.write("index.html", '<h1 id="top">a</h1>')
        found = {f"one/{name}.html": book.Page(self.write(f"one/{name}.html", text)) for name, text in pages.items()}
        found["index.html"] = book.Page(self.root / "index.html")
        return list(book.broken_links(self.root, found))

    def test_good_links(self):
        text = '<p id="b c"><a href="#b%20c">1</a><a href="../index.html#top">2</a><a href="https://example.com">3</a><img src="a.svg">'
        self.write("one/a.svg")
        self.assertEqual(self.broken(a=text), [])

    def test_files_and_names_that_do_not_exist(self):
        found = self.broken(a='<a href="#b"></a><a href="../index.html#c"></a><img src="a.svg"><a href="../../d"></a>')
        self.assertEqual(
            found,
            [
                "one/a.html: one/a.html has no b",
                "one/a.html: ../../d does not exist",
                "one/a.html: index.html has no c",
                "one/a.html: a.svg does not exist",
            ],
        )

    def test_nothing_is_loaded_from_other_sites(self):
        found = self.broken(a='<script src="https://example.com/a.js"></script><link rel="stylesheet" href="//example.com/a.css">')
        self.assertEqual(found, ["one/a.html: loads //example.com/a.css", "one/a.html: loads https://example.com/a.js"])

    def test_pages_of_the_search(self):
        self.write("searchindex-1.js", """JSON.parse('{"doc_urls":["a.html#b","a.html#c","d/e.html"],"index":{}}')""")
        self.assertEqual(book.searchable(self.root), {"a.html", "d/e.html"})


if __name__ == "__main__":
    unittest.main()
