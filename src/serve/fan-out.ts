import type { ServerResponse } from 'node:http';

/** The open streams of news: one follower of the log for all of them. */
export interface FanOut {
  /** Begins a stream on an unsent answer, with the size of the log to catch up. False if full. */
  open(response: ServerResponse): boolean;
  /** The present number of entries, sent at most once a second. */
  tell(size: number): void;
  readonly count: number;
  close(): void;
}

export interface FanOutOptions {
  readonly most: number;
  readonly size: number;
  /** Between two signs of life, in milliseconds. A stream is looked at as often. */
  readonly beatMs?: number;
  /** The shortest time between two pieces of news, in milliseconds. */
  readonly pauseMs?: number;
}

/** Proxies cut what says nothing for longer. */
const BEAT_MS = 15_000;
const PAUSE_MS = 1_000;
/**
 * Heartbeats until a stream ends; a browser that is still there begins another. A client that vanished would
 * keep its place: what is sent never fills a buffer, and TCP waits for a quarter of an hour.
 */
const LIFE = 4;

interface Stream {
  readonly response: ServerResponse;
  /** Signs of life that it is still to have. */
  left: number;
  /** It had not taken the last heartbeat when the next was due. */
  isSlow: boolean;
}

/** Keeps nothing for a client: one that takes nothing until the next heartbeat is dropped and may return. */
export function fanOut({ most, size: first, beatMs = BEAT_MS, pauseMs = PAUSE_MS }: FanOutOptions): FanOut {
  const streams = new Set<Stream>();
  let [size, isDue, isOver] = [first, false, false];
  let pause: NodeJS.Timeout | undefined;

  const send = (text: string) => {
    for (const stream of streams) write(stream, text);
  };
  const write = (stream: Stream, text: string) => {
    // Text that waits for a slow client would be out of date on arrival.
    if (stream.response.writableNeedDrain) return;
    stream.response.write(text);
  };
  const news = () => `id: ${size}\ndata: ${size}\n\n`;
  const rest = () => {
    pause = setTimeout(() => {
      pause = undefined;
      if (!isDue) return;
      isDue = false;
      send(news());
      rest();
    }, pauseMs).unref();
  };
  const beat = setInterval(() => {
    for (const stream of streams) {
      const isStuck = stream.response.writableNeedDrain;
      stream.left -= 1;
      if (isStuck && stream.isSlow) stream.response.destroy();
      else if (stream.left <= 0) stream.response.end();
      else write(stream, `event: beat\nid: ${size}\ndata: ${size}\n\n`);
      stream.isSlow = isStuck;
    }
  }, beatMs).unref();

  return {
    open(response) {
      if (isOver || streams.size >= most) return false;
      // Clients that came together must not come back together.
      const stream: Stream = { response, left: LIFE + (streams.size % LIFE), isSlow: false };
      streams.add(stream);
      // The answer closes when its connection does; a request that was read closes at once.
      response.once('close', () => streams.delete(stream));
      response.writeHead(200, {
        'Content-Type': 'text/event-stream; charset=utf-8',
        'Cache-Control': 'no-store',
        'X-Accel-Buffering': 'no',
        'X-Content-Type-Options': 'nosniff',
      });
      response.write(`retry: 3000\n${news()}`);
      return true;
    },
    tell(now) {
      size = now;
      if (pause !== undefined) {
        isDue = true;
        return;
      }
      send(news());
      rest();
    },
    get count() {
      return streams.size;
    },
    close() {
      isOver = true;
      clearInterval(beat);
      clearTimeout(pause);
      for (const { response } of streams) response.end();
    },
  };
}
