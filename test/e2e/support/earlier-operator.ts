// The operator before this one, as a program: `operator-process.ts` starts it in place of src/main.ts.
import { createRequire } from "node:module";
import { unpackedEarlier } from "../../../src/cluster/testing/earlier/load.ts";

const { program } = createRequire(import.meta.url)(unpackedEarlier()) as { program: () => Promise<unknown> };
await program();
