// A real Prometheus beside the lab, with the configuration and the rules that we ship. It runs outside of Kubernetes, scrapes every
// second, and is handed what Prometheus' own discovery finds: Debian's is built without that.
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { parse, stringify } from "yaml";
import { ensurePrometheus } from "../../../lab/build/prometheus.ts";
import { waitFor } from "../../../lab/progress.ts";
import { freePort } from "../../support/free-port.ts";
import { root } from "../../suites.ts";
import { discover } from "./discovery.ts";
import { Program } from "./program.ts";

export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

/** Labels that a series has. */
export type Labels = Readonly<Record<string, string>>;

interface ScrapeConfig {
  readonly job_name: string;
  readonly kubernetes_sd_configs: readonly object[];
}

interface PrometheusOptions {
  /** The pods of these are found, and of no others. */
  readonly namespaces: readonly [string, ...string[]];
  /** What a file of rules has. */
  readonly rules: object;
  /** Beside those that we ship. */
  readonly scrapeConfigs?: readonly ScrapeConfig[];
}

export class Prometheus implements AsyncDisposable {
  readonly #folder: string;
  readonly #url: string;
  readonly #programs: readonly Program[];

  private constructor(folder: string, url: string, programs: readonly Program[]) {
    this.#folder = folder;
    this.#url = url;
    this.#programs = programs;
  }

  static async start({ namespaces, rules, scrapeConfigs = [] }: PrometheusOptions): Promise<Prometheus> {
    const folder = await mkdtemp(path.join(tmpdir(), "prometheus-"));
    const port = await freePort();
    const shipped = parse(await readFile(path.join(root, "observability/prometheus.yaml"), "utf8")) as {
      scrape_configs: readonly ScrapeConfig[];
    };
    const all = [...shipped.scrape_configs, ...scrapeConfigs];
    const [asked, ...others] = all.flatMap(({ kubernetes_sd_configs }) => kubernetes_sd_configs);
    assert.ok(asked !== undefined && others.length === all.length - 1);
    for (const other of others) assert.deepEqual(other, asked, "one discovery serves all");
    const targets = path.join(folder, "targets.json");
    await writeFile(targets, "[]");
    await writeFile(path.join(folder, "rules.yaml"), stringify(rules, { aliasDuplicateObjects: false }));
    const config = path.join(folder, "prometheus.yaml");
    const found = { file_sd_configs: [{ files: [targets], refresh_interval: "1s" }] };
    const scrape_configs = all.map((one) => {
      const { kubernetes_sd_configs: _, ...rest } = one;
      return { ...rest, ...found };
    });
    const global = { scrape_interval: "1s", evaluation_interval: "1s" };
    await writeFile(config, stringify({ ...shipped, global, scrape_configs }, { aliasDuplicateObjects: false }));
    const programs = [
      new Program(
        path.join(folder, "log"),
        path.join(await ensurePrometheus(), "prometheus"),
        `--config.file=${config}`,
        `--storage.tsdb.path=${folder}/data`,
        `--web.listen-address=127.0.0.1:${port}`,
      ),
      await discover(asked, namespaces, folder, targets),
    ];
    const prometheus = new Prometheus(folder, `http://127.0.0.1:${port}`, programs);
    await prometheus.#ready();
    return prometheus;
  }

  async query(expr: string): Promise<readonly Sample[]> {
    const response = await fetch(`${this.#url}/api/v1/query?${new URLSearchParams({ query: expr }).toString()}`, {
      signal: AbortSignal.timeout(10_000),
    });
    const answer = (await response.json()) as { data?: { result: readonly Sample[] }; error?: string };
    if (answer.data === undefined) throw new Error(`${expr}: ${answer.error ?? "no answer"}`);
    return answer.data.result;
  }

  /** Names of the alerts that fire with these labels. */
  async firing(labels: Labels): Promise<string[]> {
    const matchers = Object.entries({ alertstate: "firing", ...labels }).map(([label, value]) => `${label}="${value}"`);
    const found = await this.query(`ALERTS{${matchers.join(",")}}`);
    return [...new Set(found.map(({ metric }) => metric["alertname"] ?? ""))].sort();
  }

  /** What its programs logged last. */
  get lastWords(): string {
    return this.#programs.map(({ lastWords }) => lastWords).join("\n");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const program of this.#programs) await program[Symbol.asyncDispose]();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #ready(): Promise<void> {
    const isReady = async (): Promise<true | undefined> =>
      (await fetch(`${this.#url}/-/ready`, { signal: AbortSignal.timeout(1_000) })).ok || undefined;
    try {
      await waitFor("Prometheus to be ready", isReady, { timeoutMs: 60_000, lastSeen: () => this.lastWords });
    } catch (error) {
      await this[Symbol.asyncDispose]();
      throw error;
    }
  }
}
