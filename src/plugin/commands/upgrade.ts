// `upgrade`: what an upgrade would do and what blocks it, and the edit that starts it.
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { formatVersion, parseVersion } from "../../etcd/versions/version.ts";
import type { Command } from "../command.ts";
import { confirm, yesFlag } from "../confirm.ts";
import { UsageError } from "../line/usage-error.ts";
import { readTarget } from "../one-cluster.ts";
import { editClusters, readAll } from "../permissions.ts";
import type { Screen } from "../screen/screen.ts";
import { structured } from "../screen/structured.ts";
import { item } from "../screen/wrap.ts";
import { type UpgradePlan, upgradePlan } from "../upgrade/plan.ts";

export const upgradeCommand: Command = {
  name: "upgrade",
  what: "Show the steps to another version of etcd and what blocks them; then start.",
  details:
    "With --plan, the command changes nothing, and exits with 1 if something blocks the upgrade. Otherwise it sets\nspec.version, and the operator does the rest. A downgrade works in the same way.",
  arguments: [{ name: "NAME", is: "needed", of: "cluster" }],
  flags: [
    { name: "to", value: "VERSION", what: "The target version, as in 3.6.16." },
    { name: "plan", what: "Only show what would happen." },
    { name: "automatic", what: "Let the operator take several steps by itself: sets spec.upgrade.path." },
    yesFlag,
  ],
  examples: [
    { what: "What would happen?", line: "upgrade my-etcd --to=3.7.3 --plan" },
    { what: "Do it", line: "upgrade my-etcd --to=3.7.3" },
    { what: "From 3.4 to 3.7, step by step", line: "upgrade my-etcd --to=3.7.3 --automatic" },
  ],
  permissions: [...readAll, { ...editClusters, without: "Not with --plan." }],
  async run(call) {
    const asked = call.flags.text("to");
    if (asked === undefined) throw new UsageError("Name the version, as in --to=3.6.16.");
    const to = parseVersion(asked);
    if (to === undefined) throw new UsageError(`"${asked}" is not an etcd version: write it as in --to=3.6.16.`);
    const automatic = call.flags.has("automatic");
    const target = await readTarget(call);
    const plan = upgradePlan(target.observed, target.view, to, automatic);
    const isNothing = plan.steps.length === 0 && plan.forbidden.length === 0;
    call.screen.print(call.output === "text" ? planText(plan, call.screen) : structured(call.output, plan));
    if (plan.forbidden.length > 0) return 1;
    if (call.flags.has("plan") || isNothing) return 0;
    await confirm(call, `This sets spec.version of ${plan.name} to ${plan.to}.`);
    const spec = { version: formatVersion(to), ...(automatic && { upgrade: { path: "Automatic" } }) };
    await target.reach.api.mergePatch(EtcdCluster, target.key, { spec });
    call.screen.note(`The operator starts. Follow it with \`kubectl etcd watch ${plan.name}\`.`);
    return 0;
  },
};

function planText({ name, from, to, steps, forbidden, notes }: UpgradePlan, { columns, paint }: Screen): string {
  const head = `${paint("strong", name)}: etcd ${from.join(" and ") || "?"} → ${to}`;
  if (steps.length === 0 && forbidden.length === 0) return `${head}\nNothing to do: it already runs ${to}.`;
  const planned = steps.flatMap(({ version, does }, at) => [
    paint("strong", `${at + 1}. ${version}`),
    ...does.flatMap((one) => item(one, columns, "   - ")),
  ]);
  const refused = forbidden.flatMap((one) => item(one, columns, "- "));
  return [
    head,
    ...planned,
    ...(forbidden.length === 0
      ? [paint("good", "Nothing blocks it.")]
      : [paint("bad", "Blocked for now:"), ...refused]),
    ...(steps.length === 0 ? [] : notes.flatMap((one) => item(one, columns, "* "))),
  ].join("\n");
}
