// `make deploy`: the operator on its Kubernetes, installed or brought up to date. Safe to run again: what is right is
// left alone, and an operator that runs an older build of the same version is restarted.
import { loadOperatorImage } from "../lab/image.ts";
import { dim, green, say, step } from "../lab/progress.ts";
import { command } from "./command.ts";
import { findGround, type Ground, howToUse } from "./ground.ts";
import { shell, type } from "./typed.ts";

const manifest = "example/deployment.yaml";
const selector = "name=etcd-operator";
const patienceSeconds = 120;

export async function deployOperator(ground: Ground, signal: AbortSignal): Promise<void> {
  const digest = ground.t === "lab" ? (await loadOperatorImage(ground.lab)).digest : undefined;
  const outdated = digest !== undefined && (await runsAnother(digest));
  await type("example/rbac/create_role.sh", { signal });
  await type(applyLine(process.env["OPERATOR_IMAGE"]), { signal });
  if (outdated) await type("kubectl rollout restart deployment/etcd-operator", { signal });
  const wait = `kubectl rollout status deployment/etcd-operator --timeout=${patienceSeconds}s`;
  await step(wait, async (progress) => {
    try {
      await withGlances(
        () => shell(wait, { signal }),
        async () => progress.detail(await podStates()),
      );
    } catch (error) {
      const states = await podStates();
      throw new Error(`The operator did not become available in ${patienceSeconds} s: ${states}. ${advice(ground)}`, {
        cause: error,
      });
    }
  });
}

/** Another image than the manifest's, for a Kubernetes that cannot get that one. */
function applyLine(image: string | undefined): string {
  if (image === undefined) return `kubectl apply -f ${manifest}`;
  return `sed 's|image: .*|image: ${image}|' ${manifest} | kubectl apply -f -`;
}

/** Whether an operator runs on another content of the image than the one that was just loaded under its name. */
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
  return states.join(", ") || "it has no pod yet";
}

function advice(ground: Ground): string {
  const look = "kubectl describe pods -l name=etcd-operator; kubectl logs deployment/etcd-operator";
  if (ground.t === "lab") return `Look closer with: ${look}`;
  return `If its image cannot be pulled, name one that can with OPERATOR_IMAGE=…; otherwise look closer with: ${look}`;
}

/** While the work lasts, looks every second, so that a waiting person sees what it waits for. */
async function withGlances<T>(work: () => Promise<T>, glance: () => Promise<void>): Promise<T> {
  const timer = setInterval(() => void glance(), 1_000);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

if (import.meta.main)
  await command(async (args, signal) => {
    const ground = await findGround(args, signal);
    await deployOperator(ground, signal);
    say(green("The operator is ready. A first cluster:"));
    for (const line of [howToUse(ground), "kubectl apply -f example/example-etcd-cluster-3.6.yaml"])
      if (line !== "") say(`  ${line}`);
    say(dim("docs/clusters.md tells the rest."));
  });
