import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import * as fc from "fast-check";
import { anchorsIn, bundleFingerprint, signerOf } from "./ca-bundle.ts";
import { type ClientNext, type ClientSecret, type ClientSide, nextOnClientSide } from "./client-trust.ts";
import type { Bundle } from "./pem.ts";
import { type Letter, letters, makePool, now, type CertificatePlan, type Pool, signs } from "./testing/certificates.ts";

let pool: Pool;
before(async () => {
  pool = await makePool();
});

const grace = 1000;

/** What each Secret shall have. Two CAs: of servers, which clients trust, and of clients, which members trust. */
interface Wish {
  readonly servers: Letter;
  readonly clients: Letter;
  readonly number: 1 | 2;
}

const plansOf = ({ servers, clients, number }: Wish): Record<ClientSecret, CertificatePlan> => ({
  server: { trusts: [clients], presents: `${servers}${number}` },
  operator: { trusts: [servers], presents: `${clients}${number}` },
  applications: { trusts: [servers], presents: `${clients}${number}` },
});

/** Certificates of one CA for both, as the operator makes them. */
const of = (letter: Letter, number: 1 | 2 = 1): Wish => ({ servers: letter, clients: letter, number });

interface Member {
  process: number;
  files: number;
  readonly annotations: { readonly trusts: string; readonly anchors: string; readonly presents: string | undefined };
  hidden: boolean;
}

/** Members as in trust.test.ts, an operator that takes its Secret at once, and applications that read theirs when they like. */
class Cluster {
  readonly written: Record<ClientSecret, CertificatePlan[]> = { server: [], operator: [], applications: [] };
  readonly members: Member[] = [];
  /** Which version of their Secret they have read. */
  readonly applications: number[] = [];
  readonly log: string[] = [];
  wanted: Wish;
  time: number = now;
  #changedAt: number = now;
  readonly #hasApplications: boolean;
  readonly #evidence: "wire" | "annotation";

  constructor(first: Wish, hasApplications: boolean, evidence: "wire" | "annotation") {
    this.wanted = first;
    this.#hasApplications = hasApplications;
    this.#evidence = evidence;
    for (let steps = 0; steps < 3; steps += 1) this.reconcile(0);
    for (let n = 0; n < 3; n += 1) this.start();
    if (hasApplications) this.applications.push(0, 0);
  }

  current(secret: ClientSecret): CertificatePlan {
    const current = this.written[secret].at(-1);
    assert.ok(current);
    return current;
  }

  start(at = this.members.length): void {
    const { trusts, presents } = this.current("server");
    const version = this.written.server.length - 1;
    const ca = pool.ca(trusts);
    const annotations = { trusts: bundleFingerprint(ca), anchors: anchorsIn(ca), presents: this.#signer(presents) };
    this.members[at] = { process: version, files: version, annotations, hidden: false };
  }

  deliver(member: Member, choice: number): void {
    const ahead = this.written.server.length - 1 - member.files;
    if (ahead > 0) member.files += 1 + (choice % ahead);
  }

  read(at: number): void {
    if (this.applications.length > 0)
      this.applications[at % this.applications.length] = this.written.applications.length - 1;
  }

  /** The grace ends: every application has read its Secret by then. */
  passGrace(): void {
    for (const at of this.applications.keys()) this.read(at);
    this.time += grace;
  }

  reconcile(choice: number): ClientNext {
    const next = nextOnClientSide(this.#seen());
    this.log.push(next.t === "write" ? `${next.secret} ${JSON.stringify(pool.planOf(next.bundle))}` : next.t);
    if (next.t === "write") {
      this.written[next.secret].push(pool.planOf(next.bundle));
      if (next.startsGrace) this.#changedAt = this.time;
    } else if (next.t === "waitForRoll") {
      const fingerprint = bundleFingerprint(pool.ca(this.current("server").trusts));
      this.#roll(choice, ({ annotations }) => annotations.trusts !== fingerprint);
    } else if (next.t === "waitForLeaf" && this.#evidence === "annotation")
      this.#roll(choice, ({ annotations }) => annotations.presents !== next.signer);
    return next;
  }

  expectConnections(): void {
    const operator = this.current("operator");
    const applications = this.applications.map((version) => this.written.applications[version]);
    for (const { process, files } of this.members)
      for (const client of [operator, ...applications]) {
        const [read, served] = [this.written.server[process], this.written.server[files]];
        assert.ok(read && served && client);
        const story = `: ${JSON.stringify({ read, served, client })}\n${this.log.join("\n")}`;
        assert.ok(read.trusts.includes(signs(client.presents)), `a member refuses a client${story}`);
        assert.ok(client.trusts.includes(signs(served.presents)), `a client refuses a member${story}`);
      }
  }

  settle(): void {
    for (let steps = 0; steps < 200; steps += 1) {
      for (const member of this.members) {
        member.files = this.written.server.length - 1;
        member.hidden = false;
      }
      const next = this.reconcile(steps);
      if (next.t === "waitForApplications") this.passGrace();
      this.expectConnections();
      if (next.t === "settled") {
        const wanted = plansOf(this.wanted);
        for (const secret of ["server", "operator", "applications"] as const)
          if (this.written[secret].length > 0) assert.deepEqual(this.current(secret), wanted[secret]);
        for (const { process } of this.members)
          assert.deepEqual(this.written.server[process]?.trusts, wanted.server.trusts);
        return;
      }
    }
    assert.fail(`it does not settle\n${this.log.join("\n")}`);
  }

  #seen(): ClientSide {
    const wanted = plansOf(this.wanted);
    const party = (secret: ClientSecret): { effective: Bundle | undefined; wanted: Bundle } => {
      const current = this.written[secret].at(-1);
      return { effective: current && pool.bundle(current), wanted: pool.bundle(wanted[secret]) };
    };
    return {
      server: party("server"),
      operator: party("operator"),
      ...(this.#hasApplications
        ? { applications: { ...party("applications"), changedAt: this.#changedAt, grace } }
        : {}),
      anchors: this.members.map(({ annotations }) => annotations.anchors),
      trusted: this.members.map(({ annotations }) => annotations.trusts),
      presented: this.members.map((member) => this.#presented(member)),
      now: this.time,
    };
  }

  #presented(member: Member): string | undefined {
    if (this.#evidence === "annotation") return member.annotations.presents;
    const served = this.written.server[member.files];
    return member.hidden || !served ? undefined : this.#signer(served.presents);
  }

  #signer(presents: CertificatePlan["presents"]): string | undefined {
    return signerOf(pool.leaf(presents).cert, pool.ca(this.current("operator").trusts));
  }

  #roll(choice: number, isDue: (member: Member) => boolean): void {
    const due = this.members.flatMap((member, at) => (isDue(member) ? [at] : []));
    const at = due[choice % due.length];
    assert.ok(at !== undefined, "it waits for a roll, and no member is due");
    this.start(at);
  }
}

describe("the order towards clients", () => {
  test("clients trust both, members trust both, client leaves, grace, server leaf, and then the old CA goes", () => {
    const cluster = new Cluster(of("A"), true, "wire");
    cluster.log.length = 0;
    cluster.wanted = of("B");
    cluster.settle();
    const plan = (trusts: Letter[], presents: CertificatePlan["presents"]): string =>
      JSON.stringify({ trusts, presents });
    assert.deepEqual(cluster.log, [
      `operator ${plan(["A", "B"], "A1")}`,
      `applications ${plan(["A", "B"], "A1")}`,
      `server ${plan(["A", "B"], "A1")}`,
      "waitForRoll",
      "waitForRoll",
      "waitForRoll",
      `operator ${plan(["A", "B"], "B1")}`,
      `applications ${plan(["A", "B"], "B1")}`,
      "waitForApplications",
      `server ${plan(["A", "B"], "B1")}`,
      `server ${plan(["B"], "B1")}`,
      "waitForRoll",
      "waitForRoll",
      "waitForRoll",
      `operator ${plan(["B"], "B1")}`,
      `applications ${plan(["B"], "B1")}`,
      "settled",
    ]);
  });

  const day = 86_400_000;
  const change = (from: Wish, to: Wish, more: Partial<ClientSide>, grace = 90 * day): ClientNext => {
    const [old, wanted] = [plansOf(from), plansOf(to)];
    const both: readonly Letter[] = [from.clients, to.clients];
    const party = (secret: ClientSecret, plan: CertificatePlan) => ({
      effective: pool.bundle(plan),
      wanted: pool.bundle(wanted[secret]),
    });
    const ca = pool.ca(both);
    return nextOnClientSide({
      server: party("server", { trusts: both, presents: old.server.presents }),
      operator: party("operator", { trusts: both, presents: wanted.operator.presents }),
      applications: {
        ...party("applications", { trusts: both, presents: wanted.applications.presents }),
        changedAt: now,
        grace,
      },
      anchors: [anchorsIn(ca)],
      trusted: [bundleFingerprint(ca)],
      presented: [signerOf(pool.leaf(old.server.presents).cert, ca)],
      now,
      ...more,
    });
  };

  test("the grace of applications ends while a sixth of the life of the server's certificate is left", () => {
    const early = change(of("A"), of("B"), { now: now + 60 * day });
    assert.ok(early.t === "waitForApplications");
    assert.ok(Math.abs(early.until - (now + 75 * day)) < 3_600_000, `${(early.until - now) / day}`);
    const late = change(of("A"), of("B"), { now: now + 76 * day });
    assert.deepEqual(late.t === "write" && [late.secret, pool.planOf(late.bundle).presents], ["server", "B1"]);
  });

  test("the first Secret of applications trusts what members present for now", () => {
    const wanted = plansOf(of("B"));
    const given: CertificatePlan = { trusts: ["A"], presents: "A1" };
    const ca = pool.ca(["A"]);
    const next = nextOnClientSide({
      server: { effective: pool.bundle(given), wanted: pool.bundle(wanted.server) },
      operator: { effective: pool.bundle(given), wanted: pool.bundle(wanted.operator) },
      applications: { effective: undefined, wanted: pool.bundle(wanted.applications), changedAt: 0, grace: 90 * day },
      anchors: [anchorsIn(ca)],
      trusted: [bundleFingerprint(ca)],
      presented: [signerOf(pool.leaf("A1").cert, ca)],
      now,
    });
    assert.ok(next.t === "write" && next.secret === "applications");
    assert.deepEqual(pool.planOf(next.bundle), { trusts: ["A", "B"], presents: "B1" });
  });

  describe("after Secrets were lost, or older ones brought back", () => {
    const seen = (
      anchors: readonly Letter[],
      server: CertificatePlan,
      operator: CertificatePlan | undefined,
      before?: CertificatePlan,
    ): ClientSide => {
      const wanted = plansOf(of("B"));
      const ca = pool.ca(anchors);
      return {
        server: { effective: pool.bundle(server), wanted: pool.bundle(wanted.server) },
        operator: {
          effective: operator && pool.bundle(operator),
          wanted: pool.bundle(wanted.operator),
          before: before && pool.bundle(before),
        },
        anchors: [anchorsIn(ca)],
        trusted: [bundleFingerprint(ca)],
        presented: [undefined],
        now,
      };
    };
    const a1: CertificatePlan = { trusts: ["A"], presents: "A1" };
    const b1: CertificatePlan = { trusts: ["B"], presents: "B1" };
    const planned = (next: ClientNext) => (next.t === "write" ? [next.secret, pool.planOf(next.bundle)] : next.t);

    test("the operator gets a certificate that members trust", () =>
      assert.deepEqual(planned(nextOnClientSide(seen(["B"], b1, { trusts: ["B"], presents: "A1" }))), [
        "operator",
        b1,
      ]));
    test("one of the CA before, if they trust only that", () =>
      assert.deepEqual(planned(nextOnClientSide(seen(["A"], a1, undefined, a1))), [
        "operator",
        { trusts: ["A", "B"], presents: "A1" },
      ]));
    test("a client that does not trust the servers is given their CA", () =>
      assert.deepEqual(planned(nextOnClientSide(seen(["B"], b1, { trusts: ["A"], presents: "B1" }))), [
        "operator",
        { trusts: ["A", "B"], presents: "B1" },
      ]));
    test("members that let nobody in are started again", () =>
      assert.equal(planned(nextOnClientSide(seen(["A"], b1, b1))), "waitForRestart"));
    test("with a CA that lets the operator in", () =>
      assert.deepEqual(planned(nextOnClientSide(seen(["A"], { trusts: ["A"], presents: "B1" }, b1))), [
        "server",
        { trusts: ["A", "B"], presents: "B1" },
      ]));
  });

  test("a renewal by the same CA needs no roll and no grace", () => {
    const cluster = new Cluster(of("A"), true, "annotation");
    cluster.log.length = 0;
    cluster.wanted = of("A", 2);
    cluster.settle();
    assert.deepEqual(
      cluster.log.map((line) => line.split(" ")[0]),
      ["operator", "applications", "server", "settled"],
    );
  });

  test("what somebody damaged in a Secret is replaced before a member has to read it", () => {
    const plans = plansOf(of("A"));
    const party = (secret: ClientSecret, damage: Partial<Bundle> = {}) => {
      const wanted = pool.bundle(plans[secret]);
      return { effective: { ...wanted, ...damage }, wanted };
    };
    const rest = {
      anchors: [anchorsIn(pool.ca(["A"]))],
      trusted: [bundleFingerprint(pool.ca(["A"]))],
      presented: [undefined],
      now,
    };
    const broken = { ca: "" };
    const server = nextOnClientSide({ server: party("server", broken), operator: party("operator"), ...rest });
    assert.deepEqual(server.t === "write" && server.bundle, pool.bundle(plans.server));
    const operator = nextOnClientSide({ server: party("server"), operator: party("operator", broken), ...rest });
    assert.deepEqual(operator.t === "write" && operator.bundle, pool.bundle(plans.operator));
  });

  test("given certificates that do not trust each other are not taken over", () => {
    const side = (server: CertificatePlan, operator: CertificatePlan): ClientSide => ({
      server: { effective: pool.bundle({ trusts: ["A"], presents: "A1" }), wanted: pool.bundle(server) },
      operator: { effective: pool.bundle({ trusts: ["A"], presents: "A1" }), wanted: pool.bundle(operator) },
      anchors: [],
      trusted: [],
      presented: [],
      now,
    });
    const old: CertificatePlan = { trusts: ["A"], presents: "A1" };
    const changed: CertificatePlan = { trusts: ["B"], presents: "B1" };
    assert.equal(nextOnClientSide(side(changed, old)).t, "contradiction");
    assert.equal(nextOnClientSide(side(old, changed)).t, "contradiction");
    assert.equal(nextOnClientSide(side({ trusts: ["B"], presents: "A1" }, old)).t, "contradiction");
    assert.equal(nextOnClientSide(side(changed, changed)).t, "write");
  });
});

describe("whatever happens in whatever order", () => {
  const wish: fc.Arbitrary<Wish> = fc.record({
    servers: fc.constantFrom(...letters),
    clients: fc.constantFrom(...letters),
    number: fc.constantFrom(1 as const, 2 as const),
  });
  const event = fc.oneof(
    { weight: 8, arbitrary: fc.record({ what: fc.constant("reconcile" as const), choice: fc.nat(9) }) },
    { weight: 4, arbitrary: fc.record({ what: fc.constant("deliver" as const), at: fc.nat(9), choice: fc.nat(9) }) },
    {
      weight: 2,
      arbitrary: fc.record({
        what: fc.constantFrom("read" as const, "hide" as const, "restart" as const),
        at: fc.nat(9),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ what: fc.constantFrom("grow" as const, "shrink" as const, "grace" as const) }),
    },
    { weight: 1, arbitrary: fc.record({ what: fc.constant("wish" as const), wish }) },
  );

  for (const evidence of ["wire", "annotation"] as const)
    for (const [whose, hasApplications] of [
      ["made for applications too", true],
      ["given", false],
    ] as const)
      test(`every client can connect to every member (certificates ${whose}, evidence from the ${evidence})`, () => {
        fc.assert(
          fc.property(wish, fc.array(event, { minLength: 20, maxLength: 80 }), (first, events) => {
            const cluster = new Cluster(first, hasApplications, evidence);
            for (const event of events) {
              const member = "at" in event ? cluster.members[event.at % cluster.members.length] : undefined;
              if (event.what === "wish") cluster.wanted = event.wish;
              else if (event.what === "reconcile") cluster.reconcile(event.choice);
              else if (event.what === "grace") cluster.passGrace();
              else if (event.what === "read") cluster.read(event.at);
              else if (event.what === "grow" && cluster.members.length < 5) cluster.start();
              else if (event.what === "shrink" && cluster.members.length > 1) cluster.members.shift();
              else if (member && event.what === "hide") member.hidden = !member.hidden;
              else if (member && event.what === "deliver") cluster.deliver(member, event.choice);
              else if (member && event.what === "restart") member.process = member.files;
              cluster.expectConnections();
            }
            cluster.settle();
          }),
          { numRuns: Number(process.env["PROPERTY_RUNS"] ?? 20) },
        );
      });
});
