import { counted } from '../base/format.ts';
import { show } from '../base/text.ts';
import type { Refusal } from './gate.ts';

/** What the log says of a request that was refused. */
export interface Refused extends Refusal {
  readonly peer: string;
  readonly method: string;
  /** Its target; the query stays out of the log, since it may hold a token. */
  readonly target: string;
}

export interface RefusalLog {
  tell(refused: Refused): void;
  /** Says what was not told yet, and stops counting. */
  end(): void;
}

/** Lines a minute. A peer that sends a thousand requests a second must not fill the disk. */
const MAX_LINES = 20;
const MINUTE_MS = 60_000;

/**
 * Tells each refusal in a line; after twenty in a minute it counts, and says at its end how many there were.
 */
export function refusalLog(say: (line: string) => void): RefusalLog {
  let [told, held] = [0, 0];
  const settle = () => {
    if (held > 0) say(`refused: ${counted(held, 'more request')} within a minute`);
    [told, held] = [0, 0];
  };
  const timer = setInterval(settle, MINUTE_MS).unref();
  return {
    tell({ status, why, peer, method, target }) {
      if (told >= MAX_LINES) {
        held += 1;
        return;
      }
      told += 1;
      const path = show(target.split('?', 1)[0] ?? '', 80);
      say(`refused ${status}: ${peer} ${show(method, 20)} ${path}: ${why}`);
    },
    end() {
      clearInterval(timer);
      settle();
    },
  };
}
