// The dashboard in a real browser, on a cluster that loses a member while somebody watches.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, before, describe, test } from "node:test";
import type { Browser } from "playwright-core";
import { bundlePlugin } from "../../lab/images/bundle.ts";
import { createCluster, type TestCluster } from "./support/cluster.ts";
import { openWindow, type Running, startBrowser, startDashboard, type Window } from "./support/dashboard.ts";
import { deletePods } from "./support/disruptions.ts";
import { installOperator } from "./support/operator.ts";

/** Where pictures are left, for people to view. */
const pictures = process.env["DASHBOARD_PICTURES"] || undefined;

// The types of this tree know no document: what runs in the browser is text.
const outline = (selector: string): string => `getComputedStyle(document.querySelector("${selector}")).outlineStyle`;

describe("kubectl etcd dashboard", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "kubectl-etcd-"));
  const name = "seen";
  let cluster: TestCluster;
  let dashboard: Running;
  let browser: Browser;
  let window: Window;

  before(async () => {
    await bundlePlugin(path.join(folder, "kubectl-etcd"));
    const { namespace } = await installOperator("namespace");
    cluster = await createCluster({ namespace, name }, { size: 3, TLS: { auto: true } });
    browser = await startBrowser();
    await cluster.untilHealthy();
    dashboard = await startDashboard(folder, `--namespace=${namespace}`);
    window = await openWindow(browser);
  });
  after(async () => {
    await browser?.close();
    await dashboard?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function picture(title: string, what: "whole" | "screen"): Promise<void> {
    if (pictures === undefined) return;
    await window.page.mouse.move(0, 0);
    await window.page.screenshot({ path: path.join(pictures, `${title}.png`), fullPage: what === "whole" });
  }
  const members = () => window.page.locator("[data-member]");
  const names = async () =>
    Promise.all((await members().all()).map(async (one) => (await one.getAttribute("data-member")) ?? ""));
  const card = () => window.page.getByRole("link", { name, exact: true });
  const heading = () => window.page.getByRole("heading", { level: 1 });

  test("opens by the printed address, and takes the token out of it", async () => {
    const { page, context } = window;
    await page.goto(dashboard.url);
    await card().first().waitFor();
    assert.equal(page.url(), `${dashboard.origin}/#/`);
    const [cookie] = await context.cookies();
    assert.deepEqual([cookie?.httpOnly, cookie?.sameSite], [true, "Strict"]);
    assert.equal(await page.evaluate("document.cookie"), "");
  });

  test("does not open a second time, in another browser", async () => {
    const other = await openWindow(browser);
    await other.page.goto(dashboard.url);
    await other.page.getByRole("alert").getByText("This address was already used").waitFor();
    assert.deepEqual(await other.context.cookies(), []);
    // Whatever a text contains, the browser makes no markup of it.
    const asMarkup = "(() => { try { document.body.innerHTML = '<b>x</b>'; } catch { return 'refused'; } })()";
    assert.equal(await other.page.evaluate(asMarkup), "refused");
    await other.context.close();
  });

  test("leads from all clusters to one by a click", async () => {
    const { page } = window;
    await card().first().click();
    await page.getByRole("heading", { level: 1, name }).waitFor();
    assert.equal(page.url(), `${dashboard.origin}/#/${cluster.namespace}/${name}`);
    await page.getByText("Can lose 1 more", { exact: true }).waitFor();
    assert.equal(await members().count(), 3);
    // A busy machine may have them elect at this moment.
    await page.locator(".member.leader").waitFor();
    assert.deepEqual((await page.locator(".zone > h3").allTextContents()).length, 3);
    await page.getByRole("heading", { name: "Certificates" }).waitFor();
    const copy = page.locator(".copy").first();
    await copy.click();
    await copy.filter({ hasText: "Copied" }).waitFor();
    // And it stays, whatever is heard of the cluster meanwhile.
    const heardAt = await page.locator("#link").getAttribute("title");
    await page.locator(`#link:not([title="${heardAt}"])`).waitFor();
    assert.equal(await copy.textContent(), "Copied");
  });

  test("leads there by keyboard, too, and shows where the focus is", async () => {
    const { page } = window;
    await page.getByRole("link", { name: "Clusters" }).click();
    await page.locator(".fleet").waitFor();
    const withFocus = ".cluster:has(a:focus-visible)";
    const focused = page.locator(withFocus);
    for (let presses = 0; presses < 20 && (await focused.count()) === 0; presses += 1) await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(outline(withFocus)), "solid");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name }).waitFor();
    // Reading goes on at the heading.
    assert.equal(await heading().evaluate((title) => title === title.ownerDocument.activeElement), true);
    for (const landmark of ["banner", "navigation", "main", "contentinfo"] as const)
      assert.equal(await page.getByRole(landmark).count(), 1, landmark);
  });

  test("fits a phone and a desk, in the dark and in the light", async () => {
    const { page } = window;
    const variants = [
      [390, 844],
      [1280, 900],
    ] as const;
    for (const where of ["#/", `#/${cluster.namespace}/${name}`])
      for (const [width, height] of variants)
        for (const colorScheme of ["light", "dark"] as const) {
          await page.setViewportSize({ width, height });
          await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
          await page.evaluate(`location.hash = ${JSON.stringify(where)}`);
          await page.locator(where === "#/" ? ".fleet" : ".zones").waitFor();
          const tooWide = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
          assert.equal(tooWide, 0, `${where} at ${width}`);
          const ground = String(await page.evaluate("getComputedStyle(document.body).backgroundColor"));
          assert.equal(Number(/\d+/.exec(ground)) < 128, colorScheme === "dark", ground);
          await picture(`${where === "#/" ? "all" : "one"}-${width}-${colorScheme}`, "whole");
        }
  });

  test("shows how a member goes and another comes, without a reload", async () => {
    const { page } = window;
    await page.emulateMedia({ colorScheme: "light" });
    await page.setViewportSize({ width: 1160, height: 1030 });
    await page.evaluate(() => Object.assign(globalThis, { stillTheSame: true }));
    const before = await names();
    const victim = await page.locator("[data-member]:not(.leader)").first().getAttribute("data-member");
    assert.ok(victim !== null);
    // The operator waits until it was seen: it heals within seconds.
    await cluster.edit({ paused: true });
    await cluster.until("it is paused", ({ status }) => status?.controlPaused === true);
    await deletePods(cluster, victim);
    await page.getByText("Cannot lose any", { exact: true }).waitFor();
    await cluster.edit({ paused: false });
    await page.locator(`[data-member="${victim}"]`).waitFor({ state: "detached" });
    await picture("healing", "screen");
    await page.getByText("Can lose 1 more", { exact: true }).waitFor();
    const after = await names();
    assert.equal(after.length, 3);
    const newcomer = after.find((one) => !before.includes(one));
    assert.ok(newcomer !== undefined, after.join(", "));
    await page.locator(".timeline").getByText(newcomer).first().waitFor();
    assert.equal(await page.evaluate("stillTheSame"), true);
    // Curves have moved on, too.
    await page.locator(".spark-line").nth(3).waitFor({ state: "attached" });
  });

  test("asked nobody but its own server, and complained about nothing", () => {
    assert.ok(window.asked.length > 5);
    assert.deepEqual(
      window.asked.filter((url) => new URL(url).origin !== dashboard.origin),
      [],
    );
    assert.ok(window.asked.every((url) => !url.includes("token")));
    assert.deepEqual(window.complaints, []);
  });

  test("tells a person without permissions which one lacks", async () => {
    const own = await startDashboard(folder, `--namespace=${cluster.namespace}`, "--as=ada");
    try {
      const other = await openWindow(browser);
      await other.page.goto(own.url);
      await other.page.getByRole("alert").getByText("You are ada and cannot list etcdclusters").waitFor();
      await other.context.close();
    } finally {
      assert.equal(await own.stop(), 0);
    }
  });

  test("ends at once with a page open, which says so", async () => {
    assert.equal(await dashboard.stop(), 0);
    await window.page.getByText("Not connected: trying again").waitFor();
  });
});
