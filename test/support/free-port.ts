// A port of the loopback interface that nobody listens on.
export { freePort } from "../../lab/machine/free-port.ts";
