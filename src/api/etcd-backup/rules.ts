// The rules that refuse an EtcdBackup, in CEL for the API server and in TypeScript for objects that were stored before.
import type { NameRule } from "../kind-description.ts";
import { type Credential, patternOf, refusalOf } from "../../recipients/recipients.ts";
import { matches, nameOfAtMost, timeOf } from "../rules.ts";
import type { Rule } from "../schema/schema.ts";

/** A worker's name is this, a dash and a tail, and has at most 63 characters. */
export const nameRules: readonly NameRule[] = [nameOfAtMost(50)];

export const endpointForm: Rule<string> = matches(
  "^https?://[^/?#@ ]+/?$",
  "spec.etcdEndpoints must contain client URLs of etcd, for example http://example-etcd-cluster-client:2379.",
);

interface From {
  readonly etcdEndpoints?: readonly string[];
  readonly clusterRef?: object;
}

const noEndpoints = "(!has(self.etcdEndpoints) || self.etcdEndpoints.size() == 0)";

export const endpointsMissing: Rule<From> = {
  says: "spec.etcdEndpoints must not be empty: set it to the client URLs of etcd, or name the EtcdCluster in spec.clusterRef.",
  cel: `!${noEndpoints} || has(self.clusterRef)`,
  holds: ({ etcdEndpoints = [], clusterRef }) => etcdEndpoints.length > 0 || clusterRef !== undefined,
};

export const endpointsOrCluster: Rule<From> = {
  says: "spec.etcdEndpoints and spec.clusterRef are mutually exclusive: remove one of them.",
  cel: `${noEndpoints} || !has(self.clusterRef)`,
  holds: ({ etcdEndpoints = [], clusterRef }) => etcdEndpoints.length === 0 || clusterRef === undefined,
};

interface Login {
  readonly etcdEndpoints?: readonly string[];
  readonly authSecret?: string;
  readonly allowLoginOverHTTP?: boolean;
}

const login: Credential = { t: "login", overHttp: false };
const mayGetLogin = patternOf(login);

/** With a clusterRef it is for the owner of the cluster to say what members speak. */
export const loginOverTls: Rule<Login> = {
  says: `spec.etcdEndpoints with spec.authSecret: ${refusalOf(login)}`,
  cel: `!has(self.authSecret) || self.authSecret == '' || (has(self.allowLoginOverHTTP) && self.allowLoginOverHTTP) || !has(self.etcdEndpoints) || self.etcdEndpoints.all(url, url.matches(r'${mayGetLogin}'))`,
  holds: ({ etcdEndpoints = [], authSecret = "", allowLoginOverHTTP = false }) =>
    authSecret === "" || allowLoginOverHTTP || etcdEndpoints.every((url) => new RegExp(mayGetLogin).test(url)),
};

export const interval: Rule<number> = {
  says: "spec.backupPolicy.backupIntervalInSecond must be at least 0: 0 takes a single backup, a larger number takes one at that interval in seconds.",
  cel: "self >= 0",
  holds: (seconds) => seconds >= 0,
};

export const maxBackups: Rule<number> = {
  says: "spec.backupPolicy.maxBackups must be at least 0: 0 keeps all backups.",
  cel: "self >= 0",
  holds: (count) => count >= 0,
};

export const releaseTime = timeOf("spec.backupPolicy.releaseBefore");

interface When {
  readonly backupIntervalInSecond?: number;
  readonly schedule?: string;
  readonly timeZone?: string;
}

const hasSchedule = "(has(self.schedule) && self.schedule != '')";

export const intervalOrSchedule: Rule<When> = {
  says: "spec.backupPolicy.backupIntervalInSecond and spec.backupPolicy.schedule are mutually exclusive: remove one of them.",
  cel: `!${hasSchedule} || !has(self.backupIntervalInSecond) || self.backupIntervalInSecond == 0`,
  holds: ({ backupIntervalInSecond = 0, schedule = "" }) => backupIntervalInSecond === 0 || schedule === "",
};

export const zoneOfSchedule: Rule<When> = {
  says: "spec.backupPolicy.timeZone has no effect without spec.backupPolicy.schedule: set both or neither.",
  cel: `${hasSchedule} || !has(self.timeZone) || self.timeZone == ''`,
  holds: ({ schedule = "", timeZone = "" }) => schedule !== "" || timeZone === "",
};
