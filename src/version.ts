// The operator's version: the package's own, so that there is one place to raise it.
import manifest from "../package.json" with { type: "json" };

export const version: string = manifest.version;
