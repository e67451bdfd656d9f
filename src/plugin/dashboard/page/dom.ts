// Elements from data. Text stays text: nothing that comes from a cluster is ever read as markup.

export type Child = Node | string | undefined | false | readonly Child[];
type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

export function h(tag: string, attributes: Attributes = {}, ...children: readonly Child[]): HTMLElement {
  return filled(document.createElement(tag), attributes, children);
}

export function svg(tag: string, attributes: Attributes = {}, ...children: readonly Child[]): SVGElement {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function filled<E extends Element>(element: E, attributes: Attributes, children: readonly Child[]): E {
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : String(value));
  element.append(...flat(children));
  return element;
}

function flat(children: readonly Child[]): (Node | string)[] {
  return children.flatMap((child): (Node | string)[] => {
    if (child === undefined || child === false) return [];
    return typeof child === "string" || child instanceof Node ? [child] : flat(child);
  });
}

/**
 * Makes what is shown equal to what is wanted and leaves alone what is equal already, so that focus, selection and scroll
 * positions stay where they are. Children with a `data-key` are found again when others come and go.
 */
export function show(place: Element, ...wanted: readonly Child[]): void {
  const nodes = flat(wanted).map((node) => (typeof node === "string" ? new Text(node) : node));
  const keyed = new Map<string, Element>();
  for (const child of place.children) if (keyOf(child) !== undefined) keyed.set(keyOf(child) ?? "", child);
  let at: ChildNode | null = place.firstChild;
  for (const node of nodes) {
    const known = keyOf(node) === undefined ? at : (keyed.get(keyOf(node) ?? "") ?? null);
    if (known === null || !isAlike(known, node)) {
      place.insertBefore(node, at);
      continue;
    }
    if (known === at) at = at.nextSibling;
    else place.insertBefore(known, at);
    bringUpToDate(known, node);
  }
  while (at !== null) {
    const next: ChildNode | null = at.nextSibling;
    at.remove();
    at = next;
  }
}

const keyOf = (node: Node): string | undefined =>
  (node instanceof Element ? node.getAttribute("data-key") : null) ?? undefined;

const isAlike = (known: Node, wanted: Node): boolean =>
  known.nodeName === wanted.nodeName && keyOf(known) === keyOf(wanted);

function bringUpToDate(known: Node, wanted: Node): void {
  if (!(known instanceof Element) || !(wanted instanceof Element)) {
    if (known.textContent !== wanted.textContent) known.textContent = wanted.textContent;
    return;
  }
  for (const name of known.getAttributeNames()) if (!wanted.hasAttribute(name)) known.removeAttribute(name);
  for (const { name, value } of wanted.attributes)
    if (known.getAttribute(name) !== value) known.setAttribute(name, value);
  show(known, ...wanted.childNodes);
}
