import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { addressOf, type Cluster } from './postgres.ts';

/** When something happens to the client that writes these words. */
export interface DatabaseBlow {
  /** Words that occur in what is sent to the database, such as the type of an entry. */
  readonly words: string;
  /** From 1. */
  readonly nth: number;
  /**
   * `held`: before the database has them; what was sent is kept back until `release`. `done`: the database
   * has answered that it is durable, and nothing of that answer is passed on until `release`.
   */
  readonly at: 'held' | 'done';
  /** `cutOff` breaks the connection that it met: what was kept back there never arrives. */
  strike(cutOff: () => void): void;
}

/**
 * The way from one person's machine to a database on one server or several, which can be cut. Carries every
 * byte as it is.
 */
export interface DatabaseWire {
  address(database: string): string;
  arm(blow: DatabaseBlow): void;
  /** Passes on what was kept back. */
  release(): void;
  /**
   * Breaks every connection, and lets none in until `mend`; or with `silent` lets nothing through, without an
   * error.
   */
  cut(how?: 'silent'): void;
  mend(): void;
  close(): Promise<void>;
}

/** ReadyForQuery outside of a transaction (PostgreSQL documentation, "Message Formats"). */
const IDLE = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

export async function openDatabaseWire(...clusters: readonly Cluster[]): Promise<DatabaseWire> {
  const open = new Set<() => void>();
  let state: 'whole' | 'cut' | 'silent' = 'whole';
  let blow: DatabaseBlow | undefined;
  let met = 0;
  let kept: (() => void)[] = [];
  let isKeeping = false;

  const carry = (client: Socket, { folder, port }: Cluster) => {
    const upstream = connect(join(folder, `.s.PGSQL.${port}`));
    const cutOff = () => {
      client.resetAndDestroy();
      upstream.destroy();
    };
    open.add(cutOff);
    let awaitsIdle = false;
    /** From the blow on, this connection passes nothing on in this direction. */
    let keeps: 'up' | 'down' | undefined;
    const pass = (to: Socket, direction: 'up' | 'down', bytes: Buffer) => {
      if (state === 'silent' || (keeps === direction && isKeeping)) kept.push(() => void to.write(bytes));
      else to.write(bytes);
    };
    client.on('data', (bytes) => {
      if (blow !== undefined && bytes.includes(blow.words) && ++met === blow.nth) {
        if (blow.at === 'done') awaitsIdle = true;
        else {
          keeps = 'up';
          isKeeping = true;
          strike(cutOff);
        }
      }
      pass(upstream, 'up', bytes);
    });
    upstream.on('data', (bytes) => {
      if (awaitsIdle && bytes.subarray(-IDLE.length).equals(IDLE)) {
        awaitsIdle = false;
        keeps = 'down';
        isKeeping = true;
        strike(cutOff);
      }
      pass(client, 'down', bytes);
    });
    for (const socket of [client, upstream]) {
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        open.delete(cutOff);
        client.destroy();
        upstream.destroy();
      });
    }
  };
  const strike = (cutOff: () => void) => {
    const struck = blow;
    blow = undefined;
    struck?.strike(cutOff);
  };
  const servers = await Promise.all(
    clusters.map(async (cluster) => {
      const server = createServer((client) =>
        state === 'cut' ? client.resetAndDestroy() : carry(client, cluster),
      );
      await once(server.listen(0, '127.0.0.1'), 'listening');
      return server;
    }),
  );
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  const release = () => {
    isKeeping = false;
    const now = kept;
    kept = [];
    for (const write of now) write();
  };
  return {
    address: (database) => addressOf(ports, database),
    arm: (one) => {
      blow = one;
      met = 0;
    },
    release,
    cut: (how) => {
      state = how ?? 'cut';
      if (how === undefined) for (const cutOff of open) cutOff();
    },
    mend: () => {
      state = 'whole';
      release();
    },
    close: async () => {
      for (const cutOff of open) cutOff();
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}
