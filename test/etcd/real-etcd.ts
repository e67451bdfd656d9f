// Real etcd processes on loopback, each with its data in a temporary folder, for what the in-memory cluster cannot
// show. No process and no file outlives the test.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ensureBuilt } from "../../lab/build/cache.ts";
import { type EtcdVersion as Built, etcdRecipe } from "../../lab/build/etcd.ts";
import { EtcdError } from "../../src/etcd/errors.ts";
import type { Login } from "../../src/etcd/login.ts";
import type { EtcdMember, Member } from "../../src/etcd/member.ts";
import { type ClientTls, EtcdMembers } from "../../src/etcd/members.ts";
import { Http2Origin } from "../../src/transport/origin.ts";
import { AuthAdmin } from "./auth-admin.ts";
import { patient } from "./patient-member.ts";
import { freePort } from "../../lab/machine/free-port.ts";
import { untilStopped } from "../../lab/machine/stopped.ts";
import { comesTrue, type EtcdWorld } from "../../src/etcd/testing/world.ts";
import { hasFlag } from "../../src/etcd/versions/flags.ts";
import { type EtcdVersion, version } from "../../src/etcd/versions/version.ts";
import { type Bundle, type SecretUse, writeBundle } from "../../src/tls/pem.ts";

export async function etcdProgram(built: Built): Promise<string> {
  return path.join(await ensureBuilt(await etcdRecipe(built)), "etcd");
}

/** In which a process ends after SIGTERM. */
const graceMs = 15_000;

export interface ServerTls {
  /** The members' certificate, and the CA of the clients that they accept. */
  readonly server: { readonly cert: string; readonly key: string; readonly clientCa: string };
  readonly client: ClientTls;
  readonly serverName?: string;
}

interface RealEtcdOptions {
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly tls?: ServerTls;
  /** Members speak TLS with one another, each with this. */
  readonly peerTls?: Bundle;
  /** Where members listen for peers. Connections on loopback come from 127.0.0.1 all the same. */
  readonly peerHost?: "127.0.0.2" | "localhost";
  /** `initial-cluster` and its state come from `env` and not from flags. */
  readonly initialCluster?: "byVariables";
  /** Listen for clients at the wildcard address, as members in pods do. Default: on loopback. */
  readonly everywhere?: true;
}

interface Process {
  peerUrl: string;
  clientUrl: string;
  readonly metricsUrl: string;
  /** The program of the version that it runs now. */
  program: string;
  args: string[];
  /** Set later, in place of those in `args`. */
  readonly flags: Record<string, string | undefined>;
  child: ChildProcess | undefined;
}

export class RealEtcd implements EtcdWorld {
  readonly version: EtcdVersion;
  readonly members: EtcdMembers = new EtcdMembers();
  readonly #folder: string;
  readonly #options: RealEtcdOptions;
  readonly #processes: ReadonlyMap<string, Process>;
  readonly #users: AuthAdmin;
  /** Once authentication is on. */
  #login: Login | undefined;
  #origin: Http2Origin | undefined;

  private constructor(built: Built, folder: string, options: RealEtcdOptions, processes: ReadonlyMap<string, Process>) {
    this.version = version(built);
    this.#folder = folder;
    this.#options = options;
    this.#processes = processes;
    this.#users = new AuthAdmin({ send: (request, receiver) => this.#toFirst.send(request, receiver) });
  }

  /** A cluster of one running member, m0, and addresses for four more. */
  static async start(built: Built, options: RealEtcdOptions = {}): Promise<RealEtcd> {
    const etcd = await RealEtcd.#prepare(built, options);
    try {
      await etcd.#bootstrap("m0", ["m0"]);
      await etcd.#answers("m0");
    } catch (error) {
      await etcd[Symbol.asyncDispose]();
      throw error;
    }
    return etcd;
  }

  /** Like `start`, with data that is made before. */
  static async startOn(
    built: Built,
    makeData: (member: { name: string; peerUrl: string; dataDir: string }) => Promise<void>,
    { login, ...options }: RealEtcdOptions & { readonly login?: Login } = {},
  ): Promise<RealEtcd> {
    const etcd = await RealEtcd.#prepare(built, options);
    etcd.#login = login;
    try {
      await makeData({ name: "m0", peerUrl: etcd.peerUrl("m0"), dataDir: etcd.dataDir("m0") });
      await etcd.#bootstrap("m0", ["m0"]);
      await etcd.#answers("m0");
    } catch (error) {
      await etcd[Symbol.asyncDispose]();
      throw error;
    }
    return etcd;
  }

  /** The same with several members. Without data none of them would start. */
  static async startTogetherOn(
    built: Built,
    size: number,
    makeData: (members: readonly { name: string; peerUrl: string; dataDir: string }[]) => Promise<void>,
  ): Promise<RealEtcd> {
    const etcd = await RealEtcd.#prepare(built, {});
    const names = [...etcd.#processes.keys()].slice(0, size);
    try {
      await makeData(names.map((name) => ({ name, peerUrl: etcd.peerUrl(name), dataDir: etcd.dataDir(name) })));
      const list = names.map((name) => `${name}=${etcd.peerUrl(name)}`).join(",");
      for (const name of names)
        await etcd.#run(name, [`--initial-cluster=${list}`, "--initial-cluster-state=existing"]);
      await Promise.all(names.map((name) => etcd.#answers(name)));
    } catch (error) {
      await etcd[Symbol.asyncDispose]();
      throw error;
    }
    return etcd;
  }

  /** A new cluster of this many members, which start at the same time. */
  static async startCluster(built: Built, size: number, options: RealEtcdOptions = {}): Promise<RealEtcd> {
    const etcd = await RealEtcd.launchCluster(built, size, options);
    try {
      await Promise.all([...etcd.#processes.keys()].slice(0, size).map((name) => etcd.#answers(name)));
    } catch (error) {
      await etcd[Symbol.asyncDispose]();
      throw error;
    }
    return etcd;
  }

  /** Like `startCluster`, without waiting until they answer. */
  static async launchCluster(built: Built, size: number, options: RealEtcdOptions = {}): Promise<RealEtcd> {
    const etcd = await RealEtcd.#prepare(built, options);
    const names = [...etcd.#processes.keys()].slice(0, size);
    for (const name of names) await etcd.#bootstrap(name, names);
    return etcd;
  }

  /** The process of m0 alone, of a new cluster that needs m1 for its first leader; `completeNewCluster` starts m1. */
  static async startWithoutQuorum(built: Built, options: RealEtcdOptions = {}): Promise<RealEtcd> {
    const etcd = await RealEtcd.#prepare(built, options);
    await etcd.#bootstrap("m0", ["m0", "m1"]);
    return etcd;
  }

  async completeNewCluster(): Promise<void> {
    await this.#bootstrap("m1", ["m0", "m1"]);
    await Promise.all([this.#answers("m0"), this.#answers("m1")]);
  }

  static async #prepare(built: Built, options: RealEtcdOptions): Promise<RealEtcd> {
    const program = await etcdProgram(built);
    const folder = await mkdtemp(path.join(tmpdir(), `etcd-${built}-`));
    const names = ["m0", "m1", "m2", "m3", "m4"];
    const ports = await Promise.all(Array.from({ length: 3 * names.length }, () => freePort(everywhere(options))));
    const scheme = options.tls ? "https" : "http";
    const processes = new Map(
      names.map((name, index) => [
        name,
        {
          peerUrl: `${options.peerTls ? "https" : "http"}://${options.peerHost ?? "127.0.0.1"}:${ports[3 * index]}`,
          clientUrl: `${scheme}://127.0.0.1:${ports[3 * index + 1]}`,
          metricsUrl: `http://127.0.0.1:${ports[3 * index + 2]}`,
          program,
          args: [],
          flags: {},
          child: undefined,
        },
      ]),
    );
    return new RealEtcd(built, folder, options, processes);
  }

  clientUrl(name: string): string {
    return this.#process(name).clientUrl;
  }

  dataDir(name: string): string {
    return path.join(this.#folder, name);
  }

  /** Nobody listens there before 3.3. */
  metricsUrl(name: string): string {
    return this.#process(name).metricsUrl;
  }

  peerUrl(name: string): string {
    return this.#processes.get(name)?.peerUrl ?? `http://127.0.0.1:1/${name}`;
  }

  member(name: string, login?: Login, members: EtcdMembers = this.members): EtcdMember {
    const tls = this.clientUrl(name).startsWith("https") ? this.#options.tls : undefined;
    return patient(
      members.at({
        url: this.clientUrl(name),
        ...(login && { login }),
        ...(tls ? { tls: tls.client } : {}),
        ...(tls?.serverName === undefined ? {} : { serverName: tls.serverName }),
      }),
    );
  }

  async setUser(login: Login, roles: readonly string[]): Promise<void> {
    await this.#users.setUser(login, roles);
  }

  async enableAuth(by: Login): Promise<void> {
    await this.#users.enable(by);
    this.#login = by;
  }

  async disableAuth(): Promise<void> {
    await this.#users.disable();
    this.#login = undefined;
  }

  /** An address where no peer can dial it. */
  placeholderUrl(name: string): string {
    return `unix://${name}.example:2380`;
  }

  async join(name: string): Promise<void> {
    await this.launch(name);
    await this.#answers(name);
  }

  /** Like `join`, without waiting until it answers. It may be listed by its placeholder URL, and be of another version. */
  async launch(name: string, built?: Built): Promise<void> {
    if (built !== undefined) this.#process(name).program = await etcdProgram(built);
    const isOwn = ({ peerUrls }: Member): boolean =>
      [this.peerUrl(name), this.placeholderUrl(name)].some((url) => peerUrls.includes(url));
    const listed = await comesTrue(
      this,
      "a member lists the others",
      () => this.member("m0", this.#login).memberList({ linearizable: false }),
      ({ members }) => members.some(isOwn),
    );
    const initial = listed.members.map((member) => {
      const own = isOwn(member);
      return member.peerUrls.map((url) => `${own ? name : member.name || member.id}=${url}`).join(",");
    });
    await this.#run(name, [`--initial-cluster=${initial.join(",")}`, "--initial-cluster-state=existing"]);
  }

  async kill(name: string): Promise<void> {
    const { child } = this.#process(name);
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  }

  /** Stops a process with SIGSTOP; resolves when none of its threads runs any more. */
  async freeze(name: string): Promise<void> {
    const { child } = this.#process(name);
    if (!child?.pid) throw new Error(`${name} does not run`);
    child.kill("SIGSTOP");
    await untilStopped(child.pid);
  }

  thaw(name: string): void {
    this.#process(name).child?.kill("SIGCONT");
  }

  async revive(name: string): Promise<void> {
    this.#spawn(name);
    await this.#answers(name);
  }

  /** Ends a process as a kubelet does and starts it with its data in another version; resolves when it answers. */
  async change(name: string, built: Built): Promise<void> {
    await this.stop(name);
    await this.startAs(name, built);
    await this.#answers(name);
  }

  /** Starts an ended process with its data in this version, without waiting until it answers. */
  async startAs(name: string, built: Built): Promise<void> {
    this.#process(name).program = await etcdProgram(built);
    this.#spawn(name);
  }

  /** Ends a process by SIGTERM; a leader hands over first. One that does not end is killed, as a kubelet does. */
  async stop(name: string): Promise<void> {
    const { child } = this.#process(name);
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGTERM");
    const patience = setTimeout(() => child.kill("SIGKILL"), graceMs);
    await gone;
    clearTimeout(patience);
  }

  /** Ends a process by SIGTERM and starts it with its data, and with flags that were changed in between. */
  async restart(name: string): Promise<void> {
    await this.stop(name);
    await this.revive(name);
  }

  /** From its next start on, in place of those that it has; undefined removes a flag. */
  setFlags(name: string, flags: Readonly<Record<string, string | undefined>>): void {
    Object.assign(this.#process(name).flags, flags);
  }

  /** From its next start on, its peers reach it in this way. Its URL in the list of members is another matter. */
  listenForPeersWith(name: string, scheme: "http" | "https"): void {
    const member = this.#process(name);
    member.peerUrl = member.peerUrl.replace(/^https?/, scheme);
    this.setFlags(name, { "listen-peer-urls": member.peerUrl, "initial-advertise-peer-urls": member.peerUrl });
  }

  /** From its next start on, clients reach it in this way. */
  listenForClientsWith(name: string, scheme: "http" | "https"): void {
    const member = this.#process(name);
    member.clientUrl = member.clientUrl.replace(/^https?/, scheme);
    this.setFlags(name, { "listen-client-urls": member.clientUrl, "advertise-client-urls": member.clientUrl });
  }

  /** Changes the files under a running member, each at once, as a kubelet does. Its next start needs `tlsFlags`. */
  async putCertificates(name: string, use: SecretUse, bundle: Bundle): Promise<void> {
    await mkdir(this.#tlsFolder(name), { recursive: true });
    for (const [file, text] of Object.entries(writeBundle(use, bundle))) {
      const target = path.join(this.#tlsFolder(name), file);
      await writeFile(`${target}.new`, text);
      await rename(`${target}.new`, target);
    }
  }

  /** With which a member uses what `putCertificates` put there. */
  tlsFlags(name: string, use: "peer" | "server"): Record<string, string> {
    const file = (end: string): string => path.join(this.#tlsFolder(name), `${use}${end}`);
    const prefix = use === "peer" ? "peer-" : "";
    return {
      [`${prefix}cert-file`]: file(".crt"),
      [`${prefix}key-file`]: file(".key"),
      [`${prefix}trusted-ca-file`]: file("-ca.crt"),
      [`${prefix}client-cert-auth`]: "true",
    };
  }

  hasEnded(name: string): boolean {
    const { child } = this.#process(name);
    return child !== undefined && (child.exitCode !== null || child.signalCode !== null);
  }

  async fillUp(): Promise<void> {
    const piece = Buffer.alloc(1 << 20, "x");
    for (let at = 0; at < 64; at += 1) {
      try {
        await this.member("m0").put(`fill/${at}`, piece);
      } catch (error) {
        if (error instanceof EtcdError && error.reason === "noSpace") return;
        throw error;
      }
    }
    throw new Error("64 MB were written: the quota is not in force");
  }

  /** As a corruption check does when this member's data differs. From 3.4 on. */
  async raiseCorrupt(name: string): Promise<void> {
    const { members } = await this.member("m0").memberList({ linearizable: true });
    const id = members.find((member) => member.name === name)?.id ?? "";
    const response = await fetch(`${this.clientUrl("m0")}/v3/maintenance/alarm`, {
      method: "POST",
      body: JSON.stringify({ action: "ACTIVATE", memberID: BigInt(`0x${id}`).toString(), alarm: "CORRUPT" }),
    });
    if (!response.ok) throw new Error(`the alarm was not raised: ${response.status} ${await response.text()}`);
  }

  letTimePass(): Promise<void> {
    return delay(100);
  }

  /** How often it has become leader, by its own log. */
  elections(name: string): number {
    return this.logOf(name).match(/became leader at term/g)?.length ?? 0;
  }

  logOf(name: string): string {
    return readFileSync(this.#logFile(name), "utf8");
  }

  get log(): string {
    return [...this.#processes]
      .filter(([, { child }]) => child)
      .map(([name]) => `${name}: ${this.logOf(name).split("\n").slice(-8).join("\n")}`)
      .join("\n");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.members.close();
    this.#origin?.close();
    await Promise.all([...this.#processes.keys()].map((name) => this.kill(name)));
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #bootstrap(name: string, cluster: readonly string[]): Promise<void> {
    const initial = cluster.map((member) => `${member}=${this.peerUrl(member)}`).join(",");
    const flags = [`--initial-cluster=${initial}`, "--initial-cluster-state=new"];
    await this.#run(name, this.#options.initialCluster === "byVariables" ? [] : flags);
  }

  async #run(name: string, membership: string[]): Promise<void> {
    const process = this.#process(name);
    const { everywhere, flags = [] } = this.#options;
    process.args = [
      `--name=${name}`,
      `--data-dir=${this.dataDir(name)}`,
      `--listen-peer-urls=${process.peerUrl.replace("localhost", "127.0.0.1")}`,
      `--initial-advertise-peer-urls=${process.peerUrl}`,
      `--listen-client-urls=${everywhere === true ? process.clientUrl.replace("127.0.0.1", "0.0.0.0") : process.clientUrl}`,
      `--advertise-client-urls=${process.clientUrl}`,
      "--initial-cluster-token=contract",
      ...membership,
      ...(hasFlag(this.version, "unsafe-no-fsync") ? ["--unsafe-no-fsync"] : []),
      // At the default cost a login is a tenth of a second of hashing, and on a busy machine many seconds.
      ...(hasFlag(this.version, "bcrypt-cost") ? ["--bcrypt-cost=4"] : []),
      ...(await this.#tlsFlags(name)),
      ...flags,
    ];
    this.#spawn(name);
  }

  #spawn(name: string): void {
    const member = this.#process(name);
    const log = openSync(this.#logFile(name), "a");
    // The kernel kills it with this process, in case that one is killed before it can clean up.
    const args = ["--pdeathsig", "KILL", "--", member.program, ...flagsOf(member)];
    const env = { ...process.env, ETCD_LISTEN_METRICS_URLS: member.metricsUrl, ...this.#options.env };
    member.child = spawn("setpriv", args, { stdio: ["ignore", log, log], env });
    closeSync(log);
  }

  async #answers(name: string): Promise<void> {
    const { child } = this.#process(name);
    const status = (): Promise<unknown> => {
      if (child && child.exitCode !== null) throw new Error(`${name} exited with ${child.exitCode}\n${this.log}`);
      return this.member(name, this.#login).status();
    };
    await comesTrue(this, `${name} answers`, status, () => true);
  }

  get #toFirst(): Http2Origin {
    const { client } = this.#options.tls ?? {};
    this.#origin ??= new Http2Origin(this.clientUrl("m0"), {
      ...(client && { tls: () => ({ ca: client.ca, ...client.identity }) }),
    });
    return this.#origin;
  }

  async #tlsFlags(name: string): Promise<string[]> {
    const { tls, peerTls } = this.#options;
    const given = [
      ...(tls ? [["server", { ca: tls.server.clientCa, pair: tls.server }] as const] : []),
      ...(peerTls ? [["peer", peerTls] as const] : []),
    ];
    for (const [use, bundle] of given) await this.putCertificates(name, use, bundle);
    return given.flatMap(([use]) =>
      Object.entries(this.tlsFlags(name, use)).map(([flag, value]) => `--${flag}=${value}`),
    );
  }

  #tlsFolder(name: string): string {
    return path.join(this.#folder, `${name}-tls`);
  }

  #process(name: string): Process {
    const process = this.#processes.get(name);
    if (!process) throw new Error(`there is no ${name}`);
    return process;
  }

  #logFile(name: string): string {
    return path.join(this.#folder, `${name}.log`);
  }
}

/** Who listens everywhere needs a port that is free everywhere. */
const everywhere = (options: RealEtcdOptions): string => (options.everywhere ? "0.0.0.0" : "127.0.0.1");

function flagsOf({ args, flags }: Process): string[] {
  const kept = args.filter((arg) => !Object.keys(flags).some((flag) => arg.startsWith(`--${flag}=`)));
  return [
    ...kept,
    ...Object.entries(flags).flatMap(([flag, value]) => (value === undefined ? [] : [`--${flag}=${value}`])),
  ];
}
