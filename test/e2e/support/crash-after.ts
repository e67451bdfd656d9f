// Preloaded into an operator (`node --import`): counts its writes to Kubernetes and to etcd (members, leader, downgrades),
// prints each to standard error, and kills the process right after write number CRASH_AFTER: the server has carried it
// out, and the operator has not seen the response.
import { writeSync } from "node:fs";
import { Http2Origin, type Receiver, type ResponseEnd, type TransportRequest } from "../../../src/transport/origin.ts";

const lastChange = Number(process.env["CRASH_AFTER"] ?? Number.POSITIVE_INFINITY);
const changesOfEtcd =
  /\/etcdserverpb\.Cluster\/(?<change>Member(?:Add|Promote|Remove|Update))$|\.Maintenance\/(?<other>MoveLeader|Downgrade)$/;
const changesOfKubernetes = new Set(["POST", "PUT", "PATCH", "DELETE"]);
/** Leases and events do not count: no decision depends on them. Nor does a dry run, which changes nothing. */
const ignored = /\/(leases|events)(\/|\?|$)|[?&]dryRun=/;

/** As in `POST pods`; undefined when the request is no write that counts. */
function changeOf({ method, path }: TransportRequest): string | undefined {
  const { change, other } = changesOfEtcd.exec(path)?.groups ?? {};
  if (change !== undefined || other !== undefined) return change ?? other;
  if (path.startsWith("/etcdserverpb.") || !changesOfKubernetes.has(method) || ignored.test(path)) return undefined;
  const [, resource = path, subresource] = /\/namespaces\/[^/]+\/(\w+)(?:\/[^/?]+)?(?:\/(\w+))?/.exec(path) ?? [];
  return `${method} ${resource}${subresource === undefined ? "" : `/${subresource}`}`;
}

function isDone({ status, headers, trailers }: ResponseEnd): boolean {
  const grpc = trailers["grpc-status"] ?? headers["grpc-status"];
  return grpc === undefined ? status >= 200 && status < 300 : grpc === "0";
}

// The test that started it is gone.
process.stdin.on("end", () => process.exit(1)).resume();

let changes = 0;
let inFlight = 0;

/** Writes that were sent at the same time are carried out and counted, too: what no response tells of cannot be compared. */
function dieIfDue(): Promise<never> | undefined {
  if (changes < lastChange) return undefined;
  if (inFlight === 0) process.kill(process.pid, "SIGKILL");
  return new Promise(() => {});
}

// oxlint-disable-next-line typescript/unbound-method -- called with its own `this` below
const send = Http2Origin.prototype.send;
Http2Origin.prototype.send = async function (request: TransportRequest, receiver: Receiver): Promise<ResponseEnd> {
  const change = changeOf(request);
  if (change === undefined) return send.call(this, request, receiver);
  await dieIfDue();
  inFlight += 1;
  try {
    const end = await send.call(this, request, receiver);
    if (isDone(end)) {
      changes += 1;
      writeSync(2, `${JSON.stringify({ change })}\n`);
    }
    return end;
  } finally {
    inFlight -= 1;
    await dieIfDue();
  }
};
