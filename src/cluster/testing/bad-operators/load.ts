// Loaded before anything else by a process that is to be a bad operator: makes its edits in the sources as they are loaded.
import { registerHooks } from "node:module";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { badOperators } from "./table.ts";

const sources = path.resolve(import.meta.dirname, "../../..");
const bad = badOperators.find(({ name }) => name === process.env["BAD_OPERATOR"]);
if (bad === undefined)
  throw new RangeError(`BAD_OPERATOR is ${process.env["BAD_OPERATOR"]}, and there is none of that name`);

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.startsWith("file:")) return loaded;
    const file = path.relative(sources, fileURLToPath(url));
    const edits = bad.edits.filter((edit) => edit.file === file);
    if (edits.length === 0) return loaded;
    const { source: found = "" } = loaded;
    let source = typeof found === "string" ? found : new TextDecoder().decode(found);
    for (const { from, to } of edits) {
      if (source.split(from).length !== 2) throw new RangeError(`${file} does not hold this once: ${from}`);
      source = source.replace(from, () => to);
    }
    return { ...loaded, source };
  },
});
