import { globSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestBench } from '../bench-kit/test-bench.ts';

/** The library behind faketime(1): only processes preloaded with it see another time. */
const LIBRARY = globSync('/usr/lib/{*/,}faketime/libfaketime.so.1')[0];

export interface FakedClock {
  /** The prefix under which to run the product. */
  readonly under: readonly string[];
  /**
   * Sets the clock of processes under it: `+86400s` and `-3600s` from the true time, `@1970-01-02 00:00:00`
   * to that time.
   */
  set(to: string): void;
}

/** A clock for one bench. The steady clock stays, since no administrator can set it. */
export function fakeClock(bench: Pick<TestBench, 'folder'>, start = '+0s'): FakedClock {
  if (LIBRARY === undefined) throw new Error('the library of faketime is not where it usually is');
  const file = join(bench.folder, 'clock');
  const set = (to: string) => writeFileSync(file, `${to}\n`);
  set(start);
  const env = {
    LD_PRELOAD: LIBRARY,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    TZ: 'UTC',
  };
  return { under: ['env', ...Object.entries(env).map(([name, value]) => `${name}=${value}`)], set };
}
