// A real Prometheus beside the lab, with the rules and the relabelling that we ship. Debian's cannot ask Kubernetes for pods, so
// they are written into a file for it, with the labels that the discovery of Kubernetes would give.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { stringify } from "yaml";
import { ensurePrometheus } from "../../../lab/build/prometheus.ts";
import { waitFor } from "../../../lab/progress.ts";
import { ruleFile } from "../../../observability/rules.ts";
import { scrapeConfigs } from "../../../observability/scraping.ts";
import type { Pod } from "../../../src/kube/objects/kinds.ts";
import { freePort } from "../../support/free-port.ts";

export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

export class Prometheus implements AsyncDisposable {
  readonly #folder: string;
  readonly #url: string;
  readonly #child: ChildProcess;

  private constructor(folder: string, url: string, child: ChildProcess) {
    this.#folder = folder;
    this.#url = url;
    this.#child = child;
  }

  /** `impatient`: alerts that fire at once, by their name. The others are as patient as they are shipped. */
  static async start(impatient: readonly string[]): Promise<Prometheus> {
    const folder = await mkdtemp(path.join(tmpdir(), "prometheus-"));
    const port = await freePort();
    const write = (name: string, what: object): Promise<void> =>
      writeFile(path.join(folder, name), stringify(what, { aliasDuplicateObjects: false }));
    await write("targets.yaml", []);
    await write("rules.yaml", hurried(impatient));
    await write("prometheus.yaml", {
      global: { scrape_interval: "1s", evaluation_interval: "1s" },
      rule_files: ["rules.yaml"],
      scrape_configs: scrapeConfigs({ file_sd_configs: [{ files: ["targets.yaml"], refresh_interval: "1s" }] }),
    });
    const program = path.join(await ensurePrometheus(), "prometheus");
    const log = openSync(path.join(folder, "log"), "a");
    // The kernel kills it with this process, in case that one is killed before it can clean up.
    const child = spawn(
      "setpriv",
      [
        "--pdeathsig",
        "KILL",
        "--",
        program,
        `--config.file=${folder}/prometheus.yaml`,
        `--storage.tsdb.path=${folder}/data`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      { stdio: ["ignore", log, log] },
    );
    closeSync(log);
    const prometheus = new Prometheus(folder, `http://127.0.0.1:${port}`, child);
    await prometheus.#ready();
    return prometheus;
  }

  /** What is to be scraped from now on. */
  async discover(pods: readonly Pod[]): Promise<void> {
    const file = path.join(this.#folder, "targets.yaml");
    writeFileSync(`${file}.new`, stringify(pods.flatMap(targetsOf)));
    await rename(`${file}.new`, file);
  }

  async query(expr: string): Promise<readonly Sample[]> {
    const response = await fetch(`${this.#url}/api/v1/query?${new URLSearchParams({ query: expr }).toString()}`, {
      signal: AbortSignal.timeout(10_000),
    });
    const answer = (await response.json()) as { data?: { result: readonly Sample[] }; error?: string };
    if (answer.data === undefined) throw new Error(`${expr}: ${answer.error ?? "no answer"}`);
    return answer.data.result;
  }

  /** Names of the alerts that fire for this namespace. */
  async firing(namespace: string): Promise<string[]> {
    const found = await this.query(`ALERTS{alertstate="firing",namespace="${namespace}"}`);
    return [...new Set(found.map(({ metric }) => metric["alertname"] ?? ""))].sort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const gone = once(this.#child, "exit");
      this.#child.kill("SIGKILL");
      await gone;
    }
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #ready(): Promise<void> {
    const isReady = async (): Promise<true | undefined> =>
      (await fetch(`${this.#url}/-/ready`, { signal: AbortSignal.timeout(1_000) })).ok || undefined;
    const log = (): string => readFileSync(path.join(this.#folder, "log"), "utf8").slice(-2_000);
    try {
      await waitFor("Prometheus to be ready", isReady, { timeoutMs: 30_000, lastSeen: log });
    } catch (error) {
      await this[Symbol.asyncDispose]();
      throw error;
    }
  }
}

function hurried(impatient: readonly string[]): object {
  const groups = ruleFile().groups.map(({ name, rules }) => ({
    name,
    rules: rules.map((rule) =>
      "alert" in rule && impatient.includes(String(rule.alert)) ? { ...rule, for: "0s" } : rule,
    ),
  }));
  return { groups };
}

/** One for each port of each container, as the discovery of Kubernetes has them. */
function targetsOf({ metadata, spec, status }: Pod): object[] {
  const labels = Object.entries(metadata?.labels ?? {}).map(([label, value]) => [
    `__meta_kubernetes_pod_label_${label.replaceAll(/\W/g, "_")}`,
    value,
  ]);
  return (spec?.containers ?? []).flatMap(({ ports = [] }) =>
    ports.map(({ name = "", containerPort }) => ({
      targets: [`${status?.podIP ?? ""}:${containerPort}`],
      labels: {
        __meta_kubernetes_namespace: metadata?.namespace ?? "",
        __meta_kubernetes_pod_name: metadata?.name ?? "",
        __meta_kubernetes_pod_container_port_name: name,
        __meta_kubernetes_pod_container_port_number: String(containerPort),
        ...Object.fromEntries(labels),
      },
    })),
  );
}
