// The stream to one page: server-sent events, each with everything there is to show.
import type { ServerResponse } from "node:http";
import { systemClock } from "../../kube/clock.ts";
import type { Feed, Topic } from "./feed.ts";

/** So that a page notices when nobody answers any more, and we notice that it is gone. */
const beatEvery = 15_000;
/** A page that reads nothing is let go. */
const mostUnread = 4 * 1024 ** 2;

/** Gives back how to end it. */
export function openStream(feed: Feed, topic: Topic, response: ServerResponse): () => void {
  const write = (text: string): void => {
    if (response.writableLength > mostUnread) response.destroy();
    else response.write(text);
  };
  write("retry: 2000\n\n");
  const leave = feed.listen(topic, (message) => write(`data: ${JSON.stringify(message)}\n\n`));
  let cancel = systemClock.after(beatEvery, beat);
  function beat(): void {
    write(": still here\n\n");
    cancel = systemClock.after(beatEvery, beat);
  }
  return () => {
    cancel();
    leave();
  };
}
