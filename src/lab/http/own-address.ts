import type { IncomingMessage } from 'node:http';

const NAMES = ['127.0.0.1', 'localhost'] as const;

/**
 * Why a request is not from this machine: `host` if it is for another host or port (DNS rebinding: a foreign
 * name for loopback), `origin` if a foreign web page sends it. Browsers send both, HTTP/1.0 no host.
 */
export function foreignPartOf({ headers, socket }: IncomingMessage): 'host' | 'origin' | undefined {
  const own = ownAddresses(socket.localPort ?? 0);
  const { host, origin } = headers;
  if (host !== undefined && !own.includes(host.toLowerCase())) return 'host';
  if (origin !== undefined && !own.some((address) => origin.toLowerCase() === `http://${address}`)) {
    return 'origin';
  }
  return undefined;
}

/** Browsers leave the port of plain HTTP out. */
function ownAddresses(port: number): readonly string[] {
  return NAMES.flatMap((name) => (port === 80 ? [name, `${name}:80`] : [`${name}:${port}`]));
}
