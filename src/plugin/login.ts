// Logging in to etcd where its own authentication is on: with the login of the operator, when the user asks for that.
import { Secret } from "../kube/objects/kinds.ts";
import type { Call, Command } from "./command.ts";
import type { Looked } from "./one-cluster.ts";
import { Refusal } from "./place/refusal.ts";

export const loginFlag: Command["flags"][number] = {
  name: "login",
  what: "Log in as the operator does, from the Secret in spec.auth.operatorSecret.",
};

export const loginRight: Command["rights"][number] = {
  group: "",
  resource: "secrets",
  verbs: ["get"],
  without: "Only with --login.",
};

/** What etcdctl is given; nothing unless it is asked for. */
export async function loginWords({ flags }: Call, { key, reach, snapshot }: Looked): Promise<readonly string[]> {
  if (!flags.has(loginFlag.name)) return [];
  const name = snapshot.cluster.spec.auth?.operatorSecret ?? "";
  if (name === "")
    throw new Refusal(
      `${key.name} has no spec.auth.operatorSecret to log in with: \`kubectl etcd ctl ${key.name} --user …\` asks for a password.`,
    );
  const { data = {} } = await reach.api.get(Secret, { namespace: key.namespace, name });
  const part = (field: string): string => Buffer.from(data[field] ?? "", "base64").toString("utf8");
  return [`--user=${part("username")}:${part("password")}`];
}
