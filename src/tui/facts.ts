import { dateAt } from '../base/date.ts';
import { failureOf } from '../base/errors.ts';
import { show } from '../base/text.ts';
import type { Fact, Facts, Loaders, Need, NeedOf, SourceName, Sources } from '../view/app/sources.ts';

/** Answers that are kept up to date while a screen needs them. */
export interface LiveFacts extends Facts {
  /** Keeps exactly these answers up to date. Others stop loading; their last answer is kept for a return. */
  want(needs: readonly Need[]): void;
  /** Loads what is wanted again now, the rest once it is wanted again. */
  refresh(): void;
  subscribe(listener: () => void): () => void;
  stop(): void;
}

/** Milliseconds until a reload. What changes by itself (fleet, runs) is asked more often than the rest. */
const FRESH_MS: Readonly<Record<SourceName, number>> = {
  home: Number.POSITIVE_INFINITY,
  fleet: 15_000,
  runs: 2_000,
  workers: 10_000,
  followUps: 5_000,
  drillRuns: 30_000,
  instance: 15_000,
  backups: 30_000,
  keys: 30_000,
  entries: 2_000,
  olderEntries: Number.POSITIVE_INFINITY,
  audit: Number.POSITIVE_INFINITY,
  dryRun: 60_000,
  moment: 60_000,
  report: 60_000,
  lab: 2_000,
  secretFile: 2_000,
  publicKeyFile: 2_000,
};

/** The frame time of the screen: a fleet of five hundred answers far more often. */
const TELL_MS = 66;

/** Answers that no screen wants are dropped beyond this number, the oldest first. */
const MAX_KEPT = 100;

interface Kept {
  fact: Fact<unknown>;
  stop: AbortController | undefined;
  /** An aborted load is repeated at once. */
  isWhole: boolean;
  again: NodeJS.Timeout | undefined;
}

/** Loads what is wanted through `loaders`. Errors of a loader never reach the caller. */
export function createFacts(loaders: Loaders, now: () => Date): LiveFacts {
  const kept = new Map<string, Kept>();
  const listeners = new Set<() => void>();
  let wanted = new Map<string, Need>();
  let telling: NodeJS.Timeout | undefined;
  let isStopped = false;

  const tell = () => {
    telling ??= setTimeout(() => {
      telling = undefined;
      for (const listener of listeners) listener();
    }, TELL_MS);
  };
  const keep = (key: string): Kept => {
    const one = kept.get(key) ?? { fact: NOTHING, stop: undefined, isWhole: true, again: undefined };
    kept.set(key, one);
    return one;
  };
  const ask = async (key: string, need: Need): Promise<void> => {
    const one = keep(key);
    clearTimeout(one.again);
    one.again = undefined;
    one.stop?.abort();
    const stop = new AbortController();
    one.stop = stop;
    one.isWhole = false;
    one.fact = { ...one.fact, isAsking: true };
    const take = (fact: Fact<unknown>) => {
      if (one.stop !== stop) return;
      one.fact = fact;
      tell();
    };
    const known = (value: unknown, isAsking: boolean) => {
      const at = now();
      take({ part: { state: 'known', at, value }, last: { at, value }, isAsking });
    };
    try {
      await load(loaders, need as NeedOf<SourceName>, (value) => known(value, true), stop.signal);
      take({ ...one.fact, isAsking: false });
    } catch (thrown) {
      const { code, shortMessage, hints } = failureOf(thrown);
      const part = { state: 'failed', at: now(), code, why: show(shortMessage), hints } as const;
      take({ ...one.fact, part, isAsking: false });
    }
    if (one.stop !== stop) return;
    one.stop = undefined;
    one.isWhole = true;
    if (wanted.has(key)) askAgainIn(FRESH_MS[need.source], key, need);
  };
  const askAgainIn = (wait: number, key: string, need: Need): void => {
    if (isStopped || !Number.isFinite(wait)) return;
    keep(key).again = setTimeout(() => void ask(key, need), wait).unref();
  };
  const askWhenStale = (key: string, need: Need): void => {
    const { fact, isWhole } = keep(key);
    const { part } = fact;
    const age =
      part.state === 'known' && isWhole ? now().getTime() - part.at.getTime() : Number.POSITIVE_INFINITY;
    const left = FRESH_MS[need.source] - age;
    if (left > 0) askAgainIn(left, key, need);
    else void ask(key, need);
  };
  const forgetOld = () => {
    for (const key of kept.keys()) {
      if (kept.size <= MAX_KEPT) return;
      if (!wanted.has(key)) kept.delete(key);
    }
  };

  return {
    get: (source, of) => (kept.get(keyOf(source, of))?.fact ?? NOTHING) as never,
    want(needs) {
      const next = new Map(needs.map((need) => [keyOf(need.source, need.of), need]));
      for (const key of wanted.keys()) {
        if (next.has(key)) continue;
        const one = kept.get(key);
        clearTimeout(one?.again);
        one?.stop?.abort();
        if (one?.stop !== undefined) one.fact = { ...one.fact, isAsking: false };
        if (one !== undefined) one.stop = undefined;
      }
      const before = wanted;
      wanted = next;
      for (const [key, need] of next) if (!before.has(key)) askWhenStale(key, need);
      forgetOld();
    },
    refresh() {
      for (const one of kept.values()) one.isWhole = false;
      for (const [key, need] of wanted) void ask(key, need);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    stop() {
      isStopped = true;
      clearTimeout(telling);
      for (const { stop, again } of kept.values()) {
        clearTimeout(again);
        stop?.abort();
      }
    },
  };
}

const NOTHING: Fact<never> = { part: { state: 'unasked' }, isAsking: false };

function keyOf(source: SourceName, of: unknown): string {
  return `${source} ${JSON.stringify(of)}`;
}

function load<Name extends SourceName>(
  loaders: Loaders,
  { source, of }: NeedOf<Name>,
  emit: (value: Sources[Name]['value']) => void,
  signal: AbortSignal,
): Promise<void> {
  return loaders[source](of, emit, signal);
}

const ALONE = 'only the run is shown here: y copies the command that writes its report';

/** Facts of a window that shows only a run. */
export const NO_FACTS: LiveFacts = {
  get: () => ({ part: { state: 'failed', at: dateAt(0), code: 'app.alone', why: ALONE }, isAsking: false }),
  want: () => undefined,
  refresh: () => undefined,
  subscribe: () => () => undefined,
  stop: () => undefined,
};
