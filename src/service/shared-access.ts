import type { Limits } from './limits.ts';
import { type Network, networkFor } from './network.ts';
import type { CaFile } from './tls.ts';
import { holdToken, type TokenCache, type TokenReader } from './token-source.ts';

/** Among clients of many instances: connections for reads, and tokens. */
export interface SharedAccess {
  /** Once for each origin and ca file; its connections for reads outlive each client. */
  networkFor(origin: string, caFile: CaFile | undefined, limits: Limits): Network;
  /** Once for each `source`, which says where the token comes from. */
  tokensOf(source: string, read: TokenReader): TokenCache;
  /** Drops the connections, with what is pending on them. */
  close(): Promise<void>;
}

/**
 * One instance of ten thousand costs neither a handshake nor a run of the token command. All clients have the
 * same limits. Nothing is opened until it is used.
 */
export function openSharedAccess(): SharedAccess {
  const networks = new Map<string, Network>();
  const tokens = new Map<string, TokenCache>();
  const closes: (() => Promise<void>)[] = [];
  const sharing = (network: Network): Network => {
    let opened: ReturnType<Network['openForReads']> | undefined;
    return {
      openForOneSend: network.openForOneSend,
      openForReads: () => {
        if (opened === undefined) {
          opened = network.openForReads();
          closes.push(opened.close);
        }
        return { dispatcher: opened.dispatcher, close: async () => undefined };
      },
    };
  };
  return {
    networkFor: (origin, caFile, limits) => {
      const place = `${origin} ${String(caFile)}`;
      const known = networks.get(place) ?? sharing(networkFor(origin, caFile, limits));
      networks.set(place, known);
      return known;
    },
    tokensOf: (source, read) => {
      const known = tokens.get(source) ?? holdToken(read);
      tokens.set(source, known);
      return known;
    },
    close: async () => {
      await Promise.all(closes.map((close) => close()));
    },
  };
}
