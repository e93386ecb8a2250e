import { channel } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { Agent, buildConnector, Client, type Dispatcher, EnvHttpProxyAgent } from 'undici';
import { EXIT, LifeboatError } from '../base/errors.ts';
import { isLoopback } from './address.ts';
import type { Limits } from './limits.ts';
import type { OneConnection } from './one-connection.ts';
import { tlsOptions } from './tls.ts';

export interface Network {
  /** Keep-alive connections for reads, HTTP/1.1. */
  openForReads(): Dispatcher;
  /** For a single request, directly or through a proxy; `gate` counts its one connection. */
  openForOneSend(gate: OneConnection): Dispatcher;
}

endEndlessHeads();

const PROXY_VARIABLES = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'] as const;

/**
 * How this machine reaches `origin`: directly, or through the proxies of HTTPS_PROXY, HTTP_PROXY and
 * NO_PROXY. This machine itself is never reached through a proxy. `caFile` (PEM) is trusted besides the
 * certificates that Node trusts. Rejects an unusable file with `config.ca` and an unusable proxy with
 * `config.proxy`.
 */
export function networkFor(origin: string, caFile: string | undefined, limits: Limits): Network {
  const tls = tlsOptions(caFile, limits);
  const common = { allowH2: false, connectTimeout: limits.connectMs, connect: tls };
  const proxied = !isLoopback(new URL(origin).hostname) && usesProxy();

  const open = (options: Agent.Options): Dispatcher =>
    proxied ? new EnvHttpProxyAgent({ ...options, requestTls: tls, proxyTls: tls }) : new Agent(options);
  return {
    openForReads: () => open(common),
    openForOneSend: (gate) =>
      open({
        ...common,
        pipelining: 1,
        factory: (target, options) => {
          // Behind a proxy `connect` is the function that opens the tunnel.
          const { connect } = options as Client.Options;
          const connector = typeof connect === 'function' ? connect : buildConnector(tls);
          return new Client(target, { ...(options as Client.Options), connect: gate.wrap(connector) });
        },
      }),
  };
}

function usesProxy(): boolean {
  const set = PROXY_VARIABLES.filter((name) => (process.env[name] ?? '') !== '');
  for (const name of set) {
    const value = process.env[name] ?? '';
    // A SOCKS proxy builds its connections where `OneConnection` cannot count them.
    if (URL.canParse(value) && /^https?:$/u.test(new URL(value).protocol)) continue;
    throw new LifeboatError('config.proxy', `${name} is not the url of an HTTP proxy`, {
      hints: [`set ${name} to http://HOST:PORT`, 'or name the host of the service in NO_PROXY and unset it'],
      exitCode: EXIT.usage,
    });
  }
  return set.length > 0;
}

/** Bytes. A head may have 16 KiB of fields, and interim answers before it. */
const MOST = 1024 * 1024;
const LOOK_MS = 25;

interface Waiting {
  readonly socket: Socket;
  /** What had come over the connection when the request went out. */
  readonly from: number;
}

const waiting = new Map<unknown, Waiting>();
let timer: NodeJS.Timeout | undefined;

/**
 * Ends every connection of this process on which more than 1 MiB has come and the head of the answer is not
 * whole: undici counts the fields of a head and the bytes of a body, but not those of a status line or of
 * interim answers, and would take in whatever comes until the time for headers is over. The request fails as
 * one whose connection was reset. Call it once.
 */
function endEndlessHeads(): void {
  channel('undici:client:sendHeaders').subscribe((message) => {
    const { request, socket } = message as { readonly request: unknown; readonly socket: Socket };
    waiting.set(request, { socket, from: socket.bytesRead });
    timer ??= setInterval(look, LOOK_MS).unref();
  });
  for (const name of ['undici:request:headers', 'undici:request:error'])
    channel(name).subscribe((message) => forget((message as { readonly request: unknown }).request));
}

function look(): void {
  for (const [request, { socket, from }] of waiting) {
    if (socket.bytesRead - from > MOST) socket.destroy(new Error('the head of the answer has no end'));
    if (socket.destroyed) forget(request);
  }
}

function forget(request: unknown): void {
  waiting.delete(request);
  if (waiting.size > 0) return;
  clearInterval(timer);
  timer = undefined;
}
