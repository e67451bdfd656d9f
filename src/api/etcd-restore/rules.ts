// The rules that refuse an EtcdRestore, in CEL for the API server and in TypeScript for objects that were stored before.
import type { NameRule } from "../kind-description.ts";
import { nameOfAtMost, timeOf } from "../rules.ts";
import type { Rule } from "../schema/schema.ts";

export const nameRules: readonly NameRule[] = [nameOfAtMost(52)];

export const timeForm = timeOf("spec.before");

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
