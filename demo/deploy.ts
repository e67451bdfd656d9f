// `make deploy`: installs or updates the operator. Safe to run again: it restarts the operator only when it runs another
// build of the image.
import { loadOperatorImage } from "../lab/image.ts";
import { dim, green, say, step } from "../lab/progress.ts";
import { command } from "./command.ts";
import { findTarget, type Target, howToUse } from "./target.ts";
import { shell, type } from "./typed.ts";

const manifest = "example/deployment.yaml";
const selector = "name=etcd-operator";
const timeoutSeconds = 120;

export async function deployOperator(target: Target, signal: AbortSignal): Promise<void> {
  const digest = target.t === "lab" ? (await loadOperatorImage(target.lab)).digest : undefined;
  const outdated = digest !== undefined && (await runsAnother(digest));
  await type("example/rbac/create_role.sh", { signal });
  await type(applyLine(process.env["OPERATOR_IMAGE"]), { signal });
  if (outdated) await type("kubectl rollout restart deployment/etcd-operator", { signal });
  const wait = `kubectl rollout status deployment/etcd-operator --timeout=${timeoutSeconds}s`;
  await step(wait, async (progress) => {
    try {
      await withProgress(
        () => shell(wait, { signal }),
        async () => progress.detail(await podStates()),
      );
    } catch (error) {
      const states = await podStates();
      throw new Error(`The operator did not become available in ${timeoutSeconds} s: ${states}. ${advice(target)}`, {
        cause: error,
      });
    }
  });
}

/** OPERATOR_IMAGE replaces the image of the manifest, for a Kubernetes that cannot pull that one. */
function applyLine(image: string | undefined): string {
  if (image === undefined) return `kubectl apply -f ${manifest}`;
  return `sed 's|image: .*|image: ${image}|' ${manifest} | kubectl apply -f -`;
}

/** Whether the running operator has another digest than the image that was just loaded. */
async function runsAnother(digest: string): Promise<boolean> {
  const ids = await shell(
    `kubectl get pods -l ${selector} -o 'jsonpath={range .items[*].status.containerStatuses[*]}{.imageID}{"\\n"}{end}'`,
  );
  return ids.split("\n").some((id) => id !== "" && !id.endsWith(digest));
}

/** As in `etcd-operator-6d4b75cb6d-hwmxn Running` or `… ErrImagePull`. */
async function podStates(): Promise<string> {
  const lines = await shell(`kubectl get pods -l ${selector} --no-headers`).catch(() => "");
  const states = lines
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .flatMap(([name, , state]) => (name === undefined || state === undefined ? [] : [`${name} ${state}`]));
  return states.join(", ") || "no pod yet";
}

function advice(target: Target): string {
  const commands = "kubectl describe pods -l name=etcd-operator; kubectl logs deployment/etcd-operator";
  if (target.t === "lab") return `Find out more with: ${commands}`;
  return `If its image cannot be pulled, name one that can with OPERATOR_IMAGE=…; otherwise find out more with: ${commands}`;
}

/** Calls `glance` every second while the work lasts, to show what it waits for. */
async function withProgress<T>(work: () => Promise<T>, glance: () => Promise<void>): Promise<T> {
  const timer = setInterval(() => void glance(), 1_000);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

if (import.meta.main)
  await command(async (args, signal) => {
    const target = await findTarget(args, signal);
    await deployOperator(target, signal);
    say(green("The operator is ready. A first cluster:"));
    for (const line of [howToUse(target), "kubectl apply -f example/example-etcd-cluster-3.6.yaml"])
      if (line !== "") say(`  ${line}`);
    say(dim("More: docs/clusters.md"));
  });
