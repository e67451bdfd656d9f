// The stream of updates for the view that is open. A hidden page asks for nothing.
import type { Message } from "../messages.ts";

export type LinkState = "connecting" | "live" | "lost";

interface Live {
  /** Switches to another view, as in `?namespace=a&name=b`. */
  show(query: string): void;
}

const tryAgainAfter = 3_000;

export function live(hear: (message: Message) => void, onLink: (state: LinkState) => void): Live {
  let source: EventSource | undefined;
  let query = "";
  let again: ReturnType<typeof setTimeout> | undefined;

  function close(): void {
    clearTimeout(again);
    source?.close();
    source = undefined;
  }

  function open(): void {
    close();
    if (document.hidden) return;
    onLink("connecting");
    const opened = new EventSource(`/live${query}`);
    source = opened;
    opened.onmessage = ({ data }: MessageEvent<string>): void => {
      onLink("live");
      hear(JSON.parse(data) as Message);
    };
    opened.onerror = (): void => {
      onLink("lost");
      // It tries again by itself, but not after an answer that is no stream.
      if (opened.readyState === EventSource.CLOSED && opened === source) again = setTimeout(open, tryAgainAfter);
    };
  }

  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  return {
    show(wanted) {
      query = wanted;
      open();
    },
  };
}
