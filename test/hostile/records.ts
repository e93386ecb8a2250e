import type { Entry, Json } from '../../src/store/journal.ts';
import { type RunEntryType, readRunEntry, runEntry } from '../../src/store/run-entries.ts';
import { recovery } from '../report/recovery.ts';
import { rotation } from '../report/rotation.ts';

/*
 * Records of runs in which every text says something hostile: as a service, a platform or an attacker with
 * access to the database would make them.
 */

const failure = {
  code: 'c',
  shortMessage: 'm',
  hints: ['h'],
  evidence: { reason: 'r', nested: ['n', { deep: 'd' }] },
};

/** Entries of the types that the runs of other tests have none of. */
const OTHERS = [
  runEntry('01R', 'run.resumed', { by: 'b', pid: 7 }),
  runEntry('01R', 'run.paused', { reason: 'credentials', failure }),
  runEntry('01R', 'run.detached', { why: 'w' }),
  runEntry('01R', 'intent.outcome', { intent: 'i1', verb: 'restoreBackup', sent: 'unknown', failure }),
  runEntry('01R', 'intent.judged', { intent: 'i1', verb: 'restoreBackup', verdict: 'ambiguous', failure }),
  runEntry('01R', 'answer', { event: 'operator.confirm', label: 'l', reason: 'r' }),
  runEntry('01R', 'approval.asked', {
    challenge: 'c',
    text: 't',
    target: 'orders',
    order: 'o',
    plan: 'p',
    requester: 'r',
    expiresAt: '2026-03-01T04:00:00.000Z',
  }),
  runEntry('01R', 'approval.given', {
    challenge: 'c',
    approver: 'a',
    key: 'SHA256:k',
    publicKey: 'ssh-ed25519 A',
    signature: 's',
    method: 'ssh',
    allowedSigners: 'f',
  }),
  runEntry('01R', 'approval.withdrawn', { challenge: 'c', approver: 'a', reason: 'r' }),
  runEntry('01R', 'approval.bypassed', { challenge: 'c', order: 'o', reason: 'r' }),
  runEntry('01R', 'transcript.kept', { lines: 1, bytes: 2, sha256: 's' }),
  runEntry('01R', 'activity.overdue', {
    activity: 'waitForRestore',
    verb: 'waitForRestore',
    seconds: 9,
    limitSeconds: 3,
    basis: 'history',
    detail: 'd',
  }),
  runEntry('01R', 'run.abandoned', { reason: 'r' }),
  { stream: 'run/01R' as const, type: 'type.of-tomorrow', body: { said: 's', list: ['l'] } },
  { stream: 'instance/orders' as const, type: 'key.proven', body: { fingerprint: 'f', run: '01R' } },
  {
    stream: 'store/log' as const,
    type: 'receipt.made',
    body: { run: '01R', result: 'PASSED', sha256: '0'.repeat(64), key: '1'.repeat(64) },
  },
  { stream: 'store/log' as const, type: 'receipt-key.endorsed', body: { note: 'n' } },
  { stream: 'instance/orders' as const, type: 'backup.proven', body: { backup: 'b', note: ['n'] } },
];

/** Runs by name, to be filled. The last one has each of the other types before its end. */
export const RECORDS: Readonly<Record<string, readonly Entry[]>> = {
  rotation,
  recovery,
  'a recovery with everything': [
    ...recovery.slice(0, -1),
    ...OTHERS.map(({ stream, type, body }, at) => ({
      ...(recovery.at(-1) as Entry),
      stream,
      type,
      body,
      seq: recovery.length + at,
    })),
    recovery.at(-1) as Entry,
  ],
};

/**
 * Words by which a reader finds out what an entry is: with something else in their place it is another entry,
 * or none.
 */
const TELLING = new Set([
  'type',
  'verb',
  'activity',
  'kind',
  'to',
  'sent',
  'verdict',
  'how',
  'mode',
  'basis',
]);

/**
 * The record with another text of `texts` in every place, beginning with the one at `first`. `sparing` keeps
 * the words that tell what an entry is, and whatever its schema does not let be anything.
 */
export function filled(
  entries: readonly Entry[],
  texts: readonly string[],
  first: number,
  how: 'all' | 'sparing',
): { readonly entries: readonly Entry[]; readonly places: number } {
  let places = 0;
  const next = () => texts[(first + places++) % texts.length] ?? '';
  const fill = (value: Json): Json => {
    if (typeof value === 'string') return next();
    if (Array.isArray(value)) return value.map(fill);
    if (typeof value !== 'object' || value === null) return value;
    const fields = Object.entries(value).map(([name, one]) => [
      name,
      how === 'sparing' && (TELLING.has(name) || isTime(one)) ? one : fill(one),
    ]);
    return Object.fromEntries(fields) as Json;
  };
  const made = entries.map((entry) => {
    const body = fill(entry.body);
    const type = entry.type as RunEntryType;
    const isRead = how === 'all' || readRunEntry({ type, body }) !== undefined;
    const wasRead = readRunEntry(entry) !== undefined;
    const other =
      how === 'all' ? { type: next(), at: next(), hash: next(), stream: next() as Entry['stream'] } : {};
    return { ...entry, ...other, by: next(), body: isRead || !wasRead ? body : entry.body };
  });
  return { entries: made, places };
}

function isTime(value: Json): boolean {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT/u.test(value);
}
