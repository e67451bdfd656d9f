// Whatever stands in an object, a log, a figure or an error: no command prints a character that a terminal obeys, unless our
// own colours made it.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { EtcdCluster } from "../api/etcd-cluster/etcd-cluster.ts";
import type { KubeApi } from "../kube/client/api.ts";
import { ApiError } from "../kube/client/errors.ts";
import { Event } from "../kube/objects/kinds.ts";
import { staged } from "./testing/sample-cluster.ts";
import type { Printed, Stage } from "./testing/stage.ts";

const nasty: readonly string[] = [
  "\u001B]8;;http://evil.example\u001B\\click\u001B]8;;\u001B\\",
  "\u001B]52;c;cm0gLXJmIH4=\u0007",
  "\u001B[2J\u001B[H",
  "\u001B[32mhealthy\u001B[39m",
  "\u001B[1A\u001B[2K",
  "\rhealthy",
  "\b\b\b\b",
  "\u009B31m\u009D0;title\u009C",
  "\u202Egnihton\u202C\u2066\u2069",
  "\u2028\u2029\u0085\u200B\uFEFF",
  "\u007F\u0000\u000E",
];

/** A change of each text in a value, by its place: names of fields stay, as programs know them. */
function infected<T>(value: T, change: (text: string, field: string) => string): T {
  const into = (inner: unknown, field: string): unknown => {
    if (typeof inner === "string") return change(inner, field);
    if (Array.isArray(inner)) return inner.map((one) => into(one, field));
    if (typeof inner !== "object" || inner === null) return inner;
    return Object.fromEntries(Object.entries(inner).map(([name, one]) => [name, into(one, name)]));
  };
  return into(value, "") as T;
}

/** All that the stage answers is infected, errors included. */
async function infectedStage(scene: string, change: (text: string, field: string) => string): Promise<Stage> {
  const stage = await staged(scene);
  const regarding = { kind: EtcdCluster.kind, name: "my-etcd", namespace: "default" };
  const event = { reason: "Member Lost", type: "Warning", action: "Report", note: "A member is lost." };
  const by = { reportingController: "etcd-operator", reportingInstance: "a", eventTime: "2026-11-17T11:59:00.000000Z" };
  await stage.add(Event, { metadata: { namespace: "default", name: "e" }, regarding, ...event, ...by });
  const { api, metrics, log, kubectl } = stage;
  const reach = stage.reach.bind(stage);
  const answered = async <T>(answer: Promise<T>): Promise<T> => {
    try {
      return infected(await answer, change);
    } catch (error) {
      if (error instanceof Error) error.message = change(error.message, "");
      throw error;
    }
  };
  const infectedApi = new Proxy<KubeApi>(api, {
    get:
      (_, name: keyof KubeApi) =>
      (...args: unknown[]) =>
        answered(Reflect.apply(api[name], api, args) as Promise<unknown>),
  });
  stage.reach = (namespace) => ({ ...reach(namespace), api: infectedApi });
  stage.metrics = (pod) => {
    const answer = metrics(pod);
    return typeof answer === "string" ? `${answer}\n${change("", "")}` : answer;
  };
  stage.log = (pod) => change(log(pod), "");
  stage.kubectl = (args) => {
    const printed = kubectl(args);
    return printed === undefined ? undefined : change(printed, "");
  };
  return stage;
}

const obeyed = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
const allowed = /[\n\t]/g;

function assertPrintable({ out, err }: Pick<Printed, "out" | "err">, what: string): void {
  for (const text of [out, err]) assert.doesNotMatch(text.replaceAll(allowed, ""), obeyed, what);
}

const screens: readonly (readonly string[])[] = [
  ["status"],
  ["status", "my-etcd"],
  ["status", "my-etcd", "-o", "json"],
  ["status", "my-etcd", "-o", "yaml"],
  ["doctor"],
  ["doctor", "my-etcd"],
  ["doctor", "my-etcd", "-o", "yaml"],
  ["members", "my-etcd"],
  ["upgrade", "my-etcd", "--to=3.7.3", "--plan"],
  ["pause", "my-etcd"],
  ["defrag", "my-etcd", "--yes"],
  ["move-leader", "my-etcd"],
  ["backup", "my-etcd"],
  ["restore", "my-etcd", "--from=nightly"],
  ["replace-member", "my-etcd", "my-etcd-2b7kq9xw4c"],
  ["status", "another"],
  ["__complete", "status", ""],
];

describe("no command prints a character that a terminal obeys", () => {
  for (const words of screens)
    test(words.join(" "), async () => {
      for (const evil of nasty) {
        const stage = await infectedStage("healing", (text) => text + evil);
        assertPrintable(await stage.run(...words), JSON.stringify(evil));
      }
    });

  test("nor where single texts are infected, whichever they are", async () => {
    const scenes = ["healthy", "healing", "upgrading", "quorum-lost", "tls", "restoring", "forbidden"];
    const places = { scene: fc.constantFrom(...scenes), words: fc.constantFrom(...screens), seed: fc.nat() };
    const text = fc.oneof(fc.constantFrom(...nasty), fc.string({ unit: "binary" }));
    await fc.assert(
      fc.asyncProperty(fc.record({ ...places, text }), async ({ scene, words, seed, text: evil }) => {
        let at = seed;
        const isHit = (): boolean => (at = (at * 1_103_515_245 + 12_345) % 2_147_483_648) % 9 === 0;
        const stage = await infectedStage(scene, (text) => (isHit() ? evil + text : text));
        assertPrintable(await stage.run(...words), words.join(" "));
      }),
      { numRuns: 300 },
    );
  });

  test("nor when Kubernetes or kubectl refuses with such words", async () => {
    for (const evil of nasty) {
      const stage = await staged();
      stage.metrics = () => new ApiError(403, "Forbidden", `no ${evil}`);
      stage.kubectl = () => undefined;
      stage.api.mergePatch = () => Promise.reject(new ApiError(403, "Forbidden", `a webhook says ${evil}`));
      assertPrintable(await stage.run("status", "my-etcd"), evil);
      const refused = await stage.run("pause", "my-etcd", "--yes");
      assert.match(refused.err, /webhook says/);
      assertPrintable(refused, evil);
    }
  });

  test("nor is there one in a report, which people open in a terminal", async () => {
    const folder = mkdtempSync(join(tmpdir(), "foreign-"));
    try {
      const stage = await infectedStage("healing", (text) => text + nasty.join(" "));
      const { out, err } = await stage.run("report", "my-etcd", `--file=${folder}`);
      assertPrintable({ out, err }, "report");
      const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));
      const texts = files.filter((file) => statSync(file).isFile()).map((file) => readFileSync(file, "utf8"));
      assert.ok(texts.length > 10);
      for (const text of texts) assertPrintable({ out: text, err: "" }, text);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

/** Kubernetes lets no end of line into these. */
const names = new Set([
  "name",
  "namespace",
  "uid",
  "resourceVersion",
  "kind",
  "apiVersion",
  "type",
  "status",
  "reason",
]);

describe("an end of line in a message makes no line of its own", () => {
  for (const words of screens.filter((one) => !one.includes("-o")).slice(0, 5))
    test(words.join(" "), async () => {
      const change = (text: string, field: string): string => (names.has(field) ? text : `${text}\nFORGED`);
      const { out } = await (await infectedStage("healing", change)).run(...words);
      assert.match(out, /FORGED/);
      assert.doesNotMatch(out, /^FORGED/m);
    });
});
