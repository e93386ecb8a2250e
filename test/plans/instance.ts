import { foldLedger } from '../../src/store/projections/ledgers.ts';
import type { RunSummary } from '../../src/store/projections/run-summary.ts';
import {
  type InstanceFacts,
  type InstanceRecord,
  nothingAsked,
  type Part,
} from '../../src/view/fleet/fleet-facts.ts';

/* An instance of which every check is green, for tests that change one fact. */

export const NOW = new Date('2026-03-10T12:00:00Z');
export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
export const [KEY, OTHER] = ['aaaaaaaaaaaa', 'bbbbbbbbbbbb'];

export const ago = (hours: number) => new Date(NOW.getTime() - hours * HOUR).toISOString();
export const known = <Value>(value: Value): Part<Value> => ({ state: 'known', at: NOW, value });
export const failed = { state: 'failed', at: NOW, code: 'service.timeout', why: 'no answer' } as const;

/** Long in force, with a backup that was proven an hour ago, and a card. */
const PREPARED = [
  { type: 'key.set', at: ago(2000), body: { fingerprint: KEY, run: 'R', answer: 'accepted' } },
  {
    type: 'key.proven',
    at: ago(1),
    body: {
      ...{ fingerprint: KEY, run: 'R', verdict: 'readable', cipherSha256: '0', negative: 'refused' },
      backup: { id: 9, backup_id: 'guid-9', triggered_at: ago(2) },
    },
  },
  {
    type: 'card.prepared',
    at: ago(40),
    body: { card: { backupGuid: 'guid', fingerprint: KEY, preparedAt: ago(40), crossCheck: 'agrees' } },
  },
];

/** What the journal knows of it; `more` are further entries of its ledger. */
export function record(
  given: Partial<InstanceRecord> = {},
  more: readonly object[] = [],
  before: readonly object[] = PREPARED,
): InstanceRecord {
  const entries = [...before, ...more].map((entry, at) => ({ seq: at + 1, ...entry }) as never);
  return {
    ...{ ledger: foldLedger(entries), openRuns: [], inDoubt: [], followUps: [], store: {} },
    ...given,
  };
}

/** A proven recovery that many hours ago. */
export function recovered(hours: number): RunSummary {
  const at = ago(hours);
  return {
    ...{ runId: '01RESTORED', runbook: 'restore-backup', version: '1', instance: 'orders', mode: 'LIVE' },
    ...{ startedAt: at, lastAt: at, status: 'closed', result: 'proven', where: '', proven: true },
  };
}

/** One that is there, and that nothing was restored into. */
export function emptyTarget(name: string, given: Partial<InstanceFacts> = {}): InstanceFacts {
  return instance({
    ...{ name, role: 'target', record: known(record({}, [], [])), restores: known(0) },
    backups: known({ done: [], skewMs: 0 }),
    ...given,
  });
}

/** Every fact of it, but for what is given. */
export function instance(given: Partial<InstanceFacts> = {}): InstanceFacts {
  return {
    ...nothingAsked({ name: 'orders', role: 'source', objectives: { rpo: 4 * HOUR } }),
    overview: known({ state: 'available' }),
    backups: known({
      done: [{ id: 9, backupId: 'guid-9', triggeredAt: ago(2), size: 900, downloadable: true }],
      skewMs: 0,
    }),
    token: known({ kind: 'renewed' as const }),
    right: { state: 'missing' },
    window: known('none' as const),
    record: known(record()),
    held: known([KEY]),
    ...given,
  };
}
