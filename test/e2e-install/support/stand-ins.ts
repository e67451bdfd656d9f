// Images that stand for those of the Dockerfile, made of this machine's files: one with Node, npm and strip, one with Go, and
// one with the libraries that Node loads. What is large is lent while the build runs: Node, npm, Go and what they have fetched.
import { access, realpath } from "node:fs/promises";
import * as path from "node:path";
import { type Image } from "../../../lab/images/archive.ts";
import { shell } from "../../../lab/images/busybox.ts";
import { pinnedNode } from "../../../lab/images/node.ts";
import { basics, librariesOf, program, searchPath } from "../../../lab/images/programs.ts";
import type { Entry } from "../../../lab/images/tar.ts";
import { run } from "../../../lab/machine/command.ts";

interface StandIn {
  /** The argument of the Dockerfile. */
  readonly argument: "BUILD_IMAGE" | "GO_IMAGE" | "BASE_IMAGE";
  readonly image: Image;
  readonly lent: readonly Lent[];
}

/** A file or folder of this machine, and where it is seen. */
interface Lent {
  readonly from: string;
  readonly at: string;
  readonly writable?: true;
}

const certificates = "/etc/ssl/certs";
const shellPrograms = ["sh", "ln"] as const;

const inPlace = (folder: string): Lent => ({ from: folder, at: folder });
const settingOf = async (program: string, ...words: string[]): Promise<string> => (await run(program, words)).trim();
const programOf = async (name: string): Promise<string> => realpath(await settingOf("which", name));

/** Programs of this machine may share libraries. */
const once = (entries: readonly Entry[]): Entry[] => [...new Map(entries.map((entry) => [entry.path, entry])).values()];

/** For node:24-bookworm. */
async function nodeStandIn(): Promise<StandIn> {
  const npm = await programOf("npm");
  const strip = await programOf("strip");
  const install = await programOf("install");
  const cache = await settingOf("npm", "config", "get", "cache");
  const command = `#!/bin/sh\nexec /usr/local/bin/node ${npm} "$@"\n`;
  return {
    argument: "BUILD_IMAGE",
    image: {
      tags: ["localhost/stand-in/node:24"],
      config: {
        Env: [
          searchPath,
          "npm_config_prefer_offline=true",
          `npm_config_cache=${cache}`,
          `npm_config_registry=${await settingOf("npm", "config", "get", "registry")}`,
          `NODE_EXTRA_CA_CERTS=${certificates}/ca-certificates.crt`,
        ],
      },
      layers: [
        once([
          ...basics,
          ...(await shell(shellPrograms)),
          program("/usr/bin/strip", strip),
          program("/usr/bin/install", install),
          ...(await librariesOf([pinnedNode.program, strip, install])),
          { is: "text", path: "usr/local/bin/npm", mode: 0o755, text: command },
        ]),
      ],
    },
    lent: [
      { from: pinnedNode.program, at: "/usr/local/bin/node" },
      // Its libraries may be beside it.
      inPlace(path.resolve(npm, "../../..")),
      { ...inPlace(cache), writable: true },
      ...(await certificatesIfAny()),
    ],
  };
}

/** For golang:1.26-bookworm. What was compiled for the lab is not compiled again. */
async function goStandIn(): Promise<StandIn> {
  const [root = "", modules = "", compiled = "", proxy = "", sums = ""] = (
    await run("go", ["env", "GOROOT", "GOMODCACHE", "GOCACHE", "GOPROXY", "GOSUMDB"])
  ).split("\n");
  return {
    argument: "GO_IMAGE",
    image: {
      tags: ["localhost/stand-in/golang:1.26"],
      config: {
        Env: [
          `${searchPath}:${root}/bin`,
          "GOPATH=/go",
          `GOMODCACHE=${modules}`,
          `GOCACHE=${compiled}`,
          `GOPROXY=${proxy}`,
          `GOSUMDB=${sums}`,
        ],
      },
      layers: [once([...basics, ...(await shell(shellPrograms))])],
    },
    lent: [
      inPlace(root),
      { ...inPlace(modules), writable: true },
      { ...inPlace(compiled), writable: true },
      ...(await certificatesIfAny()),
    ],
  };
}

/** For distroless/cc-debian12:nonroot. */
async function baseStandIn(): Promise<StandIn> {
  return {
    argument: "BASE_IMAGE",
    image: {
      tags: ["localhost/stand-in/cc:nonroot"],
      config: { Env: [searchPath], User: "65532" },
      layers: [once([...basics, ...(await librariesOf([pinnedNode.program]))])],
    },
    lent: [],
  };
}

const certificatesIfAny = (): Promise<Lent[]> =>
  access(certificates).then(
    () => [inPlace(certificates)],
    () => [],
  );

export const standIns = async (): Promise<StandIn[]> => [await nodeStandIn(), await goStandIn(), await baseStandIn()];
