// Uses pages of `show -html` as people do, in Chromium without a network. mod.rs makes the pages and starts it:
//
//   node page.mjs PLAYWRIGHT CHROMIUM FOLDER [TEST]
//
// FOLDER has plan.html, state.html and terraform.tfstate, from main.tf. TEST is a part of the names of the tests to run.
// Prints a line for each test, and exits with 1 if one fails.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [playwright, chromium, folder, only = ""] = process.argv.slice(2);
const [plan, state] = ["plan.html", "state.html"].map((name) => join(folder, name));
const browser = await createRequire(import.meta.url)(playwright).chromium.launch({ executablePath: chromium, args: ["--no-sandbox"] });
const DESK = { viewport: { width: 1200, height: 900 } };
const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
const HOSTILE = ["<script>hostile=1</script>", '\\"><img src=x onerror=hostile=1>'];
const failures = [];

// Runs a test with a fresh page, which must load nothing but its file, report nothing, and run no foreign script.
const test = async (name, run, { file = plan, ...options } = {}) => {
  if (!name.includes(only)) return;
  const context = await browser.newContext({ ...DESK, offline: true, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  const requests = [], reports = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("console", (message) => reports.push(message.text()));
  page.on("pageerror", (error) => reports.push(error.message));
  const url = pathToFileURL(file).href;
  try {
    await page.goto(url);
    await run(page);
    assert.deepEqual(requests, [url]);
    assert.deepEqual(reports, []);
    if (options.javaScriptEnabled !== false) assert.equal(await page.evaluate(() => typeof hostile), "undefined");
    console.log(`ok ${name}`);
  } catch (error) {
    failures.push(name);
    console.log(`FAILED ${name}\n${error.stack}`);
  }
  await context.close();
};

const status = (page) => page.locator("#status");
const changes = (page) => page.locator("#list > li");
/** Waits until a locator has a text that matches. */
const until = async (locator, pattern) => {
  const end = Date.now() + 5_000;
  while (!pattern.test(await locator.textContent())) {
    if (Date.now() > end) assert.match(await locator.textContent(), pattern);
    await new Promise((done) => setTimeout(done, 20));
  }
};
const openGraph = async (page, view) => {
  await page.locator("#graph > summary").click();
  if (view) await page.locator("#views").selectOption({ label: view });
};
const graphTitle = (page, title) => until(page.locator("#graph-status"), new RegExp(`^${title}: `));

await test("the summary and the most dangerous changes come first", async (page) => {
  assert.equal(await page.title(), `Plan: ${await page.locator(".headline").textContent()}`);
  await until(status(page), /^\d+ changes, the most dangerous first\.$/);
  assert.match(await changes(page).first().textContent(), /^- destroy null_resource\.keyed\["gone"\] because /);
  assert.match(await changes(page).nth(1).textContent(), /^-\/\+ replace .* because triggers changes, main\.tf:\d+/);
  assert.equal(await page.locator(".summary td.delete").first().textContent(), "1");
  assert.match(await page.locator(".notes").textContent(), /check\.version failed\. Too new: two/);
});

await test("search finds addresses, reasons and values, and marks them", async (page) => {
  const search = page.locator("#search");
  await search.fill("NEEDLE-two");
  await until(status(page), /^1 of \d+ changes shown\.$/);
  await until(changes(page), /null_resource\.text .*\(found in "script"\)$/);
  await changes(page).locator("summary").click();
  await page.locator(".diff").waitFor();
  assert.equal(await page.evaluate(() => [...CSS.highlights.get("hit")].join()), "needle-two");
  await search.fill("is not in for_each");
  await until(status(page), /^1 of /);
  await search.fill("no such text");
  await until(status(page), /^0 of /);
  assert.equal(await changes(page).count(), 0);
  await search.fill("");
  await until(status(page), /^\d+ changes, /);
  assert.equal(await page.evaluate(() => CSS.highlights.get("hit").size), 0);
});

await test("filters show actions and modules", async (page) => {
  const create = page.getByRole("checkbox", { name: "+ create (" });
  await create.uncheck();
  await until(status(page), /^\d+ of \d+ changes shown\.$/);
  assert.equal(await changes(page).locator("details.create").count(), 0);
  assert.equal(await changes(page).locator("details.delete").count(), 1);
  await page.locator("#module").selectOption({ label: "module.net (1)" });
  await until(status(page), /^1 of /);
  assert.match(await changes(page).textContent(), /module\.net\.null_resource\.router/);
  await page.getByRole("button", { name: "Reset" }).click();
  await until(status(page), /^\d+ changes, /);
  assert.ok(await create.isChecked());
});

await test("long lists are drawn as they are read", async (page) => {
  const all = Number((await status(page).textContent()).split(" ")[0]);
  assert.ok(all > 150 && (await changes(page).count()) === 150);
  await page.locator("#more").scrollIntoViewIfNeeded();
  await until(status(page), /./);
  await page.waitForFunction((all) => document.querySelectorAll("#list > li").length === all, all);
  assert.ok(await page.locator("#more").isHidden());
});

await test("changes open and close", async (page) => {
  const text = page.locator("#list details.replace", { hasText: "null_resource.text" });
  await text.locator("summary").click();
  assert.deepEqual(await text.locator("thead th").allTextContents(), ["Change", "Attribute", "Before", "After"]);
  assert.match(await text.locator(".forces").textContent(), /forces replacement/);
  const line = text.locator("tr.u.line");
  assert.deepEqual(await line.locator(".part").allTextContents(), ["one", "two"]);
  assert.match(await line.locator(".before").textContent(), /needle-one/);
  // What is destroyed has no second column.
  await changes(page).first().locator("summary").click();
  assert.deepEqual(await changes(page).first().locator("thead th").allTextContents(), ["Change", "Attribute", "Before"]);
  await text.locator("summary").click();
  assert.ok(await text.locator(".diff").isHidden());
  await page.getByRole("button", { name: "Open all shown" }).click();
  assert.equal(await page.locator("#list details:not([open])").count(), 0);
  await page.getByRole("button", { name: "Close all" }).click();
  assert.equal(await page.locator("#list details[open]").count(), 0);
});

await test("dependencies lead to other changes", async (page) => {
  const text = page.locator("#list details.replace", { hasText: "null_resource.text" });
  await text.locator("summary").click();
  await text.getByRole("button", { name: "null_resource.keyed" }).click();
  await until(status(page), /^\d+ of \d+ changes shown of the block null_resource\.keyed\.$/);
  for (const address of await changes(page).locator("summary code").allTextContents()) assert.match(address, /^null_resource\.keyed\[/);
});

await test("groups of the graph open on a click", async (page) => {
  await openGraph(page);
  await graphTitle(page, "All modules");
  assert.ok((await page.locator("#canvas .edge").count()) > 0);
  await page.locator("#views").selectOption({ label: "root module" });
  await page.locator("#canvas .node.group", { hasText: "module.net" }).click();
  await graphTitle(page, "module.net");
  await page.locator("#canvas .node.group", { hasText: "module.net.module.zone" }).click();
  await graphTitle(page, "module.net.module.zone");
  await page.locator("#crumbs button", { hasText: "root module" }).click();
  await graphTitle(page, "root module");
  await page.locator("#canvas .node", { hasText: "keyed" }).click();
  await until(status(page), /of the block null_resource\.keyed\.$/);
});

await test("the graph moves and zooms", async (page) => {
  await openGraph(page);
  const box = () => page.locator("#canvas svg").getAttribute("viewBox");
  await page.locator("#zoom-fit").click();
  const whole = await box();
  const steps = [
    () => page.getByRole("button", { name: "Zoom in" }).click(),
    () => page.locator("#canvas").focus().then(() => page.keyboard.press("ArrowRight")),
    () => page.keyboard.press("-"),
    async () => {
      const { x, y } = await page.locator("#canvas").boundingBox();
      await page.mouse.move(x + 3, y + 3);
      await page.mouse.down();
      await page.mouse.move(x + 60, y + 40);
      await page.mouse.up();
    },
  ];
  for (const step of steps) {
    const before = await box();
    await step();
    assert.notEqual(await box(), before);
  }
  await page.keyboard.press("0");
  assert.equal(await box(), whole);
});

await test("everything works with the keyboard", async (page) => {
  const focused = () => page.evaluate(() => document.activeElement.textContent || document.activeElement.id);
  await page.keyboard.press("Tab");
  assert.equal(await focused(), "Skip to the changes");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  assert.equal(await focused(), "search");
  await page.keyboard.type("keyed");
  await until(status(page), /^\d+ of /);
  const first = changes(page).first().locator("summary");
  for (let i = 0; i < 40 && !(await first.evaluate((own) => own === document.activeElement)); i += 1) await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await changes(page).first().locator(".diff").waitFor();
  await page.keyboard.press("ArrowDown");
  assert.equal(await focused(), await changes(page).nth(1).locator("summary").textContent());
  await page.keyboard.press("ArrowUp");
  assert.equal(await focused(), await first.textContent());

  await page.locator("#graph > summary").focus();
  await page.keyboard.press("Enter");
  await page.locator("#views").selectOption({ label: "root module" });
  const group = page.locator("#canvas .node.group", { hasText: "module.net" });
  assert.match(await group.getAttribute("aria-label"), /^module\.net 2 blocks, replace .*\. Opens\./);
  await group.focus();
  assert.ok((await page.locator("#canvas .edge.hot").count()) > 0);
  await page.keyboard.press("Enter");
  await graphTitle(page, "module.net");
  assert.ok(await page.evaluate(() => document.activeElement.matches("#canvas .node")));
});

await test("hostile names are only texts", async (page) => {
  const elements = () => page.evaluate(() => document.querySelectorAll("script, img, iframe").length);
  assert.equal(await elements(), 2);
  await page.getByRole("button", { name: "Open all shown" }).click();
  await openGraph(page);
  assert.equal(await elements(), 2);
  const shown = await page.locator("#list").textContent();
  for (const name of HOSTILE) assert.ok(shown.includes(`null_resource.keyed["${name}"]`), name);
  await page.locator("#search").fill(`[\"${HOSTILE[0]}`);
  await until(status(page), /^1 of /);
});

// The test of a page with everything open: what the file has, and what is drawn.
const hasNoSecrets = (file) => async (page) => {
  const { resources } = JSON.parse(readFileSync(join(folder, "terraform.tfstate")));
  const generated = resources.find(({ type }) => type === "random_password").instances[0].attributes;
  await page.getByRole("button", { name: "Open all shown" }).click();
  const texts = [readFileSync(file, "utf8"), await page.locator("body").innerText()];
  for (const secret of ["hunter2", generated.result, generated.bcrypt_hash]) {
    for (const text of texts) assert.ok(secret && !text.includes(secret), secret);
  }
  assert.ok(texts[1].includes("(sensitive value)"));
};
await test("plans show no secrets", hasNoSecrets(plan));
await test("states show no secrets", hasNoSecrets(state), { file: state });

// The least contrast between a text and what is behind it, as WCAG 2 defines it, and the text.
const leastContrast = () => {
  const color = (text) => text.match(/[\d.]+/g)?.map(Number);
  const luminance = (rgb) => {
    const [r, g, b] = rgb.slice(0, 3).map((part) => (part /= 255) <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    const node = element.closest("svg .node");
    if (node) return color(getComputedStyle(node.querySelector("rect")).fill);
    for (let at = element; at; at = at.parentElement) {
      const own = color(getComputedStyle(at).backgroundColor);
      if (own && own[3] !== 0) return own;
    }
    return [255, 255, 255];
  };
  let least = [21, ""];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || element.closest("script, style, noscript, title")) continue;
    const style = getComputedStyle(element);
    const pair = [color(element.closest("svg") ? style.fill : style.color), behind(element)].map(luminance);
    const contrast = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
    if (contrast < least[0]) least = [contrast, walker.currentNode.data];
  }
  return least;
};

for (const colorScheme of ["light", "dark"]) {
  const readable = async (page) => {
    await page.getByRole("button", { name: "Open all shown" }).click();
    await openGraph(page);
    await page.locator("#canvas .node").first().waitFor();
    const [contrast, text] = await page.evaluate(leastContrast);
    assert.ok(contrast >= 4.5, `${contrast.toFixed(2)}: ${text}`);
    const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.equal(background, colorScheme === "dark" ? "rgb(13, 17, 23)" : "rgb(255, 255, 255)");
  };
  await test(`texts are readable in ${colorScheme} mode`, readable, { colorScheme });
}

await test("phones show everything without scrolling to the side", async (page) => {
  const fits = () => page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.deepEqual(await fits(), [390, 390]);
  const cut = await page.evaluate(() => [...document.querySelectorAll(".summary td, .summary th")].filter((cell) => cell.getBoundingClientRect().right > innerWidth).length);
  assert.equal(cut, 0);
  assert.ok(await page.locator(".summary td.delete").first().isVisible());
  await page.getByRole("button", { name: "Open all shown" }).tap();
  await page.locator("#graph > summary").tap();
  await page.locator("#canvas .node").first().waitFor();
  assert.deepEqual(await fits(), [390, 390]);
  const group = page.locator("#views");
  await group.selectOption({ label: "root module" });
  await page.locator("#canvas .node.group").first().tap();
  await graphTitle(page, "module.net");
}, PHONE);

await test("paper has the whole list and the whole summary", async (page) => {
  await page.setViewportSize({ width: 718, height: 1000 });
  await page.emulateMedia({ media: "print" });
  assert.ok(await page.locator("#filters").isHidden());
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  assert.equal(await page.locator(".scroll").evaluate((table) => getComputedStyle(table).overflow), "visible");
  await page.pdf();
  assert.equal(`${await changes(page).count()}`, (await status(page).textContent()).split(" ")[0]);
});

await test("the summary needs no script", async (page) => {
  assert.ok(await page.locator(".summary").isVisible());
  assert.match(await page.locator("noscript").innerText(), /need JavaScript/);
  for (const part of ["#filters", "#tools", "#graph-section"]) assert.ok(await page.locator(part).isHidden(), part);
}, { javaScriptEnabled: false });

await test("states have objects in place of changes", async (page) => {
  await until(status(page), /^\d+ objects\.$/);
  assert.ok(await page.locator("#effects").isHidden());
  await page.locator("#search").fill("needle-one");
  await until(status(page), /^1 of \d+ objects shown\.$/);
  await changes(page).locator("summary").click();
  assert.deepEqual(await changes(page).locator("thead th").allTextContents(), ["Change", "Attribute", "Value"]);
  await openGraph(page);
  await page.locator("#canvas .node").first().waitFor();
}, { file: state });

await browser.close();
if (failures.length) {
  console.log(`failed: ${failures.join(", ")}`);
  process.exit(1);
}
