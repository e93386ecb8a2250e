import { EXIT, LifeboatError } from '../../base/errors.ts';
import { formatTime } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Action } from '../../cli/define.ts';
import { printResult, type ResultOf } from '../../cli/print-result.ts';
import { type Copies, copiesIn, holdersOf } from '../../compose/escrow.ts';
import { openJournalIfAny } from '../../compose/store-of.ts';
import { openKeys } from '../../compose/workspace.ts';
import { instanceNamed, loadConfig } from '../../config/load.ts';
import type { EscrowConfig, LoadedConfig } from '../../config/loaded.ts';
import { isPostgres } from '../../config/store-address.ts';
import { storeNamed } from '../../config/store-named.ts';
import { type HolderState, lackOfProof, lacksOf, losses, type OnMachine } from '../../keys/escrow-policy.ts';
import { identityIn } from '../../keys/identity.ts';
import type { Keyring } from '../../keys/key-store.ts';
import type { JournalReader } from '../../store/journal.ts';
import { currentKey } from '../../store/projections/key-epochs.ts';
import { foldLedger, readLedger } from '../../store/projections/ledgers.ts';

export interface KeyToKeep {
  readonly instance: string;
  readonly fingerprint: string;
  readonly held: boolean;
  readonly active: boolean;
}

/** The escrow of a config, as `keys escrow` needs it; `config.escrow` (exit 2) where the config has none. */
export function escrowConfig({ keys, path }: LoadedConfig): EscrowConfig {
  if (keys.escrow !== undefined) return keys.escrow;
  throw new LifeboatError('config.escrow', `${show(path, 200)} says nothing of escrow`, {
    hints: [
      'each holder runs `lifeboat keys identity`, which prints their recipient',
      'write it under keys: { escrow: { recipients: [age1…], places: [./escrow, store] } }',
    ],
    exitCode: EXIT.usage,
  });
}

/**
 * `lifeboat keys escrow check`: copies of every key, who showed that they can open one, and what nobody could
 * open without this machine, a place or a person. Exit 1 when the policy is not met.
 */
export const escrowCheck: Action<{ readonly instance?: string }> = async (context, _, { instance }) => {
  const config = await loadConfig(context.env, context.configPath);
  if (instance !== undefined) instanceNamed(config, instance);
  const policy = escrowConfig(config);
  const keyring = await openKeys(context, 'look');
  const journal = await openJournalIfAny(context);
  try {
    const names = instance === undefined ? Object.keys(config.instances) : [instance];
    const keys = await keysToKeep({ keyring, journal }, names);
    const copies = await copiesIn(policy.places, journal, names);
    const holders = await holdersOf(policy, journal ?? { read: async () => [] });
    const own = await identityIn(keyring.store);
    const onMachine = {
      places: isPostgres(await storeNamed(context.env, context.configPath)) ? [] : ['store'],
      recipients: own === undefined ? [] : [own.recipient],
    };
    const result = checked(policy, { keys, copies, holders, onMachine });
    await printResult(context, 'escrow', result, () => printCheck(context, result));
    return result.met ? EXIT.closed : EXIT.failed;
  } finally {
    await journal?.close();
  }
};

/** The keys of these instances that are held, or that were in force and are not destroyed. */
export async function keysToKeep(
  { keyring, journal }: { readonly keyring: Keyring; readonly journal: JournalReader | undefined },
  names: readonly string[],
): Promise<readonly KeyToKeep[]> {
  const all = names.map(async (instance) => {
    const { epochs, custody } = journal === undefined ? foldLedger([]) : await readLedger(journal, instance);
    const held = await keyring.list(instance);
    const current = currentKey(epochs)?.fingerprint;
    const used = epochs.filter(({ setAt, earlier }) => setAt !== undefined || earlier.length > 0);
    const names = new Set([...used.map(({ fingerprint }) => fingerprint), ...held]);
    return [...names]
      .filter((fingerprint) => custody?.keys[fingerprint]?.destroyed === undefined)
      .map((fingerprint) => ({
        ...{ instance, fingerprint, held: held.includes(fingerprint) },
        active: fingerprint === current,
      }));
  });
  return (await Promise.all(all)).flat();
}

type Check = Omit<ResultOf<'escrow'>, 'schema'>;

interface Found {
  readonly keys: readonly KeyToKeep[];
  readonly copies: Copies;
  readonly holders: readonly HolderState[];
  readonly onMachine: OnMachine;
}

function checked(policy: EscrowConfig, { keys, copies: found, holders, onMachine }: Found): Check {
  const epochs = keys.map((key) => ({
    ...key,
    copies: found.copies
      .filter(({ copy }) => copy.instance === key.instance && copy.fingerprint === key.fingerprint)
      .map(({ place, copy }) => ({ place, recipients: copy.recipients })),
  }));
  const nameOf = (recipient: string) =>
    holders.find((one) => one.recipient === recipient)?.name ?? `${recipient.slice(0, 12)}…`;
  const rows = epochs.map(({ copies, instance, fingerprint, held, active }) => ({
    ...{ instance, fingerprint, held, active },
    copies: copies.map(({ place, recipients }) => ({ place, openers: recipients.map(nameOf) })),
    lacks: lacksOf(policy, { instance, fingerprint, held, copies }),
  }));
  const lack = lackOfProof(policy, holders);
  const isWhole = found.broken.length === 0 && found.unread.length === 0;
  return {
    met: lack === undefined && isWhole && rows.every(({ lacks }) => lacks.length === 0),
    lack,
    atLeast: policy.atLeast,
    proofSeconds: policy.proof / 1000,
    places: policy.places.map(({ name }) => name),
    holders: holders.map(({ name, recipient, state, provenAt, provenBy }) => ({
      ...{ name, recipient, state, provenAt, provenBy },
    })),
    keys: rows,
    broken: found.broken,
    unread: found.unread,
    onMachine: {
      places: onMachine.places.filter((place) => policy.places.some(({ name }) => name === place)),
      holders: holders.flatMap((one) => (onMachine.recipients.includes(one.recipient) ? [one.name] : [])),
    },
    without: losses(policy, epochs, onMachine),
  };
}

function printCheck({ stdout, stderr }: CommandContext, check: Check): void {
  const line = (text: string) => stdout.write(`${text}\n`);
  line(check.met ? 'the escrow policy is met' : 'the escrow policy is NOT met');
  if (check.lack !== undefined) line(`  ${show(check.lack, 400)}`);
  line('\nholders');
  for (const { name, state, provenAt, provenBy } of check.holders)
    line(`  ${show(name, 60)}: ${holderWords(state, provenAt, provenBy)}`);
  line('\nkeys');
  if (check.keys.length === 0) line('  none is held or on record');
  for (const { instance, fingerprint, held, active, copies, lacks } of check.keys) {
    const where = copies.map(({ place, openers }) => `${place} (${openers.join(', ')})`).join('; ');
    const marks = `${active ? ', in force' : ''}${held ? '' : ', not held here'}`;
    line(`  ${instance} ${fingerprint}${marks}: ${show(where || 'NO sealed copy', 400)}`);
    for (const lack of lacks) line(`    MISSING: ${show(lack, 200)}`);
  }
  for (const { path, why } of check.broken) line(`  BROKEN: ${show(path, 200)}: ${show(why, 200)}`);
  for (const { place, why } of check.unread) line(`  NOT READ: ${show(place, 200)}: ${show(why, 200)}`);
  line('\nwhat nobody could open any more');
  for (const name of check.onMachine.holders)
    line(
      `  the identity of ${show(name, 60)} is in this key store: without a copy elsewhere it goes with it`,
    );
  if (check.places.some((place) => place !== 'store'))
    line('  folders count as kept elsewhere as well: push or copy them');
  for (const place of check.onMachine.places)
    line(`  ${show(place, 80)} is on this machine, and goes with it`);
  for (const { what, lost } of check.without) {
    const named = lost.map(({ instance, fingerprint }) => `${instance} ${fingerprint}`).join(', ');
    line(`  without ${show(what, 80)}: ${show(named || 'nothing', 400)}`);
  }
  if (!check.met) stderr.write('hint: `lifeboat keys escrow update` seals what is held to all recipients\n');
}

function holderWords(state: HolderState['state'], at: string | undefined, by: string | undefined): string {
  const when =
    at === undefined
      ? ''
      : `${formatTime(at)} UTC${by === undefined ? '' : `, on record by ${show(by, 60)}`}`;
  if (state === 'never') return 'NEVER shown that they can open a copy';
  return state === 'proven' ? `opened a challenge ${when}` : `proof EXPIRED: opened a challenge ${when}`;
}
