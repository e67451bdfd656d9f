// Rules that several kinds share: patterns, and names of other objects.
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

const objectName = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";

/** `whose`: the kind that names it. */
export const nameOf = (path: string, kind: string, whose: string): Rule<string> =>
  matches(
    objectName,
    `${path} must be the name of ${kind} in the namespace of the ${whose}, without a namespace prefix.`,
  );
