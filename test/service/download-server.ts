import { type FaultServer, json, type Respond, startFaultServer } from './fault-server.ts';

/** What follows `Salted__`: a salt and blocks. No key opens it; a look from outside finds nothing wrong. */
export const SHAPED = Buffer.concat([Buffer.from('Salted__'), Buffer.alloc(40_008, 'x')]);

export interface DownloadServer extends FaultServer {
  /** What the config takes as the `url` of the instance. */
  readonly url: string;
}

/**
 * A service that lists backup 7 with a size of its choice (`undefined` leaves the field out) and gives every
 * other request to `respond`: the ways to its download, which may be raw bytes.
 */
export async function startDownloadServer(
  size: number | undefined,
  respond: Respond,
  downloadable = true,
): Promise<DownloadServer> {
  const backup = { id: 7, status: 'done', triggered_at: '2021-04-21T01:30:03Z', downloadable, size };
  const server = await startFaultServer((request, socket) => {
    if (request.path.endsWith('/backups/7')) socket.write(json(200, backup));
    else if (request.path.endsWith('/backups')) socket.write(json(200, [backup]));
    else respond(request, socket);
  });
  return { ...server, url: `${server.origin}/service-instances/i1` };
}

/** The head of a 200, with nothing but these headers. */
export function head(headers: Readonly<Record<string, string>>, status = '200 OK'): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status}\r\n${lines.join('')}\r\n`;
}

/** One chunk of a body in chunks (RFC 9112 section 7.1). */
export function chunk(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

export const LAST_CHUNK = '0\r\n\r\n';
