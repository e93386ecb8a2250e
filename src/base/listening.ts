import { isIP } from 'node:net';
import { isAbsolute } from 'node:path';
import { ipNetwork } from './ip-network.ts';

/** Where a server listens: an address of this machine with its port, or a socket in the file system. */
export type Listening =
  | { readonly kind: 'address'; readonly host: string; readonly port: number }
  | { readonly kind: 'unix'; readonly path: string };

/** `127.0.0.1:8437`, `[::1]:8437`, `localhost:8437` or `unix:/run/lifeboat.sock`, else undefined. */
export function readListening(text: string): Listening | undefined {
  if (text.startsWith('unix:')) {
    const path = text.slice('unix:'.length);
    // The kernel's limit.
    return isAbsolute(path) && Buffer.byteLength(path) < 104 ? { kind: 'unix', path } : undefined;
  }
  const [, bracketed, plain, digits = ''] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/u.exec(text) ?? [];
  const host = plain === 'localhost' ? '127.0.0.1' : (bracketed ?? plain ?? '');
  const port = Number(digits);
  if (isIP(host) !== (bracketed === undefined ? 4 : 6) || port > 65_535) return undefined;
  return { kind: 'address', host, port };
}

/** Whether only processes of this machine can connect. */
export function isLocal(listening: Listening): boolean {
  if (listening.kind === 'unix') return true;
  return LOOPBACK.some((network) => network?.has(listening.host) === true);
}

const LOOPBACK = [ipNetwork('127.0.0.0/8'), ipNetwork('::1')];
