// Lets the nodes of a lab, which reach no registry, pull the images of a registry's name from a server of this machine.
import { mkdir, rm, writeFile } from "node:fs/promises";
import * as path from "node:path";
import { type LabConfig, labNodes } from "../config.ts";
import { registriesFolder } from "./node-settings.ts";

/** `server` as in http://10.90.0.1:5000. containerd reads this at every pull. */
export async function pullFrom(lab: LabConfig, registry: string, server: string): Promise<void> {
  for (const node of labNodes(lab)) {
    const folder = path.join(registriesFolder(node), registry);
    await mkdir(folder, { recursive: true });
    await writeFile(
      path.join(folder, "hosts.toml"),
      `server = "${server}"\n[host."${server}"]\n  capabilities = ["pull", "resolve"]\n`,
    );
  }
}

export async function pullFromNowhere(lab: LabConfig, registry: string): Promise<void> {
  for (const node of labNodes(lab))
    await rm(path.join(registriesFolder(node), registry), { recursive: true, force: true });
}
