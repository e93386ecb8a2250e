import { type FaultServer, json, type Respond, startFaultServer } from './fault-server.ts';

/** The content after `Salted__`: a salt and blocks. No key opens it, but from outside nothing looks wrong. */
export const SHAPED = Buffer.concat([Buffer.from('Salted__'), Buffer.alloc(40_008, 'x')]);

export interface DownloadServer extends FaultServer {
  /** The `url` of the instance for the config. */
  readonly url: string;
}

/**
 * A service that lists backup 7 with the given size (`undefined` omits the field) and passes every other
 * request to `respond`: the ways to its download, which may send raw bytes.
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

/** The head of a 200 with only these headers. */
export function head(headers: Readonly<Record<string, string>>, status = '200 OK'): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status}\r\n${lines.join('')}\r\n`;
}

/** One chunk of a chunked body (RFC 9112 section 7.1). */
export function chunk(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

export const LAST_CHUNK = '0\r\n\r\n';
