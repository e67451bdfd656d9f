// Who etcdctl is: the client certificate that it shows where members speak TLS, and the login that it uses where the user
// asks for one.
import { secretName } from "../../api/etcd-cluster/secret-names.ts";
import { loginField } from "../../cluster/observe/login.ts";
import { Pod, Secret } from "../../kube/objects/kinds.ts";
import type { Call, Command } from "../command.ts";
import type { Target } from "../one-cluster.ts";
import { Refusal } from "../place/refusal.ts";
import { speaksTls } from "./words.ts";

export const loginFlag: Command["flags"][number] = {
  name: "login",
  what: "Log in as the operator does: from the Secret in spec.auth.operatorSecret, or by its client certificate.",
};

const onlyWith = "Only for clusters with TLS, and with --login.";

/** What is needed for a pod that has a client's certificate and login. */
export const clientPodPermissions: Command["permissions"] = [
  { group: "", resource: "pods", verbs: ["get", "create", "delete"], without: onlyWith },
  { group: "", resource: "secrets", verbs: ["get", "create", "delete"], without: "Only with --login." },
];

export interface Identity {
  /** The Secret with the certificate; absent: members speak plain text. */
  readonly certificate?: string;
  /** As etcdctl takes it: `root:secret`. */
  readonly login?: string;
}

/** A server's certificate is not a client's: etcd refuses one that is made for servers alone. */
export async function identityOf({ flags }: Call, target: Target, member: Pod): Promise<Identity> {
  const { key, observed } = target;
  const isTls = speaksTls(member);
  const operators = isTls ? { certificate: secretName({ metadata: key }, "operator") } : {};
  if (!flags.has(loginFlag.name)) {
    const clients = observed.cluster.status?.clientSecret ?? "";
    return isTls && clients !== "" ? { certificate: clients } : operators;
  }
  const secret = observed.cluster.spec.auth?.operatorSecret ?? "";
  if (secret !== "") return { ...operators, login: await loginIn(target, secret) };
  if (isTls) return operators;
  throw new Refusal(
    `${key.name} has no spec.auth.operatorSecret to log in with: \`kubectl etcd ctl ${key.name} --user …\` asks for a password.`,
  );
}

async function loginIn({ key, reach }: Target, name: string): Promise<string> {
  const { data = {} } = await reach.api.get(Secret, { namespace: key.namespace, name });
  const [username, password] = [loginField(data, "username"), loginField(data, "password")];
  if (username === "" || password === "")
    throw new Refusal(`The Secret ${name} has no ${username === "" ? "username" : "password"}: complete it.`);
  return `${username}:${password}`;
}
