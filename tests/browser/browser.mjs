// Reads one JSON object from standard input, does what its "do" says in headless Chromium, and
// writes what it saw as JSON. argv: the folder with node_modules, Chromium, a folder for its state.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const [tools, chromium, state] = process.argv.slice(2);
const require = createRequire(tools + "/");
const { chromium: driver } = require("playwright-core");
const asked = JSON.parse(readFileSync(0, "utf8"));
const context = await driver.launchPersistentContext(state, {
  executablePath: chromium,
  headless: true,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync"],
  viewport: asked.viewport || { width: 1280, height: 800 },
  colorScheme: asked.scheme || "light",
});
const page = await context.newPage();
const seen = { errors: [], requests: [], dialogs: 0 };
page.on("console", (message) => ["error", "warning"].includes(message.type()) && seen.errors.push(message.text()));
page.on("pageerror", (error) => seen.errors.push(String(error)));
page.on("request", (request) => seen.requests.push(request.url()));
page.on("dialog", (dialog) => { seen.dialogs += 1; dialog.dismiss(); });

const texts = (selector) => page.$$eval(selector, (found) => found.map((one) => one.textContent));
const details = async () => ({
  title: (await texts("#details h2"))[0] ?? null,
  text: await page.innerText("#details"),
  up: (await texts(".node.up title")).sort(),
  down: (await texts(".node.down title")).sort(),
  hash: await page.evaluate(() => location.hash),
  status: await page.textContent("#status"),
  focused: await page.evaluate(() => document.activeElement?.querySelector?.(":scope > title")?.textContent ?? document.activeElement?.id),
});

const steps = {
  details,
  titles: () => texts(".node title"),
  labels: () => texts(".node"),
  results: async () => (await page.isVisible("#results") ? texts("#results li") : []),
  press: (key) => page.keyboard.press(key),
  type: (text) => page.keyboard.type(text),
  click: (title) => page.evaluate((wanted) => {
    const found = [...document.querySelectorAll(".node title")].find((one) => one.textContent === wanted);
    found.parentNode.querySelector(".shape").dispatchEvent(new MouseEvent("click", { bubbles: true }));
  }, title),
  clickAt: async (title) => {
    const box = await page.evaluate((wanted) => {
      const found = [...document.querySelectorAll(".node title")].find((one) => one.textContent === wanted);
      const { x, y, width, height } = found.parentNode.querySelector(".shape").getBoundingClientRect();
      return { x: x + width / 2, y: y + height / 2 };
    }, title);
    await page.mouse.click(box.x, box.y);
  },
  drag: async ([dx, dy]) => {
    await page.mouse.move(500, 600);
    await page.mouse.down();
    await page.mouse.move(500 + dx, 600 + dy, { steps: 3 });
    await page.mouse.up();
  },
  wheel: async (delta) => { await page.mouse.move(400, 400); await page.mouse.wheel(0, delta); await page.waitForTimeout(100); },
  view: () => page.getAttribute("#drawing", "viewBox"),
  open: (url) => page.goto(url),
  hash: (hash) => page.evaluate((wanted) => { location.hash = wanted; }, hash),
  reload: () => page.reload(),
  screenshot: (path) => page.screenshot({ path }),
  pdf: (path) => page.pdf({ path }),
  evaluate: (code) => page.evaluate(code),
  axe: async () => {
    await page.evaluate(readFileSync(require.resolve("axe-core/axe.min.js"), "utf8"));
    const found = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
    return found.violations.map((one) => `${one.id}: ${one.nodes[0].html.slice(0, 200)} (${one.nodes.length})`);
  },
  mermaid: async (charts) => {
    await page.goto("about:blank");
    await page.addScriptTag({ path: require.resolve("mermaid/dist/mermaid.min.js") });
    return page.evaluate(async (given) => {
      mermaid.initialize({ startOnLoad: false, securityLevel: "strict" });
      const rendered = [];
      for (const [at, chart] of given.entries()) {
        await mermaid.parse(chart);
        const { svg } = await mermaid.render("chart" + at, chart);
        const holder = document.createElement("div");
        holder.innerHTML = svg;
        rendered.push([...holder.querySelectorAll(".node .nodeLabel, .cluster .nodeLabel")].map((one) => one.textContent));
      }
      return rendered;
    }, charts);
  },
};

const results = [];
if (asked.page) await page.goto(asked.page);
for (const [name, argument] of asked.do) {
  const found = await steps[name](argument);
  if (found !== undefined && found !== null && !["open", "reload", "screenshot", "pdf"].includes(name)) results.push(found);
}
await context.close();
process.stdout.write(JSON.stringify({ results, ...seen }));
