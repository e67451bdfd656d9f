// The rules that refuse an EtcdRestore, in CEL for the API server and in TypeScript for objects that were stored before.
import type { NameRule } from "../kind-description.ts";
import { matches } from "../rules.ts";
import type { Rule } from "../schema/schema.ts";

const longestName = 52;

export const nameRules: readonly NameRule[] = [
  {
    says: `metadata.name must not be longer than ${longestName} characters: pod names are derived from it. Choose a shorter name.`,
    cel: `self.metadata.name.size() <= ${longestName}`,
    holds: (name) => name.length <= longestName,
  },
];

export const timeForm: Rule<string> = matches(
  "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$",
  "spec.before must be a time, for example 2026-01-31T12:00:00Z.",
);

interface From {
  readonly backup?: object;
  readonly backupStorageType?: string;
}

export const sourceMissing: Rule<From> = {
  says: "spec.backupStorageType is missing: set it and the field of that store to say where the backup is, or name the EtcdBackup in spec.backup.",
  cel: "has(self.backup) || has(self.backupStorageType)",
  holds: ({ backup, backupStorageType }) => backup !== undefined || backupStorageType !== undefined,
};

export const backupOrStore: Rule<From> = {
  says: "spec.backup and spec.backupStorageType are mutually exclusive: remove one of them.",
  cel: "!has(self.backup) || !has(self.backupStorageType)",
  holds: ({ backup, backupStorageType }) => backup === undefined || backupStorageType === undefined,
};
