import type { ServerResponse } from 'node:http';

/** The open streams of news: one follower of the log for all of them. */
export interface FanOut {
  /**
   * Begins a stream on an answer of which nothing is sent yet: with the present size of the log, so that
   * a client that was away knows at once. False where there are as many as there may be.
   */
  open(response: ServerResponse): boolean;
  /** The log has this many entries now. Told at most once a second. */
  tell(size: number): void;
  /** How many are open. */
  readonly count: number;
  /** Ends all of them. */
  close(): void;
}

export interface FanOutOptions {
  /** How many there may be at once. */
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
 * After this many heartbeats a stream ends, and a browser that is still there begins another. A client that
 * is gone without a word keeps the place of one who would look on: what the page sends never fills a buffer
 * in front of it, and TCP waits for a quarter of an hour.
 */
const LIFE = 4;

interface Stream {
  readonly response: ServerResponse;
  /** Signs of life that it is still to have. */
  left: number;
  /** Whether it had not taken the last one when the one before was sent. */
  isSlow: boolean;
}

/**
 * Tells all streams of news of the size of the log. Nothing is kept for a client: one that does not take what
 * was sent until the next sign of life is dropped, and asks again when it can.
 */
export function fanOut({ most, size: first, beatMs = BEAT_MS, pauseMs = PAUSE_MS }: FanOutOptions): FanOut {
  const streams = new Set<Stream>();
  let [size, isDue, isOver] = [first, false, false];
  let pause: NodeJS.Timeout | undefined;

  const send = (text: string) => {
    for (const stream of streams) write(stream, text);
  };
  const write = (stream: Stream, text: string) => {
    // What waits in front of a slow client would be old when it arrives.
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
