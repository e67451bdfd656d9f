// Helm for tests of the chart: both majors, each with folders of its own, so that nobody's settings count.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after } from "node:test";
import { ensureHelm, type HelmName, helmVersions } from "../../lab/build/helm.ts";
import { CommandError, run } from "../../lab/machine/command.ts";
import { root } from "../suites.ts";

export const chart: string = path.join(root, "charts/etcd-operator");

const folder = mkdtempSync(path.join(tmpdir(), "etcd-operator-helm-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const programs = await ensureHelm();
const patience = 240_000;

interface Helm {
  /** As in Helm 3.21.4. */
  readonly title: string;
  readonly name: HelmName;
  run(...args: string[]): Promise<string>;
  /** Runs what must fail, and returns what it says. */
  refuses(...args: string[]): Promise<string>;
}

function helmOf(name: HelmName): Helm {
  const homes = ["HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"].map(
    (variable) => [variable, path.join(folder, name, variable)] as const,
  );
  const call = (args: readonly string[]): Promise<string> =>
    run(programs[name], args, { cwd: root, env: Object.fromEntries(homes), signal: AbortSignal.timeout(patience) });
  return {
    title: `Helm ${helmVersions[name]}`,
    name,
    run: (...args) => call(args),
    async refuses(...args) {
      try {
        await call(args);
      } catch (error) {
        if (error instanceof CommandError) return error.stderr;
        throw error;
      }
      throw new Error(`helm ${args.join(" ")} should have failed`);
    },
  };
}

export const helms: readonly Helm[] = [helmOf("helm3"), helmOf("helm4")];
