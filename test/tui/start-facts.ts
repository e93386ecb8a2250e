import type { BackupList, BackupRow } from '../../src/view/app/backup-list.ts';
import type { DryRunFacts } from '../../src/view/app/dry-run-facts.ts';
import { rowOf } from '../../src/view/app/fleet-row.ts';
import type { Facts, HomeInstance, SourceName, Sources } from '../../src/view/app/sources.ts';
import { type InstanceFacts, nothingAsked } from '../../src/view/fleet/fleet-facts.ts';
import { instanceStatus } from '../../src/view/fleet/instance-status.ts';
import type { InstanceStatus } from '../../src/view/fleet/status-schema.ts';

/** The moment at which the made-up answers below were given. */
export const NOW = new Date('2026-03-01T03:00:00.000Z');

/** Answers as they are known; whatever is not among them was not asked yet. */
export type Known = {
  readonly [Name in SourceName]?: (of: Sources[Name]['of']) => Sources[Name]['value'] | undefined;
};

/** Facts that say these answers, and nothing else. */
export function factsOf(known: Known): Facts {
  return {
    get: (source, of) => {
      const value = known[source]?.(of as never);
      if (value === undefined) return { part: { state: 'unasked' }, isAsking: true };
      return { part: { state: 'known', at: NOW, value }, last: { at: NOW, value }, isAsking: false } as never;
    },
  };
}

/** An instance of the config. */
export function instance(name: string, more: Partial<HomeInstance> = {}): HomeInstance {
  const place = `dashboard/${name}`;
  return { name, role: 'source', isRehearsal: false, revision: '62', place, address: place, ...more };
}

const SAID = { state: 'known', at: NOW } as const;

/** What the board knows of an instance that answers. */
export const fleetRows = (...statuses: readonly InstanceStatus[]) => statuses.map((one) => rowOf(one));

export function status(name: string, more: Partial<InstanceFacts> = {}) {
  const done = [{ id: 7, backupId: 'guid-7', triggeredAt: '2026-03-01T02:00:00Z', size: 4096 }];
  return instanceStatus(
    {
      ...nothingAsked({ name, role: 'source', objectives: { rto: 1_800_000 } }),
      overview: { ...SAID, value: { state: 'provisioned' } },
      backups: { ...SAID, value: { done } },
      window: { ...SAID, value: { start: '2026-02-28T00:00:00Z', end: '2026-03-01T02:59:50Z' } },
      ...more,
    },
    NOW,
  );
}

const FAILED = { state: 'failed', at: NOW, code: 'service.unreachable', why: 'the router gave 502' } as const;

/** What the board knows of an instance that is gone. */
export function gone(name: string) {
  return status(name, { overview: FAILED, backups: FAILED, window: FAILED });
}

/** A done backup that was proven, with its key held. */
export function backup(id: number, more: Partial<BackupRow> = {}): BackupRow {
  return {
    id,
    backupId: `guid-${id}`,
    status: 'done',
    triggeredAt: '2026-03-01T02:00:00Z',
    ageSeconds: 3600,
    size: 4096,
    provenAt: '2026-03-01T02:10:00Z',
    keys: [{ fingerprint: 'aaaaaaaaaaaa', isHeld: true }],
    ...more,
  };
}

export const BACKUPS: BackupList = {
  rows: [
    backup(7),
    backup(6, { provenAt: undefined, keys: [{ fingerprint: 'bbbbbbbbbbbb', isHeld: false }] }),
  ],
  window: { earliest: '2026-02-28T00:00:00Z', latest: '2026-03-01T02:59:50Z' },
};

export const DRY_RUN: DryRunFacts = {
  steps: [
    { title: 'look at the instance', calls: [], does: [], asks: false, destroys: false },
    {
      title: 'restore the data',
      calls: ['POST /pitr/restore'],
      does: [],
      asks: false,
      destroys: true,
      usualSeconds: 42,
    },
  ],
  forever: ['everything that the instance holds now is replaced'],
  wayBack: ['restore the backup of the present state, if one was taken'],
  approvals: [],
  found: [['state before', 'provisioned']],
  usualSeconds: 130,
  earlierRuns: 3,
};

/** Two instances that answer, their backups, and what the dry run found. */
export function known(more: Known = {}): Known {
  return {
    home: () => ({
      instances: [instance('orders'), instance('orders-dr', { role: 'target', isRehearsal: true })],
      operator: 'kim',
      folder: 'here',
      config: 'lifeboat.yaml',
      store: 'here',
    }),
    fleet: () => ({ instances: fleetRows(status('orders'), status('orders-dr')), answered: 2, drills: '' }),
    backups: () => BACKUPS,
    dryRun: () => DRY_RUN,
    moment: (text) => (text === '02:32' ? { time: '2026-03-01T02:32:00.000Z' } : { problem: 'not a time' }),
    ...more,
  };
}
