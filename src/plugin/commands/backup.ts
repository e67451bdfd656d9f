// `backup`: has a backup taken at once, by an EtcdBackup that is there or by a new one.
import { backupNowAnnotation, EtcdBackup, withDefaults } from "../../api/etcd-backup/etcd-backup.ts";
import { secondsTime } from "../../kube/objects/objects.ts";
import { storeOf } from "../backups/store-url.ts";
import type { Call, Command, ExitCode } from "../command.ts";
import { didYouMean } from "../line/nearest.ts";
import { UsageError } from "../line/usage-error.ts";
import { type Chosen, storedCluster } from "../one-cluster.ts";
import { Refusal } from "../place/refusal.ts";
import { readClusters } from "../permissions.ts";
import { answer } from "../screen/structured.ts";
import { bytesInWords } from "../../kube/objects/size.ts";
import { all, isOf } from "../observe/observe.ts";
import { until, type Verdict, waitFlags } from "../until.ts";
import { defined } from "../../defined.ts";

export const backupCommand: Command = {
  name: "backup",
  what: "Take a backup now, with an existing EtcdBackup or a new one.",
  details:
    "Without --to, the existing EtcdBackup of the cluster takes a backup at once; if there are several, choose one with --backup.\nWith --to, the command creates an EtcdBackup: for one backup, or for a series with --schedule.",
  arguments: [{ name: "NAME", is: "needed", of: "cluster" }],
  flags: [
    { name: "backup", value: "BACKUP", what: "The EtcdBackup to use; with --to, the name of the new one." },
    {
      name: "to",
      value: "URL",
      what: "s3://BUCKET/KEY, abs://CONTAINER/KEY, gs://BUCKET/KEY, oss://BUCKET/KEY or pvc://CLAIM/PATH.",
    },
    {
      name: "secret",
      value: "SECRET",
      what: "With --to: the Secret with the credentials of the store. Default: the identity of the pod.",
    },
    { name: "endpoint", value: "URL", what: "With --to: the server, if it is not the vendor's own." },
    { name: "region", value: "REGION", what: "With --to=s3://…: its region." },
    { name: "schedule", value: "CRON", what: "With --to: when to take backups, as in '0 3 * * *'." },
    { name: "keep", value: "COUNT", what: "With --schedule: how many backups to keep." },
    { name: "verify", what: "With --to: verify each backup by a restore into a throwaway member." },
    ...waitFlags,
  ],
  examples: [
    { what: "Take a backup now and wait for it", line: "backup my-etcd --wait" },
    { what: "To a volume", line: "backup my-etcd --to=pvc://etcd-backups/my-etcd --wait" },
    {
      what: "Every night to S3, verified, keeping the last seven",
      line: "backup my-etcd --to=s3://bucket/my-etcd --secret=aws --schedule='0 3 * * *' --keep=7 --verify",
    },
  ],
  permissions: [
    readClusters,
    { group: EtcdBackup.group, resource: EtcdBackup.plural, verbs: ["get", "list", "create", "patch"] },
  ],
  async run(call) {
    const chosen = await storedCluster(call);
    return call.flags.has("to") ? create(call, chosen) : ask(call, chosen);
  },
};

const onlyWithTo = ["secret", "endpoint", "region", "schedule", "keep", "verify"] as const;

async function ask(call: Call, { key, reach }: Chosen): Promise<ExitCode> {
  const stray = onlyWithTo.find((name) => call.flags.has(name));
  if (stray !== undefined) throw new UsageError(`--${stray} needs --to: it applies to a new EtcdBackup.`);
  const own = (await all(reach.api, EtcdBackup, { namespace: key.namespace })).filter((one) => isOf(one, key.name));
  const { name } = choose(own, call.flags.text("backup"), key.name);
  const request = secondsTime(new Date(call.now()));
  const metadata = { annotations: { [backupNowAnnotation]: request } };
  const backupKey = { namespace: key.namespace, name };
  await reach.api.mergePatch(EtcdBackup, backupKey, { metadata });
  if (!call.flags.has("wait")) return say(call, name, `Requested a backup from the EtcdBackup ${name}.`);
  const before = own.find(({ metadata }) => metadata?.name === name)?.status?.history?.[0]?.id;
  return say(
    call,
    name,
    await until(call, reach, EtcdBackup, backupKey, (backup) => judgeRequest(backup, request, before)),
  );
}

function choose(own: readonly EtcdBackup[], named: string | undefined, cluster: string): { name: string } {
  const names = own.flatMap(({ metadata }) => metadata?.name ?? []);
  const [only] = names;
  if (named !== undefined) {
    if (names.includes(named)) return { name: named };
    throw new Refusal(
      `${named} is not an EtcdBackup of ${cluster}.${didYouMean(named, names)} Available: ${names.join(", ") || "none"}.`,
    );
  }
  if (only === undefined)
    throw new Refusal(`${cluster} has no EtcdBackup: name a destination with --to, as in --to=pvc://CLAIM/${cluster}.`);
  if (names.length > 1)
    throw new Refusal(`${cluster} has several EtcdBackups: choose one with --backup: ${names.join(", ")}.`);
  return { name: only };
}

async function create(call: Call, { key, reach }: Chosen): Promise<ExitCode> {
  const text = (name: string): string | undefined => call.flags.text(name);
  const [secret, endpoint, region, schedule] = ["secret", "endpoint", "region", "schedule"].map(text);
  const keep = keepOf(text("keep"), schedule);
  const stamp = new Date(call.now())
    .toISOString()
    .replaceAll(/[-:]|\..*/g, "")
    .toLowerCase();
  const name = text("backup") ?? (schedule === undefined ? `${key.name}-${stamp}` : key.name);
  const store = storeOf(text("to") ?? "", defined({ secret, endpoint, region }));
  const backupKey = { namespace: key.namespace, name };
  await reach.api.create(EtcdBackup, {
    metadata: backupKey,
    spec: {
      clusterRef: { name: key.name },
      ...store,
      ...(schedule !== undefined && { backupPolicy: { schedule, ...(keep !== undefined && { maxBackups: keep }) } }),
      ...(call.flags.has("verify") && { verify: { restore: true } }),
    },
  });
  if (!call.flags.has("wait") || schedule !== undefined) return say(call, name, `The EtcdBackup ${name} was created.`);
  return say(call, name, await until(call, reach, EtcdBackup, backupKey, judgeOnce));
}

function keepOf(text: string | undefined, schedule: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (schedule === undefined) throw new UsageError("--keep needs --schedule: a single backup is always kept.");
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) throw new UsageError(`--keep is a number of backups, not "${text}".`);
  return count;
}

/** The run that was asked for: the first that ends after the request was taken up. */
function judgeRequest(backup: EtcdBackup, request: string, before: string | undefined): Verdict {
  const { status } = withDefaults(backup);
  const [last] = status.history;
  const isTaken = status.handledRequest === request;
  const isOver = isTaken && status.run === undefined && last !== undefined && last.id !== before;
  if (!isOver) return { t: "waits", says: status.message ?? "The operator has not started yet." };
  if (last.result === "Succeeded") return { t: "done", says: doneText(backup) };
  return { t: "failed", says: last.message ?? status.Reason ?? "The backup failed." };
}

function judgeOnce(backup: EtcdBackup): Verdict {
  const { status } = withDefaults(backup);
  if (status.phase === "Succeeded") return { t: "done", says: doneText(backup) };
  if (status.phase === "Failed") return { t: "failed", says: status.Reason ?? status.message ?? "The backup failed." };
  return { t: "waits", says: status.message ?? "The operator has not started yet." };
}

function doneText({ status }: EtcdBackup): string {
  const { path = "", sizeBytes = 0, revision } = status?.lastBackup ?? {};
  const upTo = revision === undefined ? "" : `, up to revision ${revision}`;
  return `${path} is complete: ${bytesInWords(sizeBytes)}${upTo}.`;
}

const say = (call: Call, name: string, text: string): ExitCode => answer(call, text, { backup: name, message: text });
