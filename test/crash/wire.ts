import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** What happens to the one who asked, at a moment of its request. */
export type Moment =
  /** The connection is there, and nothing was read from it. */
  | 'accepted'
  /** The first half of the request is on its way to the service, and the rest never comes. */
  | 'torn'
  /** It was read from the wire and never reaches the service. */
  | 'dropped'
  /** It reaches the service only when its sender is long gone. */
  | 'late'
  /** The service has done it, and nothing of the answer is passed on. */
  | 'done'
  /** Half of the answer is passed on. */
  | 'half'
  /** The whole answer is passed on, and perhaps read. */
  | 'answered';

export const MOMENTS: readonly Moment[] = ['torn', 'dropped', 'late', 'done', 'half', 'answered'];

export interface WireBlow {
  readonly at: Moment;
  /** None for a connection. */
  readonly words: string;
  /**
   * From 1. Others come and go with the speed of the day, such as the looks at a task: so each is counted for
   * itself.
   */
  readonly nth: number;
}

export interface Wire {
  /** `127.0.0.1:PORT`, to replace the one of the service. */
  readonly address: string;
  /**
   * Connections and requests since the last `arm`, each request by its words: `GET ~/backups`, `~` being the
   * instance.
   */
  seen(): { readonly connections: number; readonly requests: readonly string[] };
  /**
   * Counts from the beginning; `strike` is called once, at this moment of the n-th request of these words, or
   * of the n-th connection.
   */
  arm(blow?: WireBlow & { strike(): void }): void;
  close(): Promise<void>;
}

/** Later than the least time in which a run could give up waiting, and well before it does. */
const LATE_MS = 500;

/**
 * A wire in front of a service on loopback that carries every byte as it is, and can fall silent at any of
 * them. One request is under way at a time on each connection, and arrives in one piece, as small ones do on
 * loopback. With `hidden`, the service's own address is replaced by this one in what it answers.
 */
export async function openWire(service: string, { hidden = false } = {}): Promise<Wire> {
  const sockets = new Set<Socket>();
  const timers = new Set<NodeJS.Timeout>();
  let connections = 0;
  let requests: string[] = [];
  let armed: Parameters<Wire['arm']>[0];
  const [host = '', port = ''] = service.split(':');

  const isMeant = (at: Moment, words: string, nth: number) =>
    armed?.at === at && armed.words === words && armed.nth === nth;
  const struck = (at: Moment, words: string, nth: number): boolean => {
    if (armed === undefined || !isMeant(at, words, nth)) return false;
    const { strike } = armed;
    armed = undefined;
    strike();
    return true;
  };

  const server = createServer((client) => {
    const upstream = connect({ host, port: Number(port) });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
    }
    connections += 1;
    let silent = struck('accepted', '', connections);
    let words = '';
    let nth = 0;
    let isAnswering = false;
    /** Nothing more comes from the one who is gone, nor goes there. */
    const fallSilent = () => {
      silent = true;
    };
    client.on('data', (bytes) => {
      if (silent) return;
      if (isHead(bytes)) {
        isAnswering = false;
        words = wordsOf(bytes);
        requests.push(words);
        nth = requests.filter((one) => one === words).length;
      }
      if (struck('dropped', words, nth)) return fallSilent();
      if (struck('torn', words, nth)) {
        upstream.end(bytes.subarray(0, bytes.length / 2));
        return fallSilent();
      }
      if (struck('late', words, nth)) {
        fallSilent();
        const timer = setTimeout(() => upstream.write(bytes), LATE_MS);
        timers.add(timer);
        return;
      }
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (silent) return;
      if (isAnswering) return void client.write(bytes);
      isAnswering = true;
      const answer = hidden ? readdressed(bytes, service, address) : bytes;
      if (struck('done', words, nth)) return fallSilent();
      if (isMeant('half', words, nth)) {
        client.write(answer.subarray(0, answer.length / 2));
        struck('half', words, nth);
        return fallSilent();
      }
      client.write(answer);
      struck('answered', words, nth);
    });
    client.on('end', () => {
      if (!silent) upstream.end();
    });
    client.on('close', () => {
      if (!silent) upstream.destroy();
    });
    upstream.on('end', () => client.end());
    upstream.on('close', () => client.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    address,
    seen: () => ({ connections, requests }),
    arm: (blow) => {
      connections = 0;
      requests = [];
      armed = blow;
    },
    close: async () => {
      for (const timer of timers) clearTimeout(timer);
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function isHead(bytes: Buffer): boolean {
  return /^(?:GET|POST|PUT|PATCH|DELETE|HEAD) \//u.test(bytes.subarray(0, 10).toString('latin1'));
}

/** Method and path, without what is different for every installation. */
function wordsOf(bytes: Buffer): string {
  const [method = '', path = ''] = bytes.subarray(0, 2_000).toString('latin1').split(' ', 2);
  return `${method} ${path}`
    .replace(/\/(?:v1\/instances|service-instances)\/[^/ ]+/u, '~')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/gu, ':guid');
}

/** Both ports have five digits, so that lengths stay what the head says. */
function readdressed(bytes: Buffer, from: string, to: string): Buffer {
  if (from.length !== to.length) throw new Error(`${from} and ${to} are not of one length`);
  return Buffer.from(bytes.toString('latin1').replaceAll(from, to), 'latin1');
}
