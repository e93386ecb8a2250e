import { Agent, buildConnector, Client, type Dispatcher, Pool, ProxyAgent } from 'undici';
import { guardAnswerHeads } from './answer-heads.ts';
import type { Limits } from './limits.ts';
import type { OneConnection } from './one-connection.ts';
import { blame, proxyFor } from './proxies.ts';
import { type CaFile, tlsOptions } from './tls.ts';

export interface Network {
  /** Keep-alive connections for reads, HTTP/1.1. */
  openForReads(): Dispatcher;
  /** For a single request, directly or through a proxy; `gate` admits its one connection. */
  openForOneSend(gate: OneConnection): Dispatcher;
}

guardAnswerHeads();

/**
 * How this machine reaches `origin`: directly, or through the proxy that the environment names for it (see
 * `proxyFor`). `caFile` is trusted in addition to Node's certificates. Throws `config.ca` for an unusable
 * file and `config.proxy` for an unusable proxy.
 */
export function networkFor(origin: string, caFile: CaFile | undefined, limits: Limits): Network {
  const tls = tlsOptions(caFile, limits);
  const common = { allowH2: false, connectTimeout: limits.connectMs, connect: tls };
  const proxy = proxyFor(origin);

  const open = (options: Agent.Options): Dispatcher =>
    proxy === undefined
      ? new Agent(options)
      : new ProxyAgent({ ...options, uri: proxy.url.href, requestTls: tls, proxyTls: tls });
  /** With a proxy, `connect` is the function that opens the tunnel, or connects to the proxy. */
  const connectorOf = ({ connect }: Pick<Client.Options, 'connect'>): buildConnector.connector => {
    if (typeof connect !== 'function') return buildConnector(tls);
    return (options, callback) =>
      connect(options, (...result) => {
        const [error] = result;
        if (error !== null && proxy !== undefined) blame(error, proxy);
        callback(...result);
      });
  };
  return {
    openForReads: () =>
      open({
        ...common,
        factory: (target, options) => {
          const connect = connectorOf(options as Pool.Options);
          return new Pool(target, { ...(options as Pool.Options), connect });
        },
      }),
    openForOneSend: (gate) =>
      open({
        ...common,
        pipelining: 1,
        factory: (target, options) => {
          const connect = gate.wrap(connectorOf(options as Client.Options));
          return new Client(target, { ...(options as Client.Options), connect });
        },
      }),
  };
}
