// A cluster of 3.5 enables a downgrade to 3.4, and its members then end at their next start. So nobody may ask for one.
import { EtcdError } from "./errors.ts";
import type { DowngradeStep } from "./member.ts";
import { firstDowngradable } from "./versions/steps.ts";

export function refuseDowngradeOfOldServers(step: DowngradeStep): void {
  const minor = step.do === "cancel" ? undefined : /^3\.(\d+)/.exec(step.version)?.[1];
  if (minor === undefined || Number(minor) >= firstDowngradable.minor - 1) return;
  throw new EtcdError("invalidDowngradeTarget", "Downgrade", `etcd cannot be downgraded to 3.${minor}`);
}
