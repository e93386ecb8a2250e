import { instantOf } from '../../src/base/instant.ts';
import { counted } from '../../src/base/quantity.ts';
import type { FollowUp } from './follow-up.ts';

export function stillOpen<One extends { readonly closed?: unknown }>(
  followUps: readonly One[],
): readonly One[] {
  return followUps.filter(({ closed }) => closed === undefined);
}

interface LeftBehind {
  readonly kind: string;
  readonly doable?: FollowUp['doable'];
  readonly closed?: unknown;
}

/** What a run does by itself: a fresh backup, a card. Empty while a person or the platform must act. */
export function leftToRun<One extends LeftBehind>(followUps: readonly One[]): readonly One[] {
  const open = stillOpen(followUps).filter(({ kind }) => !LAST.includes(kind));
  return open.every(({ doable }) => doable === 'run') ? open : [];
}

/** Follow-ups that wait for all others, or for a person. */
const LAST: readonly string[] = ['remove-target', 'old-binding'];

/** Follow-ups of old journals count as well. */
interface Running {
  readonly id: string;
  readonly kind: string;
  readonly closed?: { readonly how: string } | undefined;
}

/** The applications and service keys that were skipped. */
export function leftUnbound<Item extends Running>(followUps: readonly Item[]): readonly Item[] {
  return followUps.filter(
    ({ kind, closed }) => (kind === 'rebind' || kind === 'service-key') && closed?.how === 'skipped',
  );
}

/**
 * `2 applications were not bound again, 1 service key was not recreated`. Follow-ups for applications that
 * the token cannot see are not counted.
 */
export function unboundWords(unbound: readonly Running[]): string {
  const keys = unbound.filter(({ kind }) => kind === 'service-key').length;
  const unseen = unbound.filter(({ id }) => UNSEEN.test(id)).length;
  return [
    ...undone(unbound.length - keys - unseen, 'application', 'not bound again'),
    ...(unseen === 0 ? [] : ['applications that cannot be seen from here were not bound again']),
    ...undone(keys, 'service key', 'not recreated'),
  ].join(', ');
}

const UNSEEN = /^rebind-(?:unknown$|unseen-)/;

function undone(count: number, what: string, not: string): string[] {
  return count === 0 ? [] : [counted(count, `${what} was ${not}`, `${what}s were ${not}`)];
}

/** `nowMs` is by the reader's clock. */
export function isOverdue(
  { since, dueSeconds }: Pick<FollowUp, 'since' | 'dueSeconds'>,
  nowMs: number,
): boolean {
  const sinceMs = instantOf(since);
  return dueSeconds !== undefined && sinceMs !== undefined && nowMs - sinceMs > dueSeconds * 1000;
}
