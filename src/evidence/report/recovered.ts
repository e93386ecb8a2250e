import type { Entry } from '../../journal/journal.ts';
import { code, plain, table } from '../markdown.ts';
import type { RecoveryPoint } from '../measure/recovery-point.ts';
import { fieldsOf, timelineOf } from '../measure/timeline.ts';
import { time } from './layout.ts';

const RESTORES = ['restoreBackup', 'restoreToTime', 'performRecovery'];

type Fields = Readonly<Record<string, unknown>>;

/** Which backup or point in time was restored, with which key, and how the service told of it. Empty for a run that restored nothing. */
export function recovered(entries: readonly Entry[], point: RecoveryPoint | undefined): string {
  const performed = timelineOf(entries)?.performed ?? [];
  const asked = performed.findLast(({ verb }) => RESTORES.includes(verb));
  if (asked === undefined) return '';
  const told: Fields = performed.findLast(({ verb }) => verb === 'waitForRestore')?.output ?? {};
  const { backup, backupGuid, targetTime, source, fingerprint } = asked.input;
  const rows: (readonly [string, unknown])[] = [
    ['Backup', backup ?? told['backup']],
    ['Backup guid', backupGuid],
    ['Point in time asked for', targetTime],
    ['Data of', source],
    ['Key (fingerprint)', fingerprint],
    ['Restore', told['id'] ?? asked.output['id']],
    ['Status', told['status']],
    ['Restored from', told['restoredFrom']],
    ['Triggered', told['triggeredAt']],
    ['Started', told['startedAt']],
    ['Finished', told['finishedAt']],
    ['Data recovered up to', point?.recoveredTo],
    ['Data written up to', point?.lostAt],
  ];
  const known = rows.filter(([, value]) => typeof value === 'string' || typeof value === 'number');
  return table(
    ['', ''],
    known.map(([label, value]) => [label, plain(String(value), 120)]),
  );
}

/** What the data itself said, before and after. Empty where nobody asked it. */
export function reconciliation(entries: readonly Entry[]): string {
  const asked = (timelineOf(entries)?.performed ?? []).filter(
    ({ verb, output }) => verb === 'reconcile' && output['configured'] === true,
  );
  if (asked.length === 0) return '';
  const rows = asked.map(({ input, output }) => [
    input['when'] === 'after' ? 'after' : 'before',
    typeof output['at'] === 'string' ? time(output['at']) : '',
    text(output['newest']),
    text(output['count']),
    said(output),
  ]);
  return table(['When', 'Asked', 'Newest record', 'Rows', 'Output'], rows);
}

/** The command's words, or why there are none. */
function said({ failure, output }: Fields): string {
  const why = fieldsOf(failure)['shortMessage'];
  if (typeof why === 'string') return `failed: ${plain(why)}`;
  return typeof output === 'string' ? code(output, 200) : '';
}

function text(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? plain(String(value), 60) : '';
}
