// The rules that refuse an EtcdCluster, each with a sentence that says what to do. Each rule is written twice: in CEL for
// the API server, which refuses the object at once, and in TypeScript for objects that were stored before the rule
// existed. The API server drops nulls before it evaluates rules, but not the empty strings that Go clients send.
import { fieldsOfFlags, flagName, operatorsFlags } from "./etcd-flags.ts";
import type { NameRule } from "../kind-description.ts";
import { matches, nameOf } from "../rules.ts";
import type { Rule } from "../schema/schema.ts";

/** A pod name has at most 63 characters; a dash and ten characters tell members apart. */
const longestName = 52;
const serviceName = "^[a-z]([-a-z0-9]*[a-z0-9])?$";

export const nameRules: readonly NameRule[] = [
  {
    says: `metadata.name must not be longer than ${longestName} characters: member names are derived from it. Choose a shorter name.`,
    cel: `self.metadata.name.size() <= ${longestName}`,
    holds: (name) => name.length <= longestName,
  },
  {
    says: "metadata.name must start with a letter and contain only lower-case letters, digits and dashes, because a Service gets the same name.",
    cel: `self.metadata.name.matches(r'${serviceName}')`,
    holds: (name) => new RegExp(serviceName).test(name),
  },
];

export const size: Rule<number> = {
  says: "spec.size must be from 1 to 9: choose 3 or 5, or 1 if an outage does no harm. To remove the cluster, delete the EtcdCluster.",
  cel: "self >= 1 && self <= 9",
  holds: (members) => members >= 1 && members <= 9,
};

export const versionForm: Rule<string> = matches(
  "^v*[0-9]{1,5}\\.[0-9]{1,5}\\.[0-9]{1,5}(-[0-9A-Za-z.-]+)?$",
  "spec.version must be a full version of etcd, for example 3.6.16. For an image with another tag, set spec.image as well.",
);

export const repositoryWithoutTag: Rule<string> = matches(
  "^(([a-zA-Z0-9._-]+|\\[[0-9a-fA-F:]+\\])(:[0-9]+)?/)?[a-zA-Z0-9._-]+(/[a-zA-Z0-9._-]+)*$",
  "spec.repository must be an image without tag and digest, for example quay.io/coreos/etcd: the tag comes from spec.version. Set a full image reference in spec.image.",
);

export const imageForm: Rule<string> = matches(
  "^[\\[\\]a-zA-Z0-9:._@-]+(/[a-zA-Z0-9:._@-]+)*$",
  "spec.image must be an image reference, for example registry.example.com/etcd:3.6.16-patched, without spaces and without a scheme such as https://.",
);

export const reservedLabels: Rule<Readonly<Record<string, string>>> = {
  says: "spec.pod.labels must not contain `app` or labels that start with `etcd_`: the operator finds its pods by them. Rename the label.",
  cel: "self.all(label, label != 'app' && !label.startsWith('etcd_'))",
  holds: (labels) => Object.keys(labels).every((label) => label !== "app" && !label.startsWith("etcd_")),
};

export const clusterDomain: Rule<string> = matches(
  "^\\.?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
  "spec.pod.ClusterDomain must be the domain of the Kubernetes cluster, for example .cluster.local, without a trailing dot.",
);

export const argForm: Rule<readonly string[]> = {
  says: "spec.etcd.extraArgs must contain flags in the form --flag=value, one per entry: join a flag and its value with an equals sign.",
  cel: "self.all(arg, arg.matches(r'^--[a-z0-9][a-z0-9-]*(=.*)?$'))",
  holds: (args) => args.every((arg) => /^--[a-z0-9][a-z0-9-]*(=.*)?$/.test(arg)),
};

export const ownedFlags: Rule<readonly string[]> = {
  says: "spec.etcd.extraArgs must not contain flags that the operator sets itself, or that could lose data (names, addresses, certificates, bootstrap, force-new-cluster, unsafe-no-fsync): remove them.",
  cel: withoutFlags(operatorsFlags),
  holds: (args) => args.every((arg) => !operatorsFlags.includes(flagName(arg))),
};

export const typedFlags: Rule<readonly string[]> = {
  says: "spec.etcd.extraArgs must not contain flags that have a field of their own: use spec.etcd.quotaBackendBytes, autoCompactionMode, autoCompactionRetention or snapshotCount.",
  cel: withoutFlags([...fieldsOfFlags.keys()]),
  holds: (args) => args.every((arg) => !fieldsOfFlags.has(flagName(arg))),
};

function withoutFlags(flags: readonly string[]): string {
  return `self.all(arg, !arg.matches(r'^--?(${flags.join("|")})(=|$)'))`;
}

interface Compaction {
  readonly autoCompactionMode?: "periodic" | "revision";
  readonly autoCompactionRetention?: string;
}

const wholeNumber = "^[0-9]+$";
const duration = "^([0-9]+([.][0-9]+)?(ns|us|ms|s|m|h))+$";
const retention = "self.autoCompactionRetention";
const noRetention = `!has(${retention}) || ${retention} == ''`;
const byRevision = "has(self.autoCompactionMode) && self.autoCompactionMode == 'revision'";

export const compactionRetention: Rule<Compaction> = {
  says: "spec.etcd.autoCompactionRetention must be a number of hours or a duration such as 30m; with autoCompactionMode revision, a number of revisions.",
  cel: `${noRetention} || ${retention}.matches(r'${wholeNumber}') || (!(${byRevision}) && ${retention}.matches(r'${duration}'))`,
  holds: ({ autoCompactionMode: mode, autoCompactionRetention: kept = "" }) =>
    kept === "" || new RegExp(wholeNumber).test(kept) || (mode !== "revision" && new RegExp(duration).test(kept)),
};

export const compactionMode: Rule<Compaction> = {
  says: "spec.etcd.autoCompactionMode has no effect without spec.etcd.autoCompactionRetention: set both or neither.",
  cel: `!has(self.autoCompactionMode) || !(${noRetention})`,
  holds: ({ autoCompactionMode: mode, autoCompactionRetention: kept = "" }) => mode === undefined || kept !== "",
};

export const secretName = (path: string): Rule<string> => nameOf(path, "a Secret", "EtcdCluster");

interface StaticTLS {
  readonly member?: { readonly serverSecret?: string };
  readonly operatorSecret?: string;
}

const hasOperatorSecret = "(has(self.operatorSecret) && self.operatorSecret != '')";
const hasServerSecret = "(has(self.member) && has(self.member.serverSecret) && self.member.serverSecret != '')";

export const serverSecretMissing: Rule<StaticTLS> = {
  says: "spec.TLS.static.operatorSecret is set, but spec.TLS.static.member.serverSecret is not: set both for TLS with clients, or neither.",
  cel: `!${hasOperatorSecret} || ${hasServerSecret}`,
  holds: ({ member, operatorSecret = "" }) => operatorSecret === "" || (member?.serverSecret ?? "") !== "",
};

export const operatorSecretMissing: Rule<StaticTLS> = {
  says: "spec.TLS.static.member.serverSecret is set, but spec.TLS.static.operatorSecret is not: the operator needs a client certificate as well. Set both or neither.",
  cel: `!${hasServerSecret} || ${hasOperatorSecret}`,
  holds: ({ member, operatorSecret = "" }) => (member?.serverSecret ?? "") === "" || operatorSecret !== "",
};

export const autoOrStatic: Rule<{ readonly auto?: boolean; readonly static?: object }> = {
  says: "spec.TLS.auto and spec.TLS.static are mutually exclusive: either the operator creates the certificates or you do. Remove one of them.",
  cel: "!(has(self.auto) && self.auto) || !has(self.static)",
  holds: (tls) => tls.auto !== true || tls.static === undefined,
};
