// Rules that several kinds share: patterns, and names of other objects.
import type { NameRule } from "./kind-description.ts";
import type { Rule } from "./schema/schema.ts";

/** The pattern is written once: RE2, which CEL uses, and JavaScript read these patterns the same way. */
export function matches(pattern: string, says: string): Rule<string> {
  const expression = new RegExp(pattern);
  return {
    says,
    cel: `self == '' || self.matches(r'${pattern}')`,
    holds: (value) => value === "" || expression.test(value),
  };
}

export const nameOfAtMost = (longest: number): NameRule => ({
  says: `metadata.name must not be longer than ${longest} characters: pod names are derived from it. Choose a shorter name.`,
  cel: `self.metadata.name.size() <= ${longest}`,
  holds: (name) => name.length <= longest,
});

export const timeOf = (path: string): Rule<string> =>
  matches(
    "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$",
    `${path} must be a time, for example 2026-01-31T12:00:00Z.`,
  );

const objectName = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";

/** `whose`: the kind that names it. */
export const nameOf = (path: string, kind: string, whose: string): Rule<string> =>
  matches(
    objectName,
    `${path} must be the name of ${kind} in the namespace of the ${whose}, without a namespace prefix.`,
  );
