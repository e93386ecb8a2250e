import { askedProgress } from '../cli/asked-progress.ts';
import type { CommandContext } from '../cli/context.ts';
import type { LoadedConfig } from '../config/loaded.ts';
import type { Keyring } from '../keys/key-store.ts';
import type { InstanceFacts } from '../view/fleet/fleet-facts.ts';
import { askFleet } from './ask-fleet.ts';
import { readFleetRecord } from './fleet-record.ts';
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
  /** Called with each of them, in any order, with the facts of its target. */
  readonly answered: (facts: InstanceFacts) => void;
}

/**
 * Asks these instances and the journal, with a line of progress. Sends only GETs; opens the key store when a
 * key is asked for. Also asks the targets that the config names for them.
 */
export async function survey(context: CommandContext, ask: Survey): Promise<void> {
  const { config, names, limitMs = LIMIT_MS, last = lastEvaluated(context.env), answered } = ask;
  const targetOf = (name: string) => config.instances[name]?.target;
  // Each beside its target, so that neither is kept for long.
  const asked = [...new Set(names.flatMap((name) => [name, targetOf(name) ?? name]))];
  const paired = pairing(names, targetOf, answered);
  const record = await readFleetRecord(context, asked, config.keys.escrow !== undefined);
  const progress = askedProgress(context, asked.length);
  let count = 0;
  let opened: Promise<Keyring> | undefined;
  const keyring = () => {
    opened ??= openKeys(context, 'look');
    return opened;
  };
  const { rightOf, close } = await rightsByPlatform(context, config);
  try {
    await askFleet({
      ...{ config, names: asked, record, keyring, limitMs, last, rightOf },
      atOnce: AT_ONCE,
      remember: rememberBackups(context, config),
      recall: recallBackups(context, config),
      answered: (facts) => {
        paired(facts);
        count += 1;
        progress.answered(count);
      },
    });
  } finally {
    progress.end();
    await close();
  }
}

/**
 * Passes on the facts of these instances, each as soon as those of its target are known too. Keeps no facts
 * for which no other instance waits.
 */
export function pairing(
  names: readonly string[],
  targetOf: (name: string) => string | undefined,
  answered: (facts: InstanceFacts) => void,
): (facts: InstanceFacts) => void {
  const wanted = new Set(names);
  const sources = Map.groupBy(names, targetOf);
  const open = new Map([...sources].map(([target, { length }]) => [target, length]));
  const known = new Map<string, InstanceFacts>();
  const waiting = new Map<string, InstanceFacts>();
  const passIfKnown = (name: string) => {
    const target = targetOf(name) ?? '';
    const [facts, its] = [waiting.get(name), known.get(target)];
    if (facts === undefined || its === undefined) return;
    answered({ ...facts, target: its });
    waiting.delete(name);
    const left = (open.get(target) ?? 0) - 1;
    open.set(target, left);
    if (left === 0) known.delete(target);
  };
  return (facts) => {
    const { name } = facts;
    const ofThis = sources.get(name) ?? [];
    if (ofThis.length > 0) known.set(name, facts);
    if (wanted.has(name))
      if (targetOf(name) === undefined) answered(facts);
      else waiting.set(name, facts);
    for (const one of [...ofThis, name]) passIfKnown(one);
  };
}
