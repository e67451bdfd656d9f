// Reads everything back that the client of the demo wrote, and ends the demo if an acknowledged write is lost.
import { green } from "../../lab/progress.ts";
import { cluster } from "../names.ts";
import { type Comparison, compare } from "../read-back.ts";
import { type Story, timeoutMs } from "../story.ts";
import { showLine, tell } from "../typed.ts";
import { etcdctl } from "../writer.ts";

export async function readEverythingBack(story: Story): Promise<Comparison> {
  const result = await readBack(story);
  tell(`All ${result.kept.acknowledged} acknowledged writes are there.`, green);
  return result;
}

/** What was acknowledged up to the revision must be there. */
export async function readBack({ view, writer, signal }: Story, revision?: number): Promise<Comparison> {
  const isServing = (): boolean => view.serving().length > 0;
  // The operator has asked etcd; the kubelets' next probes may be seconds away.
  if (!isServing()) await view.waitInLine({ until: "a member is ready", holds: isServing, timeoutMs }, signal);
  const member = view.serving()[0];
  if (member === undefined) throw new Error(`No member of ${cluster} is ready, so nothing can be read back.`);
  // What is acknowledged while the answer is under way may not be in it.
  const acknowledged = [...writer.acknowledged];
  showLine(`kubectl ${etcdctl(member, "get", "--prefix", "demo/").join(" ")}`);
  const result = compare(acknowledged, await writer.readBack(member, signal), revision);
  const { kept, lost } = result;
  if (lost !== undefined)
    throw new Error(
      `${kept.acknowledged - kept.found} of ${kept.acknowledged} acknowledged writes are lost, first ${lost.key} = ${lost.value}: this is a bug.`,
    );
  return result;
}
