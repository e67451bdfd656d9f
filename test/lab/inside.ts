// Asks from inside a pod's network, without the API server: what a pod reaches, and how long it takes.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { run, tryRun } from "../../lab/machine/command.ts";
import type { RunningPod } from "../../lab/nodes/pods.ts";

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
let timer;
const end = () => { console.log(got); process.exit(0); };
const endSoon = () => { clearTimeout(timer); timer = setTimeout(end, quiet); };
socket.on("message", () => {
  got += 1;
  if (got === count) end();
  if (timer !== undefined) endSoon();
});
process.stdin.on("end", endSoon).resume();
socket.bind(7777, () => console.log("listens"));`;

const send = `
const [host, count] = process.argv.slice(1);
const socket = require("node:dgram").createSocket("udp4");
const one = (left) => left === 0 ? socket.close() : socket.send("x", 7777, host, () => setImmediate(one, left - 1));
one(Number(count));`;

/** How many of the datagrams arrive. Once all are sent, the receiver waits until none came for a while. */
export async function datagramsThrough(from: RunningPod, to: RunningPod, count: number): Promise<number> {
  const [program, args] = inPod(to, receive, count, 1_000);
  const receiver = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
  receiver.stdin.on("error", () => undefined); // it has ended: all have arrived
  const lines = createInterface({ input: receiver.stdout })[Symbol.asyncIterator]();
  try {
    // What is sent before the receiver listens would be lost without any fault.
    assert.equal((await lines.next()).value, "listens");
    await run(...inPod(from, send, to.address, count));
    receiver.stdin.end();
    return Number((await lines.next()).value);
  } finally {
    receiver.kill("SIGKILL");
  }
}
