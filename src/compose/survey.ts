import { askedProgress } from '../cli/asked-progress.ts';
import type { CommandContext } from '../cli/context.ts';
import type { LoadedConfig } from '../config/loaded.ts';
import type { Keyring } from '../keys/key-store.ts';
import type { InstanceFacts } from '../view/fleet/fleet-facts.ts';
import { askFleet } from './ask-fleet.ts';
import { readFleetRecord } from './fleet-record.ts';
import { type LastEvaluated, lastEvaluated } from './last-evaluated.ts';
import { recallBackups, rememberBackups } from './last-seen.ts';
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
  const asked = [...new Set([...names, ...names.flatMap((name) => targetOf(name) ?? [])])];
  const wanted = new Set(names);
  const targets = new Set(names.map(targetOf));
  const known = new Map<string, InstanceFacts>();
  const waiting: InstanceFacts[] = [];
  const record = await readFleetRecord(context, asked, config.keys.escrow !== undefined);
  const progress = askedProgress(context, asked.length);
  let count = 0;
  let opened: Promise<Keyring> | undefined;
  const keyring = () => {
    opened ??= openKeys(context, 'look');
    return opened;
  };
  try {
    await askFleet({
      ...{ config, names: asked, record, keyring, limitMs, last },
      atOnce: AT_ONCE,
      remember: rememberBackups(context, config),
      recall: recallBackups(context, config),
      answered: (facts) => {
        if (targets.has(facts.name)) known.set(facts.name, facts);
        if (wanted.has(facts.name))
          if (targetOf(facts.name) === undefined) answered(facts);
          else waiting.push(facts);
        count += 1;
        progress.answered(count);
      },
    });
  } finally {
    progress.end();
  }
  for (const facts of waiting) answered({ ...facts, target: known.get(targetOf(facts.name) ?? '') });
}
