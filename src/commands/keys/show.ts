import { EXIT, LifeboatError } from '../../base/errors.ts';
import { formatTime } from '../../base/format.ts';
import { show as printable } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Action } from '../../cli/define.ts';
import { printResult, type ResultOf } from '../../cli/print-result.ts';
import { holdersOf } from '../../compose/escrow.ts';
import { type KeyOfInstance, keysOfInstance } from '../../compose/key-custody.ts';
import { recallBackups } from '../../compose/last-seen.ts';
import { openJournalIfAny } from '../../compose/store-of.ts';
import { openKeys } from '../../compose/workspace.ts';
import { chosenInstance, loadConfig } from '../../config/load.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import type { Keyring } from '../../keys/key-store.ts';
import type { JournalReader } from '../../store/journal.ts';
import { foldLedger, readLedger } from '../../store/projections/ledgers.ts';

type Epoch = ResultOf<'epochs'>['items'][number];

/**
 * `lifeboat keys show [INSTANCE]`: the keys of an instance by epoch: state, since when, by whom, which
 * backups need it, and who could open it. Asks no service: backups are those that were listed last.
 */
export const keysShow: Action<{ readonly instance?: string; readonly key?: string }> = async (
  context,
  _,
  { instance: named, key },
) => {
  const config = await loadConfig(context.env, context.configPath);
  const instance = chosenInstance(config, named);
  const keyring = await openKeys(context, 'look');
  const journal = await openJournalIfAny(context);
  try {
    const all = await epochsOf(context, config, { keyring, journal }, instance);
    const items = key === undefined ? all : all.filter(({ fingerprint }) => fingerprint?.startsWith(key));
    if (key !== undefined && items.length === 0)
      throw new LifeboatError(
        'usage.fingerprint',
        `${instance} has no key ${printable(key, 40)} on record or held`,
        {
          hints: [`\`lifeboat keys show ${instance}\` lists its keys`],
          exitCode: EXIT.usage,
        },
      );
    await printResult(context, 'epochs', { items }, () => {
      for (const epoch of items) context.stdout.write(`${words(epoch).join('\n')}\n\n`);
      if (items.length === 0) context.stderr.write(`no key of ${instance} is held or on record\n`);
    });
    return EXIT.closed;
  } finally {
    await journal?.close();
  }
};

interface From {
  readonly keyring: Keyring;
  readonly journal: JournalReader | undefined;
}

/** The keys of an instance with what depends on them, from the record and from what was seen last. */
export async function keysWithCustody(
  context: CommandContext,
  config: LoadedConfig,
  { keyring, journal }: From,
  instance: string,
): Promise<readonly KeyOfInstance[]> {
  const [ledger, held, seen] = await Promise.all([
    journal === undefined ? foldLedger([]) : readLedger(journal, instance),
    keyring.list(instance),
    recallBackups(context, config)(instance),
  ]);
  return keysOfInstance({ ledger, held, listed: seen?.backups, fits: seen?.fits ?? [] });
}

async function epochsOf(
  context: CommandContext,
  config: LoadedConfig,
  from: From,
  instance: string,
): Promise<readonly Epoch[]> {
  const { escrow } = config.keys;
  const holders =
    escrow === undefined || from.journal === undefined ? [] : await holdersOf(escrow, from.journal);
  const keys = await keysWithCustody(context, config, from, instance);
  return keys.map((key): Epoch => {
    const { fingerprint, epoch, custody, held, known, record, backups } = key;
    const { escrowed, retired, scheduled, destroyed } = record;
    const openers = (escrowed?.recipients ?? []).map((recipient) => {
      const holder = holders.find((one) => one.recipient === recipient);
      return { name: holder?.name ?? recipient, recipient, provenAt: holder?.provenAt };
    });
    return {
      ...{ instance, fingerprint, epoch, custody, held, backups, openers },
      since: known?.setAt,
      until: known?.endedAt,
      by: known?.setBy,
      run: known?.setIn === '' ? undefined : known?.setIn,
      provenAt: known?.provenAt,
      origin: known?.origin,
      note: known?.note,
      copies: (escrowed?.places ?? []).map(({ place }) => place),
      retired,
      scheduled: scheduled === undefined ? undefined : { due: scheduled.due, because: scheduled.because },
      destroyed: destroyed === undefined ? undefined : { at: destroyed.at, because: destroyed.because },
    };
  });
}

function words(epoch: Epoch): readonly string[] {
  const { fingerprint, custody, held, since, until, by, run, provenAt, backups, openers, copies } = epoch;
  const row = (label: string, text: string | undefined) =>
    text === undefined ? [] : [`  ${label.padEnd(10)}${printable(text, 400)}`];
  const at = (time: string | undefined) => (time === undefined ? undefined : `${formatTime(time)} UTC`);
  const ids = (how: 'verify' | 'fit' | 'date') =>
    backups
      .filter((one) => one.by === how)
      .map(({ id, downloadable }) => `${id}${downloadable === false ? ' (not offered)' : ''}`);
  const listed = [
    ['verified', ids('verify')],
    ['by fit', ids('fit')],
    ['by date', ids('date')],
  ] as const;
  const shown = listed.flatMap(([how, found]) => (found.length === 0 ? [] : [`${how}: ${found.join(', ')}`]));
  return [
    `${fingerprint ?? 'a key set by somebody else'}  ${custody.toUpperCase()}`,
    ...row('held', held ? 'yes' : 'NO'),
    ...row(
      'set',
      at(since) === undefined
        ? undefined
        : `${at(since)}${by === undefined ? '' : ` by ${by}`}${run === undefined ? '' : `, run ${run}`}`,
    ),
    ...row('ended', at(until)),
    ...row('proven', at(provenAt)),
    ...row('backups', shown.length === 0 ? 'none of those listed last' : shown.join('; ')),
    ...row(
      'escrow',
      fingerprint === undefined
        ? undefined
        : copies.length === 0
          ? 'NO sealed copy'
          : `${copies.join(', ')}; opened by ${openers.map((one) => `${one.name}${one.provenAt === undefined ? ' (never shown)' : ''}`).join(', ')}`,
    ),
    ...row(
      'retired',
      epoch.retired === undefined ? undefined : `${at(epoch.retired.at)}: ${epoch.retired.reason}`,
    ),
    ...row('destroy', epoch.scheduled === undefined ? undefined : `scheduled for ${at(epoch.scheduled.due)}`),
    ...row('destroyed', epoch.destroyed === undefined ? undefined : at(epoch.destroyed.at)),
  ];
}
