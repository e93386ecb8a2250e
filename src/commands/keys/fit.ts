import { EXIT, LifeboatError } from '../../base/errors.ts';
import { formatTime } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Action } from '../../cli/define.ts';
import { durationFrom } from '../../cli/numbers.ts';
import { printResult, printTable, type ResultOf } from '../../cli/print-result.ts';
import type { Fit, InstanceFits } from '../../compose/fit-backups.ts';
import { openWorkspace, type Workspace, workspaceFor } from '../../compose/workspace.ts';
import { chosenInstance, loadConfig } from '../../config/load.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { appendHolding } from '../../runner/holds.ts';
import type { NewEntry } from '../../store/journal.ts';
import { custodyEntry } from '../../store/projections/custody.ts';
import { type Ledger, readLedger } from '../../store/projections/ledgers.ts';
import { destroyDue } from './end-key.ts';
import { fitAll } from './fit-all.ts';

interface FitFlags {
  readonly instance?: string;
  readonly all?: boolean;
  readonly limit?: string;
}

/**
 * `lifeboat keys fit`: finds each listed backup's key by its first block. Records one that no held key opens
 * as under another person's key. Exit 0 when every offered backup has a held key, else 1.
 */
export const keysFit: Action<FitFlags> = async (context, _, flags) => {
  const limitMs = flags.limit === undefined ? undefined : durationFrom(flags.limit, 'limit', ['1s', '1h']);
  const config = await loadConfig(context.env, context.configPath);
  const names = namesFor(config, flags);
  const workspace = await openWorkspace(context, workspaceFor(config));
  try {
    await destroyDue(context, config, workspace);
    const found = await fitAll(context, config, workspace, names, limitMs);
    const rows = await rowsOf(workspace, found);
    const held = await recordUnknown(workspace, found);
    await printResult(context, 'fits', { items: rows }, () => printFits(context, rows));
    for (const name of held)
      context.stderr.write(
        `not on record yet: a run holds the ledger of ${name}; run this again when it has ended\n`,
      );
    const isKnown = ({ fit }: Row) => fit === 'fits' || fit === 'not-downloadable';
    return rows.every(isKnown) ? EXIT.closed : EXIT.failed;
  } finally {
    await workspace.close();
  }
};

function namesFor(config: LoadedConfig, { instance, all }: FitFlags): readonly string[] {
  if (all === true && instance !== undefined)
    throw new LifeboatError(
      'usage.option',
      '--all asks every instance, and --instance one: give one of them',
      {
        hints: ['nothing was asked'],
        exitCode: EXIT.usage,
      },
    );
  return all === true ? Object.keys(config.instances) : [chosenInstance(config, instance)];
}

type Row = ResultOf<'fits'>['items'][number];

async function rowsOf(
  { journal }: Pick<Workspace, 'journal'>,
  found: readonly InstanceFits[],
): Promise<readonly Row[]> {
  const rows = found.map(async ({ instance, fits, failed }): Promise<readonly Row[]> => {
    if (failed !== undefined) return [{ instance, fit: 'unasked', why: failed.why }];
    const ledger = await readLedger(journal, instance);
    return fits.map((fit) => rowOf(instance, fit, ledger));
  });
  return (await Promise.all(rows)).flat();
}

function rowOf(instance: string, found: Fit, { proven }: Ledger): Row {
  const { id, backupId, triggeredAt, fit } = found;
  const proof = proven.find((one) =>
    one.backupId === undefined || backupId === undefined ? one.id === id : one.backupId === backupId,
  );
  return {
    ...{ instance, backup: id, backupId, triggeredAt, fit },
    ...(found.fit === 'fits'
      ? { fingerprint: found.fingerprint, heldFor: found.heldFor, profile: found.profile }
      : {}),
    ...(found.fit === 'unasked' ? { why: found.why } : {}),
    provenAt: proof?.provenAt,
  };
}

/** Records new facts about others' keys. Resolves with instances whose ledgers a run holds. */
async function recordUnknown(
  { journal }: Pick<Workspace, 'journal'>,
  found: readonly InstanceFits[],
): Promise<readonly string[]> {
  const held: string[] = [];
  for (const { instance, fits } of found) {
    const { custody } = await readLedger(journal, instance);
    const onRecord = new Set((custody?.unknown ?? []).map(({ id, backupId }) => backupId ?? id));
    const entries = fits.flatMap((fit): NewEntry[] => {
      const backup = {
        id: fit.id,
        ...(fit.backupId === undefined ? {} : { backup_id: fit.backupId }),
        ...(fit.triggeredAt === undefined ? {} : { triggered_at: fit.triggeredAt }),
      };
      const isOnRecord = onRecord.has(fit.backupId ?? fit.id);
      if (fit.fit === 'none' && !isOnRecord)
        return [custodyEntry(instance, 'custody.unknown', { backup, tried: [...fit.tried] })];
      if (fit.fit === 'fits' && isOnRecord)
        return [custodyEntry(instance, 'custody.fits', { backup, fingerprint: fit.fingerprint })];
      return [];
    });
    if (entries.length === 0) continue;
    try {
      await appendHolding(journal, entries);
    } catch (thrown) {
      if (!(thrown instanceof LifeboatError) || thrown.code !== 'journal.held') throw thrown;
      held.push(instance);
    }
  }
  return held;
}

function printFits(context: CommandContext, rows: readonly Row[]): void {
  const columns = [
    { title: 'instance', gives: true },
    { title: 'backup', align: 'right' as const },
    { title: 'of (UTC)' },
    { title: 'key' },
    { title: 'verified (UTC)', drops: true },
  ];
  const cells = rows.map((row) => [
    row.instance,
    row.backup === undefined ? '-' : String(row.backup),
    row.triggeredAt === undefined ? '-' : formatTime(row.triggeredAt),
    keyWords(row),
    row.provenAt === undefined ? '-' : formatTime(row.provenAt),
  ]);
  if (rows.length === 0) context.stderr.write('no backup is listed\n');
  else printTable(context, columns, cells);
  context.stderr.write('a fit is the first block only: `lifeboat verify FILE` reads a backup to its end\n');
}

function keyWords({ fit, fingerprint, heldFor, why }: Row): string {
  if (fit === 'fits') return `fits ${fingerprint}${heldFor === undefined ? '' : ` (held for ${heldFor})`}`;
  if (fit === 'none') return 'NONE of the held keys';
  if (fit === 'not-encrypted') return 'NOT ENCRYPTED';
  if (fit === 'not-downloadable') return 'not offered for download';
  return `not asked: ${show(why ?? '', 120)}`;
}
