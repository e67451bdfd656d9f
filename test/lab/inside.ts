// Asks from inside a pod's network, without the API server: what a pod reaches, and how long it takes.
import { run, tryRun } from "../../lab/machine/command.ts";
import type { RunningPod } from "../../lab/nodes/pods.ts";
import { waitFor } from "../../lab/progress.ts";

const inPod = (pod: RunningPod, script: string, ...args: (string | number)[]): [string, string[]] => [
  "nsenter",
  [`--net=/proc/${pod.containers[0]?.pid}/ns/net`, process.execPath, "--eval", script, ...args.map(String)],
];

const request = `
const [host, timeout] = process.argv.slice(1);
const began = performance.now();
const request = require("node:http").get({ host, port: 8080, agent: false }, (response) => {
  response.resume().on("end", () => { console.log(performance.now() - began); process.exit(0); });
});
request.on("error", () => process.exit(1));
setTimeout(() => process.exit(1), Number(timeout));`;

/** Milliseconds until the whole answer was there; undefined when there was none in time. */
export async function answerTime(from: RunningPod, address: string, timeoutMs = 1_000): Promise<number | undefined> {
  const printed = await tryRun(...inPod(from, request, address, timeoutMs));
  return printed === undefined ? undefined : Number(printed);
}

const receive = `
const [count, quiet] = process.argv.slice(1).map(Number);
const socket = require("node:dgram").createSocket("udp4");
let got = 0;
const end = () => { console.log(got); process.exit(0); };
let timer = setTimeout(end, 6_000); // longer than the sender waits for this to listen
socket.on("message", () => {
  got += 1;
  clearTimeout(timer);
  if (got === count) end();
  timer = setTimeout(end, quiet);
});
socket.bind(7777);`;

const send = `
const [host, count] = process.argv.slice(1);
const socket = require("node:dgram").createSocket("udp4");
const one = (left) => left === 0 ? socket.close() : socket.send("x", 7777, host, () => setImmediate(one, left - 1));
one(Number(count));`;

/** How many of so many datagrams arrive; the receiver waits until none came for a while. */
export async function datagramsThrough(from: RunningPod, to: RunningPod, count: number): Promise<number> {
  const received = run(...inPod(to, receive, count, 500));
  // What is sent before the receiver listens would be lost without any fault.
  await waitFor("the receiver to listen", () => tryRun(...inPod(to, bound)), { timeoutMs: 5_000 });
  await run(...inPod(from, send, to.address, count));
  return Number(await received);
}

const bound = `process.exit(require("node:fs").readFileSync("/proc/self/net/udp", "utf8").includes(":1E61 ") ? 0 : 1)`;
