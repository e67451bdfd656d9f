// The Go modules that etcdutl is built from, as the program itself names them.
import { tmpdir } from "node:os";
import { run } from "../../lab/machine/command.ts";
import { ensureEtcdutl } from "../programs/programs.ts";
import { type Component, idOf, licenseIn } from "./component.ts";
import { licenseTexts } from "./npm.ts";

export interface GoModule {
  readonly name: string;
  readonly version: string;
}

/** Its modules are the same for every architecture. */
export async function goComponents(): Promise<Component[]> {
  const { go, modules } = modulesIn(await run("go", ["version", "-m", await ensureEtcdutl("amd64")]));
  const folders = await moduleFolders(modules);
  const etcdutl = modules.find(({ name }) => name.includes("/etcdutl/"));
  if (etcdutl === undefined) throw new Error("etcdutl does not name its own module.");
  const components = await Promise.all(
    modules.map(async (module): Promise<Component> => {
      const texts = await licenseTexts(folders.get(keyOf(module)) ?? "");
      const license = licenseIn(texts.join("\n"));
      return {
        id: module === etcdutl ? "etcdutl" : idOf("go", module.name, module.version),
        ...module,
        purl: `pkg:golang/${module.name}@${module.version}`,
        ...(license === undefined ? {} : { license }),
        texts,
        within: module === etcdutl ? [] : ["etcdutl"],
      };
    }),
  );
  const root = (await run("go", ["env", "GOROOT"])).trim();
  return [
    ...components,
    {
      id: idOf("go", "stdlib", go),
      name: "stdlib",
      version: go,
      purl: `pkg:golang/stdlib@${go}`,
      license: "BSD-3-Clause",
      texts: await licenseTexts(root),
      within: ["etcdutl"],
    },
  ];
}

/** From what `go version -m` prints. Module hashes are in go.sum, of a kind that SPDX does not know. */
export function modulesIn(printed: string): { go: string; modules: GoModule[] } {
  const go = /: go(\S+)/.exec(printed)?.[1];
  if (go === undefined) throw new Error(`Go does not say what built the program: ${printed.slice(0, 200)}`);
  const modules = [...printed.matchAll(/^\t(?:mod|dep)\t(\S+)\t(\S+)\th1:\S+$/gm)].flatMap(([, name, version]) =>
    name === undefined || version === undefined ? [] : [{ name, version }],
  );
  return { go, modules };
}

const keyOf = ({ name, version }: GoModule): string => `${name}@${version}`;

async function moduleFolders(modules: readonly GoModule[]): Promise<ReadonlyMap<string, string>> {
  const printed = await run("go", ["mod", "download", "-json", ...modules.map(keyOf)], {
    cwd: tmpdir(),
    env: { GOFLAGS: "", GOWORK: "off" },
  });
  const answers = JSON.parse(`[${printed.trim().replaceAll(/^\}\n\{$/gm, "},{")}]`) as {
    Path: string;
    Version: string;
    Dir: string;
  }[];
  return new Map(answers.map(({ Path, Version, Dir }) => [`${Path}@${Version}`, Dir]));
}
