// Label selectors in their text form, `a=b,c!=d,e,!f,g in (h,i)`, judged as the API server does.

type LabelSelector = (labels: Readonly<Record<string, unknown>>) => boolean;

const setTerm = /^(\S+)\s+(in|notin)\s*\(([^)]*)\)$/;
const equalityTerm = /^([^\s=!]+)\s*(==|=|!=)\s*([^\s=!]*)$/;
const presenceTerm = /^(!?)\s*([^\s=!<>(),]+)$/;

/** Undefined when it cannot be read. The API server also compares numbers, `a>1`, by which nothing here selects. */
export function readLabelSelector(text: string): LabelSelector | undefined {
  const terms = splitAtCommas(text).map(readTerm);
  if (!terms.every((term) => term !== undefined)) return undefined;
  return (labels) => terms.every((term) => term(labels));
}

/** Only at those that are not inside brackets. */
function splitAtCommas(text: string): string[] {
  return text
    .split(/,(?![^(]*\))/)
    .map((term) => term.trim())
    .filter((term) => term !== "");
}

function readTerm(term: string): LabelSelector | undefined {
  const [, setName, word, list = ""] = setTerm.exec(term) ?? [];
  if (setName !== undefined) {
    const values = new Set<unknown>(list.split(",").map((value) => value.trim()));
    return (labels) => values.has(labels[setName]) === (word === "in");
  }
  const [, equalName, operator, wanted] = equalityTerm.exec(term) ?? [];
  if (equalName !== undefined) return (labels) => (labels[equalName] === wanted) === (operator !== "!=");
  const [, not, name] = presenceTerm.exec(term) ?? [];
  return name === undefined ? undefined : (labels) => (labels[name] === undefined) === (not === "!");
}
