import type { CommandContext } from '../cli/context.ts';
import { countedOn } from '../cli/counted.ts';
import type { LoadedConfig } from '../config/loaded.ts';
import type { Keyring } from '../keys/key-store.ts';
import type { InstanceFacts } from '../view/fleet/fleet-facts.ts';
import { askFleet } from './ask-fleet.ts';
import { type FleetRecord, openFleetRecord } from './fleet-record.ts';
import { type LastEvaluated, lastEvaluated } from './last-evaluated.ts';
import { recallBackups, rememberBackups } from './last-seen.ts';
import { rightsByPlatform } from './rights-by-platform.ts';
import { openKeys } from './workspace.ts';

/** How many are asked at the same time: must not burden a service with one backup manager for hundreds. */
const AT_ONCE = 8;
const LIMIT_MS = 20_000;

interface Survey {
  readonly config: LoadedConfig;
  readonly names: readonly string[];
  /** Milliseconds for the answers of one instance; 20 seconds by default. */
  readonly limitMs?: number | undefined;
  /** When each was evaluated last; as this home knows it by default. */
  readonly last?: LastEvaluated;
  /** Targets of plans; those of the config are known. */
  readonly targets?: ReadonlySet<string>;
  /** Called with each and its target's facts, in any order; the next is asked after its promise. */
  readonly answered: (facts: InstanceFacts) => void | Promise<void>;
}

/**
 * Asks these instances and the journal, with a line of progress. Sends only GETs; opens the key store when a
 * key is asked for. Also asks the targets that the config names for them.
 */
export async function survey(context: CommandContext, ask: Survey): Promise<void> {
  const { config, names, limitMs = LIMIT_MS, last = lastEvaluated(context.env), targets, answered } = ask;
  const targetOf = (name: string) => config.instances[name]?.target;
  // Each beside its target, so that neither is kept for long.
  const asked = [...new Set(names.flatMap((name) => [name, targetOf(name) ?? name]))];
  const paired = pairing(names, targetOf, answered);
  const record = await openFleetRecord(context, config.keys.escrow !== undefined);
  const progress = countedOn(context, (done) => `asked ${done} of ${asked.length} instances`);
  let count = 0;
  let opened: Promise<Keyring> | undefined;
  const keyring = () => {
    opened ??= openKeys(context, 'look');
    return opened;
  };
  const { rightOf, close } = await rightsByPlatform(context, config);
  try {
    await askFleet({
      ...{ config, names: asked, recordOf: inGroups(asked, record), keyring, limitMs, last, rightOf },
      isTarget: targetsAmong(config, targets),
      atOnce: AT_ONCE,
      remember: rememberBackups(context, config),
      recall: recallBackups(context, config),
      answered: async (facts) => {
        await paired(facts);
        count += 1;
        progress.count(count);
      },
    });
  } finally {
    progress.end();
    await close();
    await record.close();
  }
}

/** Whether one is recovered into an instance, by the config or one of these plans. */
export function targetsAmong(
  { instances }: Pick<LoadedConfig, 'instances'>,
  ofPlans: ReadonlySet<string> = new Set(),
): (name: string) => boolean {
  const ofConfig = new Set(Object.values(instances).flatMap(({ target }) => target ?? []));
  return (name) => instances[name]?.role === 'target' || ofConfig.has(name) || ofPlans.has(name);
}

const GROUP = 200;

/**
 * The record of each of these instances, which are asked for once each and about in this order: a group is
 * read with its first one, so that the records of ten thousand are never there together.
 */
export function inGroups(
  names: readonly string[],
  record: FleetRecord,
): (name: string) => Promise<InstanceFacts['record']> {
  const groupOf = new Map(names.map((name, at) => [name, Math.floor(at / GROUP)]));
  const groups = new Map<number, { readonly known: ReturnType<FleetRecord['of']>; left: number }>();
  return async (name) => {
    const at = groupOf.get(name) ?? 0;
    let group = groups.get(at);
    if (group === undefined) {
      const members = names.slice(at * GROUP, (at + 1) * GROUP);
      group = { known: record.of(members), left: members.length };
      groups.set(at, group);
    }
    group.left -= 1;
    if (group.left === 0) groups.delete(at);
    return (await group.known).get(name) ?? { state: 'unasked' };
  };
}

/** Passes on each instance's facts once those of its target are known; keeps only facts that others need. */
export function pairing(
  names: readonly string[],
  targetOf: (name: string) => string | undefined,
  answered: (facts: InstanceFacts) => void | Promise<void>,
): (facts: InstanceFacts) => Promise<void> {
  const wanted = new Set(names);
  const sources = Map.groupBy(names, targetOf);
  const open = new Map([...sources].map(([target, { length }]) => [target, length]));
  const known = new Map<string, InstanceFacts>();
  const waiting = new Map<string, InstanceFacts>();
  const passIfKnown = async (name: string) => {
    const target = targetOf(name) ?? '';
    const [facts, its] = [waiting.get(name), known.get(target)];
    if (facts === undefined || its === undefined) return;
    waiting.delete(name);
    const left = (open.get(target) ?? 0) - 1;
    open.set(target, left);
    if (left === 0) known.delete(target);
    await answered({ ...facts, target: its });
  };
  return async (facts) => {
    const { name } = facts;
    const ofThis = sources.get(name) ?? [];
    if (ofThis.length > 0) known.set(name, facts);
    if (wanted.has(name))
      if (targetOf(name) === undefined) await answered(facts);
      else waiting.set(name, facts);
    for (const one of [...ofThis, name]) await passIfKnown(one);
  };
}
