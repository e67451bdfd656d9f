// Opens the socket under an HTTP/2 session. Done by hand because a session whose socket fails late in the handshake
// (a refused client certificate, say) reports it only once the socket has closed, which may never happen.
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from "node:tls";

export type TlsOptions = Pick<
  ConnectionOptions,
  "ca" | "cert" | "key" | "servername" | "rejectUnauthorized" | "secureContext"
>;

export function dial(url: URL, tls: TlsOptions): Socket {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (url.protocol === "http:") return connectTcp({ host, port: Number(url.port || 80) });
  const socket: TLSSocket = connectTls({
    ...tls,
    host,
    port: Number(url.port || 443),
    ALPNProtocols: ["h2"],
    // An address is not a server name; the certificate is then checked against the address itself.
    ...(tls.servername === undefined && isIP(host) === 0 ? { servername: host } : {}),
  });
  socket.once("secureConnect", () => {
    if (socket.alpnProtocol !== "h2") socket.destroy(new Error("the server does not speak HTTP/2"));
  });
  return socket;
}
