import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import * as fc from "fast-check";
import { anchorsIn, bundleFingerprint, signerOf } from "./ca-bundle.ts";
import { makeLeaf } from "./make.ts";
import { letters, makePool, now, type CertificatePlan, type Pool, signs } from "./testing/certificates.ts";
import { type Next, nextBundle } from "./trust.ts";

let pool: Pool;
before(async () => {
  pool = await makePool();
});

const a1: CertificatePlan = { trusts: ["A"], presents: "A1" };
const a2: CertificatePlan = { trusts: ["A"], presents: "A2" };
const b1: CertificatePlan = { trusts: ["B"], presents: "B1" };
const abA1: CertificatePlan = { trusts: ["A", "B"], presents: "A1" };
const abB1: CertificatePlan = { trusts: ["A", "B"], presents: "B1" };

describe("each step", () => {
  interface Row {
    readonly name: string;
    readonly effective: CertificatePlan | undefined;
    readonly wanted: CertificatePlan;
    /** What the two members have read. Default: the effective one. */
    readonly read?: readonly (readonly ("A" | "B")[])[];
    readonly present?: readonly ("A" | "B" | undefined)[];
    /** What the CA before has signed last. */
    readonly before?: CertificatePlan;
    readonly next: CertificatePlan | Exclude<Next["t"], "write">;
    readonly later?: number;
  }
  const day = 86_400_000;
  const rows: readonly Row[] = [
    { name: "the first certificates are written as they are", effective: undefined, wanted: a1, next: a1 },
    { name: "what is wanted and read by all is settled", effective: a1, wanted: a1, next: "settled" },
    { name: "a renewal by the same CA is written at once", effective: a1, wanted: a2, next: a2 },
    {
      name: "a renewal by the same CA does not wait for members that have to read the CA",
      effective: abA1,
      wanted: { trusts: ["B"], presents: "A2" },
      read: [["A"], ["A", "B"]],
      next: { trusts: ["A", "B"], presents: "A2" },
    },
    { name: "a new CA is trusted before its certificate is presented", effective: a1, wanted: b1, next: abA1 },
    { name: "then all members read it", effective: abA1, wanted: b1, read: [["A", "B"], ["A"]], next: "waitForRoll" },
    { name: "then its certificate is presented", effective: abA1, wanted: b1, next: abB1 },
    {
      name: "not before the one in use is presented by all: another may still be on its way",
      effective: abA1,
      wanted: b1,
      present: ["A", "B"],
      next: "waitForLeaf",
    },
    {
      name: "the old CA stays while one member presents it",
      effective: abB1,
      wanted: b1,
      present: ["A", "B"],
      next: "waitForLeaf",
    },
    { name: "and while it is unknown", effective: abB1, wanted: b1, present: ["B", undefined], next: "waitForLeaf" },
    { name: "then it is dropped", effective: abB1, wanted: b1, next: b1 },
    { name: "and all members read that", effective: b1, wanted: b1, read: [["B"], ["A", "B"]], next: "waitForRoll" },
    { name: "a wish withdrawn in time leaves what was there", effective: abA1, wanted: a1, next: a1 },
    {
      name: "another wish in the middle waits until the bundle is read",
      effective: abA1,
      wanted: a1,
      read: [["A"], ["A", "B"]],
      next: "waitForRoll",
    },
    { name: "one more CA with the same certificate is added", effective: a1, wanted: abA1, next: abA1 },
    {
      name: "an expired certificate is replaced without an order, since nobody accepts it",
      effective: a1,
      wanted: b1,
      later: 91 * day,
      next: abB1,
    },
    {
      name: "where every member trusts what is wanted it is written, whatever the Secret holds by now",
      effective: a1,
      wanted: b1,
      read: [["B"], ["B"]],
      next: abB1,
    },
    {
      name: "members that trust neither are started again",
      effective: a1,
      wanted: a1,
      read: [["B"], ["A", "B"]],
      next: "waitForRestart",
    },
    {
      name: "so are those that read another CA before the one in use was replaced",
      effective: abB1,
      wanted: b1,
      read: [["A"], ["A", "B"]],
      next: "waitForRestart",
    },
    {
      name: "a certificate is renewed by the CA before for as long as it is in use",
      effective: abA1,
      wanted: b1,
      read: [["A"], ["A"]],
      before: { trusts: ["A"], presents: "A2" },
      next: { trusts: ["A", "B"], presents: "A2" },
    },
    {
      name: "a lost Secret gets a certificate of the CA before, if members trust only that",
      effective: undefined,
      wanted: b1,
      read: [["A"], ["A"]],
      before: a2,
      next: { trusts: ["A", "B"], presents: "A2" },
    },
    {
      name: "and the one that is wanted if they trust both",
      effective: undefined,
      wanted: b1,
      read: [
        ["A", "B"],
        ["A", "B"],
      ],
      before: a2,
      next: b1,
    },
    {
      name: "members without TLS, or none, hold up nothing",
      effective: abB1,
      wanted: b1,
      read: [],
      present: [],
      next: b1,
    },
  ];
  for (const { name, effective, wanted, read, present, before, next, later = 0 } of rows)
    test(name, () => {
      const current = effective && pool.bundle(effective);
      const trusts = effective?.trusts ?? [];
      const signer = effective ? signs(effective.presents) : "A";
      const answer = nextBundle({
        effective: current,
        wanted: pool.bundle(wanted),
        before: before && pool.bundle(before),
        trusted: (read ?? [trusts, trusts]).map((set) => bundleFingerprint(pool.ca(set))),
        anchors: (read ?? [trusts, trusts]).map((set) => (set.length === 0 ? undefined : anchorsIn(pool.ca(set)))),
        presented: (present ?? [signer, signer]).map(
          (one) => one && current && signerOf(pool.leaf(`${one}1`).cert, current.ca),
        ),
        now: now + later,
      });
      if (answer.t === "write") assert.deepEqual(pool.planOf(answer.bundle), next);
      else assert.equal(answer.t, next);
    });

  test("a certificate of the CA before that was made in the same second, for other names, is taken, too", async () => {
    const [effective, wanted] = [pool.bundle(abA1), pool.bundle(b1)];
    const request = { commonName: "A", names: ["*.c.ns.svc.other.example"], use: "both" } as const;
    const before = { ca: pool.ca(["A"]), pair: await makeLeaf(pool.authority("A"), request, now) };
    const [trusted, anchors] = [[bundleFingerprint(effective.ca)], [anchorsIn(effective.ca)]];
    const answer = nextBundle({ effective, wanted, before, trusted, anchors, presented: [undefined], now });
    assert.ok(answer.t === "write");
    assert.deepEqual(answer.bundle, { ca: effective.ca, pair: before.pair });
  });

  test("what somebody damaged in the Secret is replaced before a member has to read it", () => {
    const wanted = pool.bundle(a1);
    for (const broken of [
      { ca: "", pair: { cert: "", key: "" } },
      { ...wanted, ca: "" },
      { ...wanted, ca: pool.ca(["B"]) },
    ]) {
      const trusted = [bundleFingerprint(wanted.ca)];
      const anchors = [anchorsIn(wanted.ca)];
      const answer = nextBundle({ effective: broken, wanted, trusted, anchors, presented: [undefined], now });
      assert.ok(answer.t === "write");
      assert.deepEqual(answer.bundle.pair, wanted.pair);
      assert.ok(signerOf(answer.bundle.pair.cert, answer.bundle.ca));
    }
  });
});

/** Members that read the CA when they start and the leaf when the kubelet has brought it, and a person with wishes. */
class Cluster {
  /** All that the effective Secret ever held, the current one last. */
  readonly written: CertificatePlan[] = [];
  readonly members: Member[] = [];
  wanted: CertificatePlan;
  readonly #evidence: "wire" | "annotation";
  rolls = 0;

  constructor(first: CertificatePlan, size: number, evidence: "wire" | "annotation") {
    this.wanted = first;
    this.#evidence = evidence;
    this.reconcile(0);
    for (let n = 0; n < size; n += 1) this.start();
  }

  get current(): CertificatePlan {
    const current = this.written.at(-1);
    assert.ok(current);
    return current;
  }

  start(at = this.members.length): void {
    const version = this.written.length - 1;
    const presents = signerOf(pool.leaf(this.current.presents).cert, pool.ca(this.current.trusts));
    const ca = pool.ca(this.current.trusts);
    const annotations = { trusts: bundleFingerprint(ca), anchors: anchorsIn(ca), presents };
    this.members[at] = { process: version, files: version, annotations, hidden: false };
  }

  /** The kubelet brings one of the versions that it has not brought yet. */
  deliver(member: Member, choice: number): void {
    const ahead = this.written.length - 1 - member.files;
    if (ahead > 0) member.files += 1 + (choice % ahead);
  }

  reconcile(choice: number): Next["t"] {
    const effective = this.written.length === 0 ? undefined : pool.bundle(this.current);
    const next = nextBundle({
      effective,
      wanted: pool.bundle(this.wanted),
      trusted: this.members.map(({ annotations }) => annotations.trusts),
      anchors: this.members.map(({ annotations }) => annotations.anchors),
      presented: this.members.map((member) => this.#presented(member)),
      now,
    });
    if (next.t === "write") this.written.push(pool.planOf(next.bundle));
    else if (next.t === "waitForRoll") {
      const fingerprint = bundleFingerprint(pool.ca(this.current.trusts));
      this.#roll(choice, ({ annotations }) => annotations.trusts !== fingerprint);
    } else if (next.t === "waitForLeaf" && this.#evidence === "annotation")
      this.#roll(choice, ({ annotations }) => annotations.presents !== next.signer);
    return next.t;
  }

  #presented(member: Member): string | undefined {
    if (this.#evidence === "annotation") return member.annotations.presents;
    return member.hidden
      ? undefined
      : signerOf(pool.leaf(this.#files(member).presents).cert, pool.ca(this.current.trusts));
  }

  #roll(choice: number, isDue: (member: Member) => boolean): void {
    const due = this.members.flatMap((member, at) => (isDue(member) ? [at] : []));
    const at = due[choice % due.length];
    assert.ok(at !== undefined, "it waits for a roll, and no member is due");
    this.rolls += 1;
    this.start(at);
  }

  #files({ files }: Member): CertificatePlan {
    const plan = this.written[files];
    assert.ok(plan);
    return plan;
  }

  expectConnections(): void {
    for (const one of this.members)
      for (const other of this.members) {
        const trusts = this.written[one.process]?.trusts ?? [];
        const { presents } = this.#files(other);
        assert.ok(trusts.includes(signs(presents)), `a member that trusts ${trusts.join()} is offered ${presents}`);
      }
  }

  /** Everything that is on its way arrives, and nobody wishes for anything else. */
  settle(): void {
    for (let steps = 0; steps < 200; steps += 1) {
      for (const member of this.members) {
        member.files = this.written.length - 1;
        member.hidden = false;
      }
      if (this.reconcile(steps) === "settled") {
        assert.deepEqual(new Set(this.current.trusts), new Set(this.wanted.trusts));
        assert.equal(this.current.presents, this.wanted.presents);
        for (const { process } of this.members)
          assert.deepEqual(new Set(this.written[process]?.trusts), new Set(this.wanted.trusts));
        return;
      }
      this.expectConnections();
    }
    assert.fail("it does not settle");
  }
}

interface Member {
  /** Which version of the Secret the process read when it started, and which one is in its files. */
  process: number;
  files: number;
  readonly annotations: { readonly trusts: string; readonly anchors: string; readonly presents: string | undefined };
  /** Nobody can read its port now. */
  hidden: boolean;
}

describe("whatever happens in whatever order", () => {
  const wish = fc
    .record({
      presents: fc.constantFrom(...letters),
      number: fc.constantFrom(1 as const, 2 as const),
      others: fc.subarray([...letters], { maxLength: 2 }),
    })
    .map(
      ({ presents, number, others }): CertificatePlan => ({
        presents: `${presents}${number}`,
        trusts: [presents, ...others.filter((one) => one !== presents)],
      }),
    );
  // Reconciles and deliveries are the most frequent, so that rotations get far before the next wish.
  const event = fc.oneof(
    { weight: 6, arbitrary: fc.record({ what: fc.constant("reconcile" as const), choice: fc.nat(9) }) },
    { weight: 4, arbitrary: fc.record({ what: fc.constant("deliver" as const), at: fc.nat(9), choice: fc.nat(9) }) },
    { weight: 1, arbitrary: fc.record({ what: fc.constant("containerRestarts" as const), at: fc.nat(9) }) },
    { weight: 1, arbitrary: fc.record({ what: fc.constantFrom("grow" as const, "shrink" as const) }) },
    { weight: 1, arbitrary: fc.record({ what: fc.constant("hide" as const), at: fc.nat(9) }) },
    { weight: 1, arbitrary: fc.record({ what: fc.constant("wish" as const), wish }) },
  );

  for (const evidence of ["wire", "annotation"] as const)
    test(`any two members can connect, and at the end exactly what is wanted is trusted (evidence from the ${evidence})`, () => {
      fc.assert(
        fc.property(wish, fc.array(event, { minLength: 20, maxLength: 80 }), (first, events) => {
          const cluster = new Cluster(first, 3, evidence);
          for (const event of events) {
            const member = "at" in event ? cluster.members[event.at % cluster.members.length] : undefined;
            if (event.what === "wish") cluster.wanted = event.wish;
            else if (event.what === "reconcile") cluster.reconcile(event.choice);
            else if (event.what === "grow" && cluster.members.length < 5) cluster.start();
            else if (event.what === "shrink" && cluster.members.length > 1) cluster.members.shift();
            else if (member && event.what === "hide") member.hidden = !member.hidden;
            else if (member && event.what === "deliver") cluster.deliver(member, event.choice);
            else if (member && event.what === "containerRestarts") member.process = member.files;
            cluster.expectConnections();
          }
          cluster.settle();
        }),
        { numRuns: Number(process.env["PROPERTY_RUNS"] ?? 40) },
      );
    });

  for (const [evidence, rolls] of [
    ["wire", 2],
    ["annotation", 3],
  ] as const)
    test(`a change of the CA takes ${rolls} rolls with evidence from the ${evidence}`, () => {
      const cluster = new Cluster(a1, 3, evidence);
      cluster.wanted = b1;
      cluster.settle();
      assert.equal(cluster.rolls, rolls * 3);
      assert.deepEqual(cluster.written, [a1, abA1, abB1, b1]);
    });
});
