import { effectOf } from '../../../machines/verbs.ts';
import { type Entry, fieldsOf } from '../../store/journal.ts';
import { COMPARED, Compared } from '../../store/recovery-facts.ts';
import type { RecoveryPoint } from '../measure/recovery-point.ts';
import { timelineOf } from '../measure/timeline.ts';
import type { Fact, Report } from './model.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Which backup or point in time was restored, with which key, and what the service reported of it. Empty for
 * a run that restored nothing.
 */
export function recoveredOf(entries: readonly Entry[], point: RecoveryPoint | undefined): Fact[] {
  const performed = timelineOf(entries)?.performed ?? [];
  const asked = performed.findLast(({ verb }) => effectOf(verb) === 'restore');
  if (asked === undefined) return [];
  const reported: Fields = performed.findLast(({ verb }) => verb === 'waitForRestore')?.output ?? {};
  const { backup = reported['backup'], backupGuid, targetTime, source, fingerprint } = asked.input;
  // An instance that takes over counts its backups for itself: only the backup_id names the same one there.
  const [field, wanted] = asked.verb === 'performRecovery' ? ['backupId', backupGuid] : ['id', backup];
  const file = wanted === undefined ? {} : seenBackup(performed, String(field), wanted);
  const { earliest, latest } = performed.findLast(({ verb }) => verb === 'pitrRange')?.output ?? {};
  const rows: (readonly [string, unknown])[] = [
    ['Backup', backup],
    ['backup_id', file['backupId']],
    ['Size in bytes', file['size']],
    ['Backup triggered', file['triggeredAt']],
    ['Backup started', file['startedAt']],
    ['Backup finished', file['finishedAt']],
    ['Backup guid', backupGuid],
    ['Point in time requested', targetTime],
    ['Recoverable from', targetTime === undefined ? undefined : earliest],
    ['Recoverable until', targetTime === undefined ? undefined : latest],
    ['Source of the data', source],
    ['Key (fingerprint in this key store)', fingerprint ?? file['fingerprint']],
    ['Restore', reported['id'] ?? asked.output['id']],
    ['Restore status', reported['status']],
    ['Restored from', reported['restoredFrom']],
    ['Restore triggered', reported['triggeredAt']],
    ['Restore started', reported['startedAt']],
    [
      'Restore first seen running',
      reported['startedAt'] === undefined ? reported['seenRunningAt'] : undefined,
    ],
    ['Restore finished', reported['finishedAt']],
    ['Data recovered up to', point?.recoveredTo],
    ['Data written up to', point?.lostAt],
  ];
  return rows.flatMap(([label, value]) =>
    typeof value === 'string' || typeof value === 'number' ? [{ label, value: String(value) }] : [],
  );
}

/**
 * All that the run heard of a backup: from the service's lists, and from the proofs on record, which name the
 * key that opens it.
 */
function seenBackup(
  performed: readonly { readonly output: Fields }[],
  field: string,
  wanted: unknown,
): Fields {
  const seen = performed.flatMap(({ output }) =>
    ['newest', 'proven'].flatMap((list) => [output[list]].flat().map(fieldsOf)),
  );
  const own = seen.filter((one) => one[field] === wanted);
  return Object.assign({}, ...own.map(defined)) as Fields;
}

function defined(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** What the data itself said, before and after. Empty where nobody asked it. */
export function reconciliationOf(entries: readonly Entry[]): Report['reconciliation'] {
  return (timelineOf(entries)?.performed ?? [])
    .filter(({ verb, output }) => verb === 'reconcile' && output['configured'] === true)
    .map(({ input, output }) => ({
      when: input['when'] === 'after' ? 'after' : 'before',
      at: text(output['at']),
      newest: text(output['newest']),
      count: text(output['count']),
      said: said(output),
    }));
}

/**
 * What a drill saw of the databases after the run; undefined where nobody asked them. `ledger` is what is on
 * record about the run.
 */
export function comparisonOf(ledger: readonly Entry[]): Report['comparison'] {
  const entry = ledger.findLast(({ type }) => type === COMPARED);
  const read = Compared.safeParse(entry?.body);
  if (entry === undefined || !read.success) return undefined;
  const { run: _, ...compared } = read.data;
  return { ...compared, at: entry.at };
}

/** The command's words, or why there are none. */
function said({ failure, output }: Fields): string {
  const why = fieldsOf(failure)['shortMessage'];
  return typeof why === 'string' ? `failed: ${why}` : text(output);
}

function text(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
