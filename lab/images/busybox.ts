// Busybox of this machine: the busybox image, and a shell for images that have one upstream.
import { realpath } from "node:fs/promises";
import * as path from "node:path";
import { run } from "../machine/command.ts";
import type { Image } from "./archive.ts";
import { basics, librariesOf, program, searchPath } from "./programs.ts";
import type { Entry } from "./tar.ts";

const inTheImage = "/bin/busybox";

/** Busybox with links for some of its applets. */
export async function shell(applets: readonly string[]): Promise<Entry[]> {
  const busybox = await realpath((await run("which", ["busybox"])).trim());
  return [
    program(inTheImage, busybox),
    ...(await librariesOf([busybox])),
    ...applets.map((applet): Entry => ({ is: "link", path: path.join("bin", applet), mode: 0o777, to: inTheImage })),
  ];
}

export async function busyboxImage(): Promise<Image> {
  const applets = (await run("busybox", ["--list"])).split("\n").filter((name) => name !== "" && name !== "busybox");
  return {
    tags: ["docker.io/library/busybox:1.35"],
    config: { Env: [searchPath], Cmd: ["sh"] },
    layers: [[...basics, { is: "folder", path: "root", mode: 0o700 }, ...(await shell(applets))]],
  };
}
