// Frees the chunks of a stream that have passed by. They lie outside of V8's heap, which is small and sees no reason to
// collect them: a large object would leave a hundred megabytes of them behind, and collecting rarely costs more than often,
// because few of them are young then.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Two hundredths of a second at a hundred megabytes a second. */
const every = 2 * 1024 * 1024;

type Collect = (options: { readonly type: "minor" }) => void;

/** To be told of the bytes that have passed by. */
export function usedChunks(collect: Collect = collector()): (bytes: number) => void {
  let since = 0;
  return (bytes) => {
    since += bytes;
    if (since < every) return;
    since = 0;
    collect({ type: "minor" });
  };
}

/** V8's own, which programs see only when it is asked for. */
function collector(): Collect {
  setFlagsFromString("--expose-gc");
  const found: unknown = runInNewContext("gc");
  if (typeof found !== "function") throw new Error("this Node has no collector to call");
  return found as Collect;
}
