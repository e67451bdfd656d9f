// What Kubernetes takes as a label or an annotation. An object of ours with another one is stored without complaint, and
// then no pod of it can be made.

const word = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;
const domain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

function isLabelKey(key: string): boolean {
  const [first = "", second, ...more] = key.split("/");
  if (second === undefined) return word.test(first);
  return more.length === 0 && first.length <= 253 && domain.test(first) && word.test(second);
}

const isLabelValue = (value: string): boolean => value === "" || word.test(value);

export function labelProblems(path: string, labels: Readonly<Record<string, string>>): string[] {
  return Object.entries(labels).flatMap(([key, value]) => {
    if (!isLabelKey(key))
      return [`${path} holds "${key}", which Kubernetes does not take as the key of a label: rename it.`];
    if (!isLabelValue(value))
      return [
        `${path} holds "${key}: ${value}", which Kubernetes does not take as the value of a label: at most 63 letters, digits, dashes, dots and underscores.`,
      ];
    return [];
  });
}

/** Of an annotation only the key has a form; its prefix may have capitals. */
export function annotationProblems(path: string, annotations: Readonly<Record<string, string>>): string[] {
  return Object.keys(annotations)
    .filter((key) => !isLabelKey(key.toLowerCase()))
    .map((key) => `${path} holds "${key}", which Kubernetes does not take as the key of an annotation: rename it.`);
}
