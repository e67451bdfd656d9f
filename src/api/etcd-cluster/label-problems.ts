// Checks labels and annotations. The API server stores an EtcdCluster with invalid ones, and then refuses its pods.

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
    if (!isLabelKey(key)) return [`${path} contains "${key}", which is not a valid label key: rename it.`];
    if (!isLabelValue(value))
      return [
        `${path} contains "${key}: ${value}", which is not a valid label value: use at most 63 letters, digits, dashes, dots and underscores.`,
      ];
    return [];
  });
}

/** Annotation values may be any text. Unlike a label key, the prefix of an annotation key may have capitals. */
export function annotationProblems(path: string, annotations: Readonly<Record<string, string>>): string[] {
  return Object.keys(annotations)
    .filter((key) => !isLabelKey(key.toLowerCase()))
    .map((key) => `${path} contains "${key}", which is not a valid annotation key: rename it.`);
}
