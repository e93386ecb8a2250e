import { msOf } from '../base/instant.ts';
import type { NotifyEvent } from '../config/schema.ts';
import type { KnownTarget, Posted, Tries } from '../store/projections/outbox.ts';
import type { Notice } from './notice.ts';

/**
 * The pauses after failed attempts, in milliseconds: the last attempt is more than three hours after the
 * first.
 */
const SECOND = 1000;
const HOUR = 3600 * SECOND;
const PAUSES: readonly number[] = [
  2 * SECOND,
  10 * SECOND,
  60 * SECOND,
  300 * SECOND,
  900 * SECOND,
  HOUR,
  HOUR,
  HOUR,
];

/** How often a notification is tried at one target. */
export const MAX_TRIES = PAUSES.length + 1;

/** A configured target, with its wanted events and what the store knows of it. */
export interface Wanting {
  readonly name: string;
  /** Undefined: every event. */
  readonly on: readonly NotifyEvent[] | undefined;
  /** From when on it gets notifications. */
  readonly known: Pick<KnownTarget, 'index' | 'at'>;
}

/** A notice that a target wants and has not received. */
export interface Wanted {
  readonly notice: Notice;
  readonly target: string;
  /** When it may be tried. Milliseconds since 1970. */
  readonly dueMs: number;
  /** How often it was tried. */
  readonly count: number;
}

/**
 * Which targets want a notice that they have not received: those whose events include it, and that were
 * configured before it arose, or while it stands. Pure.
 */
export function wantedBy(
  notice: Notice,
  targets: readonly Wanting[],
  posted: Posted | undefined,
): readonly Wanted[] {
  return targets.flatMap((target): readonly Wanted[] => {
    const tries = posted?.tries[target.name];
    if (!isFor(notice, target, tries)) return [];
    if (tries?.outcome === 'delivered') return [];
    return [{ notice, target: target.name, dueMs: nextTry(tries), count: tries?.count ?? 0 }];
  });
}

/**
 * Whether this attempt closes the notice for all targets that want it: each has received it, or has failed
 * for good. Pure.
 */
export function closesWith(
  wanted: readonly Wanted[],
  { target, outcome }: { readonly target: string; readonly outcome: Tries['outcome'] },
): Posted['closes'] {
  const left = wanted.filter((one) => one.target !== target || outcome === 'failed');
  if (left.length === 0) return 'delivered';
  const isOver = (one: Wanted) => one.count + (one.target === target ? 1 : 0) >= MAX_TRIES;
  return left.every(isOver) ? 'given-up' : undefined;
}

/** A target does not get notices that arose before it was configured. */
function isFor(
  { event, index, since, stands = false }: Notice,
  { on, known }: Wanting,
  tries: Tries | undefined,
): boolean {
  if (on !== undefined && !on.includes(event)) return false;
  if (index !== undefined) return index > known.index;
  // A notice stays due for a target that it was once tried at, even if it no longer stands.
  return stands || tries !== undefined || msOf(since) > msOf(known.at);
}

/** A receiver may ask for a longer pause, up to a day: a notice not delivered by then is old. */
const LONGEST_ASKED = 24 * HOUR;

function nextTry(tries: Tries | undefined): number {
  if (tries === undefined) return 0;
  const asked = Math.min((tries.retryAfter ?? 0) * SECOND, LONGEST_ASKED);
  return msOf(tries.at) + Math.max(PAUSES[tries.count - 1] ?? Number.POSITIVE_INFINITY, asked);
}
