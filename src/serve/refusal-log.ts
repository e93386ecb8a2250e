import { counted } from '../base/format.ts';
import { show } from '../base/text.ts';
import type { Refusal } from './gate.ts';

export interface Refused extends Refusal {
  readonly peer: string;
  readonly method: string;
  /** Its target; the query stays out of the log, since it may hold a token. */
  readonly target: string;
  /** The host that it named, where that is why. */
  readonly host?: string | undefined;
}

export interface RefusalLog {
  tell(refused: Refused): void;
  /** Logs the last counts and stops. */
  end(): void;
}

/** Lines a minute for each status. A peer that sends a thousand requests a second must not fill the disk. */
const MAX_LINES = 20;
const MINUTE_MS = 60_000;

/** One line for each refusal; beyond twenty of a status in a minute it only counts, for a line afterwards. */
export function refusalLog(say: (line: string) => void): RefusalLog {
  const counts = new Map<number, number>();
  const settle = () => {
    for (const [status, count] of counts)
      if (count > MAX_LINES)
        say(`refused ${status}: ${counted(count - MAX_LINES, 'more request')} within a minute`);
    counts.clear();
  };
  const timer = setInterval(settle, MINUTE_MS).unref();
  return {
    tell({ status, why, peer, method, target, host }) {
      const count = (counts.get(status) ?? 0) + 1;
      counts.set(status, count);
      if (count > MAX_LINES) return;
      const path = show(target.split('?', 1)[0] ?? '', 80);
      const named = host === undefined ? '' : ` (${show(host, 80)})`;
      say(`refused ${status}: ${peer} ${show(method, 20)} ${path}: ${why}${named}`);
    },
    end() {
      clearInterval(timer);
      settle();
    },
  };
}
