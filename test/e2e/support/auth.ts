// etcd's own authentication in a test cluster: a user of the operator's, whose login is in a Secret, and one of the test's.
import { Login } from "../../../src/etcd/login.ts";
import { Secret } from "../../../src/kube/objects/kinds.ts";
import { Http2Origin } from "../../../src/transport/origin.ts";
import { AuthAdmin } from "../../etcd/auth-admin.ts";
import type { TestCluster } from "./cluster.ts";
import { kube } from "./environment.ts";
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
    await users.setUser(operator, ["root"]);
    if (cluster.login !== undefined) await users.setUser(cluster.login, ["root"]);
    await users.enable(operator);
  } finally {
    origin.close();
  }
}
