// What was seen of a cluster from outside, a few times a second, and what the operator says that it did.

export interface Answer {
  /** When it came: looks overlap, so one that was begun later may have been answered earlier. */
  readonly at: number;
  readonly clusterId: string;
  readonly revision: number;
  readonly term: number;
}

export interface MemberSample {
  readonly name: string;
  /** Absent: it did not answer in time. */
  readonly answer?: Answer;
}

export interface Sample {
  /** Milliseconds since 1970, when it was begun. */
  readonly at: number;
  readonly healthy: boolean;
  /** Why it is not. */
  readonly why: string;
  /** Every pod of the cluster. */
  readonly members: readonly MemberSample[];
  /** As etcd listed them through the quorum; absent: nobody could. */
  readonly voters?: readonly string[];
}

export interface OperatorAction {
  readonly at: number;
  readonly do: string;
  readonly member: string;
  readonly because: string;
  readonly cause: string;
}

/** From a container's log as the kubelet keeps it: a time, a stream, a flag, and one JSON object of the operator's. */
export function actionsIn(log: string, cluster: string): OperatorAction[] {
  return log.split("\n").flatMap((line) => {
    const begin = line.indexOf("{");
    if (begin < 0 || !line.includes('"message":"did"')) return [];
    const said = parsed(line.slice(begin));
    if (said?.cluster !== cluster || said.action === undefined) return [];
    const { action } = said;
    return [
      {
        at: Date.parse(said.time ?? ""),
        do: action.do ?? "",
        member: action.member ?? "",
        because: typeof action.because === "string" ? action.because : JSON.stringify(action.because ?? ""),
        cause: action.cause ?? "",
      },
    ];
  });
}

interface Said {
  readonly time?: string;
  readonly cluster?: string;
  readonly action?: {
    readonly do?: string;
    readonly member?: string;
    readonly because?: unknown;
    readonly cause?: string;
  };
}

/** The last line of a process that was killed may be cut. */
function parsed(text: string): Said | undefined {
  try {
    return JSON.parse(text) as Said;
  } catch {
    return undefined;
  }
}
