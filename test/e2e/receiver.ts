import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that a receiver of notifications has got. */
export interface Received {
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Readonly<Record<string, unknown>>;
  /** Its sender still waits for the answer. */
  isOpen(): boolean;
}

/** A receiver of notifications on this machine. */
export interface Receiver {
  readonly received: readonly Received[];
  urlOf(path: string): string;
  /** Resolves with the first request to this path, also one that came before. */
  first(path: string): Promise<Received>;
  close(): Promise<void>;
}

/**
 * Starts one. `answer` gives the status for a request, or nothing for one that is never answered. At `/echo`
 * it says what it was sent.
 */
export async function startReceiver(
  answer: (path: string, count: number) => number | undefined,
): Promise<Receiver> {
  const received: Received[] = [];
  const waiting = new Set<() => void>();
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const path = request.url ?? '';
    const isOpen = () => !response.writableEnded && !response.closed;
    received.push({ path, headers: request.headers, body: JSON.parse(text), isOpen });
    const status = answer(path, received.filter((one) => one.path === path).length);
    for (const look of waiting) look();
    if (status === undefined) return;
    const location = `http://127.0.0.1:${(server.address() as AddressInfo).port}/redirected`;
    response
      .writeHead(status, status === 307 ? { location } : {})
      .end(path.startsWith('/echo') ? `${path} ${JSON.stringify(request.headers)}` : 'as you \u001b[31mwish');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    received,
    urlOf: (path) => `http://127.0.0.1:${port}${path}`,
    first: (path) =>
      new Promise((resolve) => {
        const look = () => {
          const found = received.find((one) => one.path === path);
          if (found === undefined) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      }),
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
