// Finds the networks of this machine that a lab's /16 would hide.
import { run } from "./command.ts";
import type { LabConfig } from "../config.ts";

interface Route {
  readonly dst?: string;
  readonly dev?: string;
}

const number = (address: string): number => address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);

/** True when the route, at least as narrow as a /16, leads into the lab's /16. */
export function liesIn(prefix: string, destination: string): boolean {
  const [address, length = "32"] = destination.split("/");
  if (address === undefined || !/^\d+\.\d+\.\d+\.\d+$/.test(address) || Number(length) < 16) return false;
  return Math.floor(number(address) / 65536) === Math.floor(number(`${prefix}.0.0`) / 65536);
}

/** The routes of this machine into the lab's range. Wider ones, such as 10.0.0.0/8 of a company, are fine. */
export async function routesInto(lab: LabConfig): Promise<string[]> {
  const routes = JSON.parse(await run("ip", ["-json", "-4", "route"])) as Route[];
  return routes
    .filter(({ dst }) => dst !== undefined && liesIn(lab.prefix, dst))
    .map(({ dst, dev }) => `${dst} on ${dev ?? "no device"}`);
}
