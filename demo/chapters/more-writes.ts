// Waits for the client of the demo to get some more writes acknowledged.
import { step } from "../../lab/progress.ts";
import { type Story, timeoutMs } from "../story.ts";

const several = 5;

export function moreWrites({ writer, signal }: Story): Promise<void> {
  const goal = writer.acknowledged.length + several;
  return step(`${several} more writes`, async (progress) => {
    const late = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    while (writer.acknowledged.length < goal) {
      progress.detail(writer.state());
      late.throwIfAborted();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });
}
