// The lab's command line: `node lab/main.ts up | down | status | fault … | audit …`.
import { parseArgs } from "node:util";
import { defaultKubernetes, kubeconfigPath, type LabConfig, labConfig, mostNodes, UsageError } from "./config.ts";
import { down } from "./down.ts";
import { red, say, seconds } from "./progress.ts";
import { readRecord } from "./machine/registry.ts";
import { status } from "./status.ts";
import { up } from "./up.ts";

const help = `A real Kubernetes on this machine: control plane, nodes, networks, DNS. It has no route to the outside.

node lab/main.ts up [options]        start a lab, building what is missing first
node lab/main.ts down [--name NAME]  stop it and remove every trace
node lab/main.ts status              the labs of this machine
node lab/main.ts image [--name NAME] build the operator image and load it into every node
node lab/main.ts fault …             break something on purpose, and undo it ("fault --help")
node lab/main.ts audit …             count requests to the API server ("audit --help")

  --name NAME          which lab, when there are several (default: lab)
  --subnet RANGE       a private /16 of its own (default: 10.99.0.0/16)
  --nodes NUMBER       1 to ${mostNodes} (default: 3)
  --kubernetes VERSION (default: ${defaultKubernetes})
  --help               this text`;

type Extension = { main(lab: LabConfig, args: string[]): Promise<void> };

const extensions: Readonly<Record<string, () => Promise<Extension>>> = {
  fault: () => import("./faults/main.ts"),
  audit: () => import("./audit/audit.ts"),
  image: () => import("./image.ts"),
};

/** The configuration that the lab was started with. */
function recorded(name: string | undefined): LabConfig {
  const lab = labConfig(name === undefined ? {} : { name });
  const record = readRecord(lab.name);
  return record !== undefined && record.state === lab.state ? record : lab;
}

/** Takes `--name NAME` out of the arguments; the rest belong to the extension. */
function splitName(args: readonly string[]): { name: string | undefined; rest: string[] } {
  const rest = [...args];
  const at = rest.findIndex((arg) => arg === "--name" || arg.startsWith("--name="));
  if (at === -1) return { name: undefined, rest };
  const [flag = ""] = rest.splice(at, 1);
  return { name: flag === "--name" ? rest.splice(at, 1)[0] : flag.slice("--name=".length), rest };
}

/** Aborts at the first Ctrl-C; later ones must not interrupt the cleanup. */
function interruption(): AbortSignal {
  const interrupted = new AbortController();
  const onSignal = (): void => {
    if (interrupted.signal.aborted) say("Still cleaning up; this takes a few seconds.");
    else say("Interrupted: cleaning up.");
    interrupted.abort(new UsageError("The start was interrupted; everything it created is removed."));
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  return interrupted.signal;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

async function main(argv: readonly string[]): Promise<void> {
  const [first = "", ...args] = argv;
  const extension = extensions[first];
  if (extension !== undefined) {
    const { name, rest } = splitName(args);
    return (await extension()).main(recorded(name), rest);
  }
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      name: { type: "string" },
      subnet: { type: "string" },
      nodes: { type: "string" },
      kubernetes: { type: "string" },
      help: { type: "boolean", short: "h" },
    },
  });
  const [command, surplus] = positionals;
  if (values.help === true || command === undefined) return print(help);
  if (surplus !== undefined) throw new UsageError(`"${command}" takes no argument "${surplus}".`);
  const { help: _, nodes, ...named } = values;
  switch (command) {
    case "up":
      return upCommand(labConfig({ ...named, ...(nodes === undefined ? {} : { nodes: Number(nodes) }) }));
    case "down":
      return downCommand(recorded(values.name));
    case "status":
      return print(await status());
    default:
      throw new UsageError(`"${command}" is not a command of the lab; --help lists them.`);
  }
}

async function upCommand(lab: LabConfig): Promise<void> {
  const result = await up(lab, { signal: interruption() });
  if (result.t === "running") say(`The lab "${lab.name}" is up already.`);
  else say(`${lab.name} up: ${lab.nodes} nodes Ready in ${seconds(result.milliseconds)}`);
  say(`export KUBECONFIG=${kubeconfigPath(lab)}`);
}

async function downCommand(lab: LabConfig): Promise<void> {
  interruption();
  const result = await down(lab);
  if (result.t === "nothing") say(`There is no lab "${lab.name}".`);
  else say(`${lab.name} down in ${seconds(result.milliseconds)}`);
}

/** A mistake of the person is one sentence; anything else is a bug, and is printed with its stack. */
function complain(error: unknown): void {
  const usage =
    error instanceof UsageError ||
    (error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS"));
  if (usage) say(red(error.message));
  else say(red(error instanceof Error ? (error.stack ?? error.message) : String(error)));
  process.exitCode = usage ? 2 : 1;
}

await main(process.argv.slice(2)).catch(complain);
