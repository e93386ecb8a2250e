import type { Verb } from '../../../machines/verbs.ts';
import { isoOf } from '../../base/date.ts';
import { type Entry, fieldsOf } from '../../store/journal.ts';
import { timelineOf } from '../measure/timeline.ts';
import type { Check } from './model-rows.ts';

type Fields = Readonly<Record<string, unknown>>;
type Checked = Omit<Check, 'at'>;

/** Every check of a backup, a key or a task with a verdict: an auditor's integrity tests. */
export function checksOf(entries: readonly Entry[]): Check[] {
  return checksByVerb(entries).map(({ check }) => check);
}

/** The same checks in the same order, each with its verb and that verb's output. */
export function checksByVerb(
  entries: readonly Entry[],
): { readonly verb: Verb; readonly output: Fields; readonly check: Check }[] {
  return (timelineOf(entries)?.performed ?? []).flatMap(({ verb, input, output, endedMs }) => {
    const found = Object.hasOwn(CHECKS, verb) ? CHECKS[verb as Verb]?.(input, output) : undefined;
    if (found === undefined) return [];
    return [{ verb: verb as Verb, output, check: { at: isoOf(endedMs), ...found } }];
  });
}

const CHECKS: Readonly<Partial<Record<Verb, (input: Fields, output: Fields) => Checked | undefined>>> = {
  verifyBackup: ({ backup }, output) => ({
    what: `backup ${word(backup)} opened and read`,
    verdict: word(output['verdict']) || 'not reported',
    good: ['intact', 'readable'].includes(word(output['verdict'])),
    details: details(output, {
      opens: 'opened with key',
      content: 'content',
      entries: 'entries read',
      cipherBytes: 'bytes, encrypted',
      contentBytes: 'bytes, content',
      cipherSha256: 'SHA-256, encrypted',
      contentSha256: 'SHA-256, content',
    }),
  }),
  negativeTest: (_input, { opened, tested }) => {
    const [wrong, tried] = [list(opened), list(tested)];
    if (tried.length === 0) return undefined;
    const verdict = wrong.length === 0 ? 'refused, as expected' : 'OPENED BY A KEY THAT MUST NOT';
    return {
      what: 'other keys tried on the new backup',
      verdict,
      good: wrong.length === 0,
      details: details(
        { tested: tried.join(', '), opened: wrong.join(', ') || 'none' },
        {
          tested: 'keys tried',
          opened: 'keys that opened it',
        },
      ),
    };
  },
  readBackKey: (_input, { fingerprint }) => ({
    what: 'the stored key read back and compared',
    verdict: 'the same',
    good: true,
    details: details({ fingerprint }, { fingerprint: 'key' }),
  }),
  escrowKey: (_input, { fingerprint, places, recipients }) => ({
    what: 'sealed copies of the new key, before it was sent',
    verdict: 'in every place',
    good: true,
    details: details(
      { fingerprint, places: list(places).join(', '), recipients: list(recipients).length },
      { fingerprint: 'key', places: 'places', recipients: 'recipients' },
    ),
  }),
  waitForBackup: (_input, output) => task('backup', output),
  waitForRestore: (_input, output) => task('restore', output),
  waitForInstance: (_input, output) => ({
    what: 'the instance after the change',
    verdict: word(output['state']) || 'not reported',
    good: true,
    details: details(output, {
      updatedAt: 'changed',
      pendingUpdates: 'pending updates',
      reason: 'known by',
    }),
  }),
};

function task(kind: string, output: Fields): Checked {
  const status = word(output['status']) || 'not reported';
  return {
    what: `${kind} ${word(output['id'])} at the service`,
    verdict: status,
    good: status === 'done',
    details: details(
      { ...output, ...besideOf(output) },
      {
        beside: 'beside it, not sent by this run',
        backupId: 'backup_id',
        size: 'bytes',
        triggeredAt: 'triggered',
        startedAt: 'started',
        finishedAt: 'finished',
        restoredFrom: 'restored from',
      },
    ),
  };
}

/** Tasks in the list that were not sent. */
function besideOf({ beside }: Fields): Fields {
  if (!Array.isArray(beside)) return {};
  const tasks = beside.map((one) => fieldsOf(one)).map(({ id, status }) => `${word(id)} (${word(status)})`);
  return { beside: tasks.join(', ') };
}

const CODES = /^(?:SHA-256|opened with key|keys? |key$|backup_id)/u;

function details(output: Fields, labels: Readonly<Record<string, string>>): Check['details'] {
  return Object.entries(labels).flatMap(([field, label]) => {
    const value = word(output[field]);
    return value === ''
      ? []
      : [{ label, value, ...(CODES.test(label) && value !== 'none' ? { code: true } : {}) }];
  });
}

function list(value: unknown): string[] {
  return Array.isArray(value) ? value.map(word).filter((text) => text !== '') : [];
}

function word(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
