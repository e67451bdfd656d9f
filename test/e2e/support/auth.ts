// etcd's own authentication in a test cluster: a user of the operator's, whose login is in a Secret, and one of the test's.
import { waitFor } from "../../../lab/progress.ts";
import { Login } from "../../../src/etcd/login.ts";
import { Secret } from "../../../src/kube/objects/kinds.ts";
import { Http2Origin } from "../../../src/transport/origin.ts";
import { AuthAdmin } from "../../etcd/auth-admin.ts";
import type { TestCluster } from "./cluster.ts";
import { kube, patience } from "./environment.ts";
import type { HealthyCluster } from "./healthy.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** Creates the Secret, or changes it. */
export async function giveLogin(namespace: string, name: string, { username, password }: Login): Promise<void> {
  const data = { username: base64(username), password: base64(password) };
  await kube.apply(Secret, { metadata: { namespace, name }, data }, { fieldManager: "test", force: true });
}

/** Both users have the role root: what is tested is that the operator comes in. */
export async function enableAuth({ leader }: HealthyCluster, cluster: TestCluster, operator: Login): Promise<void> {
  const origin = new Http2Origin(`http://${leader.address}:2379`);
  try {
    const users = new AuthAdmin(origin);
    // Again: etcd refuses what an election comes in between.
    const done = (what: string, work: () => Promise<void>): Promise<true> =>
      waitFor(what, () => work().then(() => true), { timeoutMs: patience });
    const given = [operator, ...(cluster.login === undefined ? [] : [cluster.login])];
    for (const login of given) await done(`a user ${login.username}`, () => users.setUser(login, ["root"]));
    await done("authentication", () => users.enable(operator));
  } finally {
    origin.close();
  }
}
