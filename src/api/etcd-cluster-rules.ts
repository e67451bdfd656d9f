// The sentences that refuse an EtcdCluster. Each says what to do, and most say it twice: in CEL for the API server,
// which refuses the object at once, and in TypeScript, for objects that were stored before the rule was.
import { flagName, operatorsFlags, typedFlags as typed } from "./etcd-flags.ts";
import type { Rule } from "./schema.ts";

const smallest = 1;
const largest = 9;
const longestName = 52;

/** Written once, for both: RE2, which CEL uses, and JavaScript read these alike. */
function matches(says: string, pattern: string): Rule<string> {
  const expression = new RegExp(pattern);
  // An empty string is a field left out; so is null, for which the API server does not evaluate the rule at all.
  return {
    says,
    cel: `self == '' || self.matches('${pattern.replaceAll("\\", "\\\\")}')`,
    holds: (value) => value === "" || expression.test(value),
  };
}

export const size: Rule<number> = {
  says: `spec.size must be from ${smallest} to ${largest}: choose 3 or 5, or 1 where an outage does no harm. To stop a cluster, delete it.`,
  cel: `self >= ${smallest} && self <= ${largest}`,
  holds: (members) => members >= smallest && members <= largest,
};

export const versionForm: Rule<string> = matches(
  "spec.version must be a full etcd version such as 3.6.16. For an image with another tag, set spec.image as well.",
  "^v*[0-9]{1,5}\\.[0-9]{1,5}\\.[0-9]{1,5}(-[0-9A-Za-z.-]+)?$",
);

export const repositoryWithoutTag: Rule<string> = matches(
  "spec.repository must be an image without tag or digest, such as quay.io/coreos/etcd: the tag comes from spec.version. Put a whole reference into spec.image.",
  "^[a-zA-Z0-9.-]+(:[0-9]+)?(/[a-z0-9._-]+)*$",
);
