import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { until } from '../../team/servers.ts';
import type { Cluster } from './cluster.ts';

/** A way to a cluster that can be cut where a test wants it. */
export interface Proxy {
  address(database: string): string;
  /** Cuts every connection; new ones are let in or not. */
  cut(isOpen: boolean): void;
  open(): void;
  /**
   * What a client sends with this text in it arrives, and its connection is cut before an answer comes back.
   * Resolves when `hasArrived` says that it was done.
   */
  loseAnswer(text: string, hasArrived: () => Promise<boolean>): Promise<void>;
  /** What a client sends with this text in it never arrives: the connection is cut instead. */
  loseRequest(text: string): Promise<void>;
  close(): Promise<void>;
}

export async function startProxy(cluster: Cluster): Promise<Proxy> {
  const pairs = new Set<readonly [Socket, Socket]>();
  const socket = join(cluster.folder, `.s.PGSQL.${cluster.port}`);
  let isOpen = true;
  let watch: ((data: Buffer, pair: readonly [Socket, Socket]) => boolean) | undefined;
  const server = createServer((client) => {
    if (!isOpen) return void client.resetAndDestroy();
    const upstream = connect(socket);
    const pair = [client, upstream] as const;
    pairs.add(pair);
    const end = () => {
      pairs.delete(pair);
      client.destroy();
      upstream.destroy();
    };
    for (const one of pair) one.on('error', end).on('close', end);
    client.on('data', (data) => {
      if (watch?.(data, pair) !== true) upstream.write(data);
    });
    upstream.on('data', (data) => void client.write(data));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const bound = server.address();
  const port = typeof bound === 'object' ? bound?.port : undefined;
  const cut = () => {
    for (const [client, upstream] of pairs) {
      client.resetAndDestroy();
      upstream.destroy();
    }
  };
  return {
    address: (database) => `postgres://postgres@127.0.0.1:${port}/${database}?sslmode=disable`,
    cut(mayComeBack) {
      isOpen = mayComeBack;
      cut();
    },
    open() {
      isOpen = true;
    },
    loseAnswer(text, hasArrived) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      watch = (data, [client, upstream]) => {
        if (!data.includes(text)) return false;
        watch = undefined;
        upstream.removeAllListeners('data').resume();
        upstream.write(data);
        until(hasArrived)
          .then(() => client.resetAndDestroy())
          .then(() => resolve(), reject);
        return true;
      };
      return promise;
    },
    loseRequest(text) {
      const { promise, resolve } = Promise.withResolvers<void>();
      watch = (data, [client]) => {
        if (!data.includes(text)) return false;
        watch = undefined;
        client.resetAndDestroy();
        resolve();
        return true;
      };
      return promise;
    },
    async close() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
