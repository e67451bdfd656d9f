// The dashboard from its command line to its end.
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { leadingPage, openerOf } from "../dashboard/open-browser.ts";
import { ask, typed } from "../dashboard/testing/ask.ts";
import { shortPage } from "../dashboard/testing/served.ts";
import { staged } from "../testing/sample-cluster.ts";

describe("dashboard", () => {
  // What esbuild puts into the bundle.
  before(() => void Object.assign(globalThis, { dashboardPage: shortPage }));
  after(() => void Reflect.deleteProperty(globalThis, "dashboardPage"));

  test("prints the address of a page that is there, and ends at a signal", async () => {
    const stage = await staged();
    const printed = new Promise<string>((resolve) => (stage.onPrint = resolve));
    const running = stage.run("dashboard", "my-etcd", "--no-open");
    const url = new URL(await printed);
    assert.match(url.href, /^http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{22}&cluster=default\/my-etcd$/);
    const { text } = await ask({ port: Number(url.port), path: "/", headers: typed });
    assert.equal(text, shortPage.html);
    stage.stop();
    const { code, err } = await running;
    assert.equal(code, 0);
    assert.match(err, /works once\. Ctrl-C stops the dashboard/);
    assert.deepEqual(stage.calls, []);
  });

  test("takes a port that is one, and no address", async () => {
    const stage = await staged();
    for (const port of ["x", "-1", "70000", "1.5", ""]) {
      const { code, err } = await stage.run("dashboard", `--port=${port}`);
      assert.equal(code, 2, port);
      assert.match(err, /--port is a number up to 65535/);
    }
    assert.match((await stage.run("dashboard", "--address=0.0.0.0")).err, /--address is not a flag/);
  });
});

describe("opening the browser", () => {
  test("is left to a person where there is no screen or no program for it", () => {
    assert.equal(openerOf("linux", { PATH: "/nowhere", DISPLAY: ":0" }), undefined);
    assert.equal(openerOf("linux", { PATH: process.env["PATH"] }), undefined);
    assert.equal(openerOf("win32", { PATH: process.env["PATH"] }), undefined);
  });

  test("keeps the token out of arguments: a file that only its owner may read has it", () => {
    let file: string;
    {
      using leading = leadingPage("http://127.0.0.1:1/#token=abc&cluster=a/b");
      file = leading.file;
      assert.ok(!file.includes("abc"));
      assert.equal(statSync(file).mode & 0o777, 0o600);
      assert.match(readFileSync(file, "utf8"), /url=http:\/\/127\.0\.0\.1:1\/#token=abc&amp;cluster=a\/b"/);
    }
    assert.throws(() => statSync(file), /ENOENT/);
  });
});

test("from the sources there is no page, and that is said", async () => {
  const { code, err } = await (await staged()).run("dashboard");
  assert.equal(code, 1);
  assert.match(err, /run `make plugin`/);
});
