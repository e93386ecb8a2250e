import { dateAt } from '../../base/date.ts';
import type { Fact, Fleet } from '../app/sources.ts';

/** Milliseconds for which a judgement holds. */
const HOLDS_MS = 5_000;

const judged = new WeakMap<Fleet, { readonly atMs: number; readonly fleet: Fleet }>();

/** The fleet as its last answers are to be read now, to 5 seconds. The same object for the same 5 seconds. */
export function fleetAt(fleet: Fleet, now: Date): Fleet {
  if (fleet.instancesAt === undefined) return fleet;
  const atMs = Math.floor(now.getTime() / HOLDS_MS) * HOLDS_MS;
  const known = judged.get(fleet);
  if (known?.atMs === atMs) return known.fleet;
  // An answer may be newer than the last full 5 seconds.
  const next = { ...fleet, instances: fleet.instancesAt(known === undefined ? now : dateAt(atMs)) };
  judged.set(fleet, { atMs, fleet: next });
  return next;
}

/** What is known of the fleet, with its last answers as they are to be read now. */
export function factAt(fact: Fact<Fleet>, now: Date): Fact<Fleet> {
  const { last } = fact;
  return last === undefined ? fact : { ...fact, last: { ...last, value: fleetAt(last.value, now) } };
}
