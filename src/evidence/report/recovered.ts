import type { Entry } from '../../journal/journal.ts';
import type { RecoveryPoint } from '../measure/recovery-point.ts';
import { fieldsOf, timelineOf } from '../measure/timeline.ts';
import type { Fact, Report } from './model.ts';

const RESTORES = ['restoreBackup', 'restoreToTime', 'performRecovery'];

type Fields = Readonly<Record<string, unknown>>;

/** Which backup or point in time was restored, with which key, and how the service told of it. Empty for a run that restored nothing. */
export function recoveredOf(entries: readonly Entry[], point: RecoveryPoint | undefined): Fact[] {
  const performed = timelineOf(entries)?.performed ?? [];
  const asked = performed.findLast(({ verb }) => RESTORES.includes(verb));
  if (asked === undefined) return [];
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
  return rows.flatMap(([label, value]) =>
    typeof value === 'string' || typeof value === 'number' ? [{ label, value: String(value) }] : [],
  );
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

/** The command's words, or why there are none. */
function said({ failure, output }: Fields): string {
  const why = fieldsOf(failure)['shortMessage'];
  return typeof why === 'string' ? `failed: ${why}` : text(output);
}

function text(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
