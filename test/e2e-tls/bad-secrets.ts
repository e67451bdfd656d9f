// Secrets that cannot be used, and certificates that expire soon: a condition, an event and a metric say so, and nothing that
// serves is hurt. Each is put in the place of one that is good, and that is put back.
import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { waitFor } from "../../lab/progress.ts";
import type { EtcdCluster } from "../../src/api/etcd-cluster/etcd-cluster.ts";
import { Secret } from "../../src/kube/objects/kinds.ts";
import { kube, patience } from "../e2e/support/environment.ts";
import { sameProcesses } from "../e2e/proofs/replaced.ts";
import { type Row, rowsOf } from "../support/matrix.ts";
import {
  type GivenName,
  type GivenSecrets,
  operatorSecret,
  peerSecret,
  serverSecret,
  type Texts,
} from "./given-secrets.ts";
import { authority, condition, type TlsLane } from "./support.ts";

const day = 86_400_000;
/** The lifetime of certificates that tests make. */
const life = 90 * day;
const endingIn = (days: number): { at: number } => ({ at: Date.now() - life + days * day });

interface Bad extends Row {
  readonly secret: GivenName;
  readonly what: string;
  /** The reason of the condition. */
  readonly reason: string;
  /** Undefined: the Secret is deleted. */
  readonly texts: (given: GivenSecrets) => Promise<Texts | undefined>;
}

/** src/tls tries all that can be wrong: these show that it gets to people, and hurts nobody. */
const bads: readonly Bad[] = [
  { secret: peerSecret, what: "does not exist", reason: "Missing", texts: async () => undefined },
  {
    secret: peerSecret,
    what: "has no key",
    reason: "Incomplete",
    onlyInMatrix: true,
    texts: async (given) => {
      const { crt, ca } = await given.good(peerSecret);
      return { crt, ca };
    },
  },
  {
    secret: peerSecret,
    what: "has the key of another certificate",
    reason: "Mismatched",
    onlyInMatrix: true,
    texts: async (given) => ({ ...(await given.good(peerSecret)), key: (await given.good(peerSecret)).key }),
  },
  {
    secret: peerSecret,
    what: "has another CA than its certificate",
    reason: "Untrusted",
    onlyInMatrix: true,
    texts: async (given) => ({ ...(await given.good(peerSecret)), ca: (await authority("other")).cert }),
  },
  { secret: peerSecret, what: "expired", reason: "Expired", texts: (given) => given.good(peerSecret, endingIn(-1)) },
  {
    secret: peerSecret,
    what: "is for other names",
    reason: "WrongNames",
    onlyInMatrix: true,
    texts: (given) => given.good(peerSecret, { names: ["elsewhere.example"] }),
  },
  {
    secret: peerSecret,
    what: "holds no certificate",
    reason: "Unreadable",
    onlyInMatrix: true,
    texts: async (given) => ({ ...(await given.good(peerSecret)), crt: "not a certificate" }),
  },
  { secret: serverSecret, what: "does not exist", reason: "Missing", texts: async () => undefined },
  {
    secret: serverSecret,
    what: "expired",
    reason: "Expired",
    onlyInMatrix: true,
    texts: (given) => given.good(serverSecret, endingIn(-1)),
  },
  {
    secret: operatorSecret,
    what: "does not exist",
    reason: "Missing",
    texts: async () => undefined,
    onlyInMatrix: true,
  },
  {
    secret: operatorSecret,
    what: "is for servers only",
    reason: "WrongUse",
    texts: (given) => given.good(operatorSecret, { use: "server" }),
  },
];

const warnings = [
  { days: 20, said: "in less than 30 days" },
  { days: 5, said: "in less than 7 days" },
  { days: 0.5, said: "in less than a day" },
] as const;

export function badSecrets(the: () => TlsLane, given: () => GivenSecrets): void {
  test("a Secret that cannot be used is reported before anybody uses it, and what serves goes on", async (t) => {
    const { cluster, writer, metrics } = the();
    const before = await cluster.untilHealthy();
    const copies = await copiesOf(the());
    for (const { secret, what, reason, texts } of rowsOf(bads))
      await t.test(`${secret}: ${what}`, async () => {
        const bad = await texts(given());
        await (bad === undefined ? given().remove(secret) : given().put(secret, bad));
        const message = await untilSaid(the(), `False ${reason}`);
        assert.match(message, new RegExp(`^(The )?Secret ${secret}.* continues with its current certificates\\.`));
        await cluster.untilEvent("Certificate Problem", ({ note }) => note === message);
        assert.equal(problemsIn(await metrics(), cluster.name), 1);
        assert.deepEqual(await copiesOf(the()), copies, "what the members use was changed");
        await given().renew(secret);
        await untilSaid(the(), "True Valid");
        assert.equal(problemsIn(await metrics(), cluster.name), 0);
        // The condition may say so before the members' Secret has the renewed certificate.
        const renewed = await waitFor(
          "the renewed certificate to be taken over",
          async () => {
            const now = await copiesOf(the());
            return isDeepStrictEqual(now, copies) ? undefined : now;
          },
          { timeoutMs: patience },
        );
        Object.assign(copies, renewed);
      });
    sameProcesses(before, await cluster.untilHealthy());
    await writer.nothingIsLost();
    writer.oneRetryWasEnough();
  });

  test("a certificate that expires in less than 30, 7 or 1 days is reported each time, and used", async (t) => {
    const { cluster, writer, metrics } = the();
    const before = await cluster.untilHealthy();
    for (const { days, said } of warnings)
      await t.test(said, async () => {
        await given().put(peerSecret, await given().good(peerSecret, endingIn(days)));
        const message = await untilSaid(the(), "True ExpiresSoon", (text) => text.includes(said));
        assert.match(message, /^The peer certificate expires in less than .*: renew it in the Secret peers\.$/);
        await cluster.untilEvent("Certificate Expires", ({ note }) => note === message);
        const end = Date.parse(/at (\S+Z)/.exec(message)?.[1] ?? "");
        assert.ok(Math.abs(end - Date.now() - days * day) < 3_600_000, message);
        assert.match(
          await metrics(),
          new RegExp(
            `certificate_expiry_seconds\\{[^}]*cluster="${cluster.name}",[^}]*use="peer"\\} ${end / 1000}$`,
            "m",
          ),
        );
      });
    await given().renew(peerSecret);
    await untilSaid(the(), "True Valid");
    sameProcesses(before, await cluster.untilHealthy());
    await writer.nothingIsLost();
    writer.oneRetryWasEnough();
  });
}

/** Waits for what the condition says, as in `False Missing`; its message. */
async function untilSaid(
  { cluster }: TlsLane,
  verdict: string,
  holds: (message: string) => boolean = () => true,
): Promise<string> {
  const verdictOf = (now: EtcdCluster): string => {
    const { status, reason } = condition(now, "CertificatesValid") ?? {};
    return `${status} ${reason}`;
  };
  const messageOf = (now: EtcdCluster): string => condition(now, "CertificatesValid")?.message ?? "";
  const seen = await cluster.until(`to say ${verdict}`, (now) => verdictOf(now) === verdict && holds(messageOf(now)));
  return messageOf(seen);
}

/** The Secrets of the operator, which members and the operator use. */
async function copiesOf({ cluster, namespace }: TlsLane): Promise<Record<string, unknown>> {
  const names = ["peer", "server", "operator"].map((use) => `${cluster.name}-${use}-tls`);
  const found = await Promise.all(names.map((name) => kube.get(Secret, { namespace, name })));
  return Object.fromEntries(found.map(({ data }, index) => [names[index], data]));
}

function problemsIn(metrics: string, cluster: string): number {
  const line = new RegExp(
    `^etcd_operator_cluster_certificate_problems\\{[^}]*cluster="${cluster}"[^}]*\\} (\\d+)$`,
    "m",
  );
  return Number(line.exec(metrics)?.[1] ?? Number.NaN);
}
