import { type Capi, getIfThere } from './capi.ts';
import { Process, ProcessStats } from './schemas.ts';

/** How the web process of an application stands. */
export interface Running {
  readonly wanted: number;
  /** Instances that run and were started at `since` or later. */
  readonly fresh: number;
  /** The start of the one that was started first, by the platform's clock. RFC 3339. */
  readonly startedAt?: string;
  /** `3 of 4 instances run, 1 is CRASHED`: for people, made of known words only. */
  readonly text: string;
}

/** Uptime and the platform's clock both come in whole seconds. */
const ROUNDING_MS = 2_000;
const KNOWN_STATES = ['RUNNING', 'STARTING', 'CRASHED', 'DOWN', 'STOPPING'];

/** Counts the instances of the web process. `since` in milliseconds of the platform's clock. */
export async function runningSince(
  capi: Capi,
  appGuid: string,
  since: number,
  signal: AbortSignal,
): Promise<Running> {
  const path = `/v3/apps/${encodeURIComponent(appGuid)}/processes/web`;
  const told = await getIfThere(capi, `${path}/stats`, ProcessStats, signal);
  const instances = told?.value.resources ?? [];
  if (instances.length === 0) {
    const web = await getIfThere(capi, path, Process, signal);
    const wanted = web?.value.instances ?? (told === undefined ? 0 : 1);
    return { wanted, fresh: 0, text: wanted === 0 ? 'it has no web instances' : 'no instance shows yet' };
  }
  const now = (told?.at ?? new Date()).getTime();
  const starts = instances.flatMap(({ state, uptime }) =>
    state === 'RUNNING' && uptime != null ? [now - uptime * 1000] : [],
  );
  const fresh = starts.filter((start) => start + ROUNDING_MS >= since).length;
  const first = starts.length === 0 ? undefined : Math.min(...starts);
  const others = instances.flatMap(({ state }) => (state === 'RUNNING' ? [] : [stateWord(state)]));
  const stale = starts.length - fresh;
  const parts = [
    `${starts.length} of ${instances.length} instances run`,
    ...(stale === 0 ? [] : [`${stale} since before it was bound`]),
    ...[...new Set(others)].map((state) => `${others.filter((other) => other === state).length} ${state}`),
  ];
  return {
    wanted: instances.length,
    fresh,
    ...(first === undefined ? {} : { startedAt: new Date(first).toISOString() }),
    text: parts.join(', '),
  };
}

/** Whether every instance that there shall be runs and is fresh. */
export function allFresh({ wanted, fresh }: Running): boolean {
  return fresh === wanted;
}

function stateWord(state: string | null | undefined): string {
  return state != null && KNOWN_STATES.includes(state) ? state : 'in an unknown state';
}
