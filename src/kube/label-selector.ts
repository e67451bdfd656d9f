// Whether labels satisfy a label selector in its text form, as the API server would judge: `a=b,c!=d,e,!f,g in (h,i)`.

type Labels = Readonly<Record<string, string>>;

const setTerm = /^(\S+)\s+(in|notin)\s*\(([^)]*)\)$/;
const equalityTerm = /^([^=!\s]+)\s*(==|=|!=)\s*(\S*)$/;

export function matchesLabels(selector: string, labels: Labels): boolean {
  return terms(selector).every((term) => matchesTerm(term, labels));
}

/** Splits at the commas that are not inside brackets. */
function terms(selector: string): string[] {
  return selector
    .split(/,(?![^(]*\))/)
    .map((term) => term.trim())
    .filter((term) => term !== "");
}

function matchesTerm(term: string, labels: Labels): boolean {
  const set = setTerm.exec(term);
  if (set !== null) {
    const [, name = "", operator, list = ""] = set;
    const value = labels[name];
    const listed = value !== undefined && list.split(",").some((item) => item.trim() === value);
    return operator === "in" ? listed : !listed;
  }
  const equality = equalityTerm.exec(term);
  if (equality !== null) {
    const [, name = "", operator, wanted = ""] = equality;
    return operator === "!=" ? labels[name] !== wanted : labels[name] === wanted;
  }
  return term.startsWith("!") ? labels[term.slice(1).trim()] === undefined : labels[term] !== undefined;
}
