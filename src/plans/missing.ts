import type { Lane, ResolvedGroup } from '../../machines/parts/plan.ts';
import { targetOf } from './resolve.ts';

/** Known of an instance without asking it, as its recovery would find it. */
export interface OnRecord {
  /** With the fingerprint of its key. */
  readonly card: { readonly fingerprint?: string | undefined } | undefined;
  /** This home has a list of its backups with their ids. */
  readonly isListed: boolean;
  /** A key of it is on record, wherever it is held. */
  readonly hasKey: boolean;
}

interface Recovery {
  readonly lane: Lane;
  /** Fingerprints in the key store here, by instance. */
  readonly held: ReadonlyMap<string, readonly string[]>;
  /** This host takes the steps. Others may hold a key that is on record. */
  readonly isHere: boolean;
  readonly recordOf: (name: string) => Promise<OnRecord>;
}

/**
 * What the recovery of a lane would stop at, or find missing when the data is overwritten: a card of the
 * source, its key, a key of the target. One sentence; undefined if nothing lacks or the plan makes it before.
 */
export async function missingFor(
  groups: readonly ResolvedGroup[],
  group: ResolvedGroup,
  { lane, held, isHere, recordOf }: Recovery,
): Promise<string | undefined> {
  const { name } = lane;
  const into = targetOf(group, lane);
  if (into === undefined) return undefined;
  if (!isDoneBefore(groups, group, name, isPrepared)) {
    const { card, isListed, hasKey } = await recordOf(name);
    if (card === undefined && !isListed)
      return `no recovery card of ${name} is on record: lifeboat run disaster-recovery ${name} --prepare`;
    const key = card?.fingerprint;
    if (isHere && key !== undefined && held.get(name)?.includes(key) === false)
      return `key ${key} of the recovery card of ${name} is not held here: lifeboat keys add ${name}`;
    if (!held.has(name) && (isHere || (key === undefined && !hasKey)))
      return `no key of ${name} is ${where(isHere)}: lifeboat keys add ${name}`;
  }
  if (held.has(into) || isDoneBefore(groups, group, into, setsKey)) return undefined;
  if (!isHere && (await recordOf(into)).hasKey) return undefined;
  return (
    `no key of target ${into} is ${where(isHere)}, so its backup after the recovery could not be opened: ` +
    `lifeboat keys add ${into}`
  );
}

function where(isHere: boolean): string {
  return isHere ? 'held here' : 'on record or held by this worker';
}

type Step = ResolvedGroup['steps'][number];

function isPrepared(step: Step): boolean {
  return step.kind === 'runbook' && step.runbook === 'disaster-recovery' && step.with.phase !== 'perform';
}

function setsKey(step: Step): boolean {
  return step.kind === 'runbook' && step.runbook === 'rotate-key';
}

/** By a step on this instance, in this group or one above it. */
function isDoneBefore(
  groups: readonly ResolvedGroup[],
  group: ResolvedGroup,
  name: string,
  does: (step: Step) => boolean,
): boolean {
  return groups
    .slice(0, groups.indexOf(group) + 1)
    .some(({ steps, lanes }) => steps.some(does) && lanes.some((lane) => lane.name === name));
}
