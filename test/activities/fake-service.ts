import type { ActivityDeps } from '../../src/activities/deps.ts';
import { LifeboatError } from '../../src/base/errors.ts';
import { Secret } from '../../src/base/secret.ts';
import type { Answer, SendOutcome, ServiceClient } from '../../src/service/client.ts';
import { readMetrics } from '../../src/service/metrics.ts';
import { Backup, BackupsConfig, InstanceOverview, PitrRange, Restore } from '../../src/service/schemas.ts';
import type { Entry } from '../../src/store/journal.ts';
import { foldLedger } from '../../src/store/projections/ledgers.ts';

/** The outcome of a changing call: whether it is done, and what the caller learns. */
export type Outcome =
  | { readonly done: true; readonly answer: 'whole' | 'without-id' | 'lost' }
  | { readonly done: false; readonly answer: 'lost' | 'never-sent' }
  /** `old-id` names the task with the id `OLD`, which the test has listed before. */
  | { readonly done: boolean; readonly answer: 'old-id' | 'refused' | 'unauthorised' | 'busy' | 'conflict' };

/** The id of an old task. */
export const OLD = 5;

/** An instance in memory, its received calls, and the outcomes of the next changes, by default `whole`. */
export interface FakeService {
  readonly deps: ActivityDeps;
  readonly calls: readonly string[];
  readonly restores: Restore[];
  readonly backups: Backup[];
  overview: Record<string, unknown>;
  config: Record<string, unknown>;
  /** Undefined without continuous archiving. */
  range: Record<string, unknown> | undefined;
  /** Data points; undefined where metrics fail. */
  metrics: string[] | undefined;
  /** Calls that the revision lacks. */
  readonly lacks: Set<string>;
  readonly ledger: Entry[];
  readonly outcomes: Outcome[];
  /** Called before the next read of any kind is answered. */
  beforeRead: () => void;
  /** Called when a changing call arrives. */
  beforeChange: () => void;
}

const STORED = new Map([['cccccccccccc', new Secret('a-key-that-is-stored')]]);
export const STORED_KEY = 'cccccccccccc';
const SENT: Readonly<Record<string, string>> = {
  lost: 'service.timeout',
  refused: 'service.invalid',
  busy: 'service.busy',
  conflict: 'service.conflict',
  'never-sent': 'service.unreachable',
  unauthorised: 'credentials.refused',
};

export function fakeService(now: () => number = Date.now, inFlightMs = 2_000): FakeService {
  const calls: string[] = [];
  const read = async <T>(name: string, value: () => T): Promise<Answer<T>> => {
    fake.beforeRead();
    calls.push(name);
    return { value: value(), raw: undefined, status: 200, skew: { skewMs: 0, uncertaintyMs: 500 } };
  };
  const change = async <T>(name: string, act: () => T, bare: T): Promise<SendOutcome<T>> => {
    fake.beforeChange();
    calls.push(name);
    const next = fake.outcomes.shift() ?? { done: true, answer: 'whole' };
    const done = next.done ? act() : bare;
    const value = next.answer === 'old-id' ? { ...done, ...old(done) } : done;
    if (next.answer === 'whole' || next.answer === 'without-id' || next.answer === 'old-id')
      return {
        outcome: 'accepted',
        value: next.answer === 'without-id' ? bare : value,
        raw: undefined,
        status: 202,
        serverDate: undefined,
      };
    const evidence = next.answer === 'conflict' ? { status: 409, word: 'conflict' } : {};
    const failure = new LifeboatError(SENT[next.answer] ?? '', next.answer, { evidence }).toFailure();
    const outcome =
      next.answer === 'lost' || next.answer === 'conflict'
        ? 'unknown'
        : next.answer === 'never-sent'
          ? 'never-sent'
          : 'refused';
    const again = next.answer === 'busy' ? { againMs: 500 } : {};
    return { outcome, failure, serverDate: undefined, ...again };
  };
  const old = (value: unknown) => {
    const field = ['id', 'restoreId'].find((name) => name in Object(value));
    return field === undefined ? {} : { [field]: OLD };
  };
  const newRestore = (backup: number, from: string) => {
    const id = 10 + fake.restores.length;
    fake.restores.push(
      Restore.parse({
        id,
        backup_id: backup,
        status: 'queued',
        metadata: { restored_from: from },
        triggered_at: new Date(now()).toISOString(),
      }),
    );
    return id;
  };
  const act = (state: string) => () => {
    fake.overview = { ...fake.overview, state, updated_at: new Date(now()).toISOString() };
    return { message: undefined };
  };
  const named = <T extends { readonly id: number }>(rows: readonly T[], id: number): T => {
    const found = rows.find((row) => row.id === id);
    if (found === undefined) throw new LifeboatError('service.not-found', 'there is no such task');
    return found;
  };
  const require = (operation: string) => {
    if (fake.lacks.has(operation))
      throw new LifeboatError('service.unsupported', `the revision of this test cannot ${operation}`);
  };
  const service: Partial<ServiceClient> = {
    get limits() {
      return fake.lacks.has('overview')
        ? { name: 'V0', deprecation: 'V0 will go', unsaid: ['the state'] }
        : undefined;
    },
    isSimulated: () => false,
    supports: (operation) => !fake.lacks.has(operation),
    require,
    ready: async () => undefined,
    pitrRange: () =>
      read('pitrRange', () => {
        if (fake.range === undefined) throw new LifeboatError('service.not-found', 'there is no such thing');
        return PitrRange.parse(fake.range);
      }),
    metrics: ({ containing } = {}) =>
      read('metrics', () => {
        if (fake.metrics === undefined) throw new LifeboatError('service.error', 'metrics are out of order');
        return readMetrics(fake.metrics, containing);
      }),
    overview: () => read('overview', () => InstanceOverview.parse(fake.overview)),
    backups: () => read('backups', () => [...fake.backups]),
    backup: (id) => read('backup', () => named(fake.backups, id)),
    restores: () => read('restores', () => [...fake.restores]),
    restore: (id) => read('restore', () => named(fake.restores, id)),
    backupsConfig: () => read('backupsConfig', () => BackupsConfig.parse(fake.config)),
    createBackup: () =>
      change(
        'createBackup',
        () => {
          const id = 10 + fake.backups.length;
          const triggered_at = new Date(now()).toISOString();
          fake.backups.push(Backup.parse({ id, status: 'queued', triggered_at }));
          return { id: id as number | undefined, message: undefined };
        },
        { id: undefined, message: undefined },
      ),
    restoreBackup: (backup) =>
      change(`restoreBackup ${backup}`, () => ({ id: newRestore(backup, '2026-02-28T01:30:00Z') }), {
        id: undefined as number | undefined,
      }),
    performRecovery: ({ backupGuid, key }) =>
      change(
        `performRecovery ${backupGuid} ${key.reveal()}`,
        () => ({ restoreId: newRestore(77, '2026-02-27T01:30:00Z') }),
        {
          restoreId: undefined as number | undefined,
        },
      ),
    restoreToTime: (time) =>
      change(
        `restoreToTime ${time}`,
        () => {
          newRestore(4, time);
          return { status: undefined };
        },
        { status: undefined },
      ),
    restart: () => change('restart', act('deploying'), { message: undefined }),
    recreate: () => change('recreate', act('deploying'), { message: undefined }),
    update: ({ serviceId }) => change(`update ${serviceId}`, act('deploying'), { message: undefined }),
    prepareRecovery: (options) =>
      change(
        `prepareRecovery ${options?.key?.reveal() ?? ''}`.trim(),
        () => ({ backupGuid: 'a-guid' as never }),
        { backupGuid: undefined as never },
      ),
    changeBackupsConfig: (settings) =>
      change(
        'changeBackupsConfig',
        () => {
          fake.config = { ...fake.config, ...settings };
          return { message: undefined };
        },
        { message: undefined },
      ),
    changeUpdateSetting: (setting) =>
      change('changeUpdateSetting', () => ({ setting }), {
        setting: undefined as typeof setting | undefined,
      }),
  };
  const keyring = {
    load: async (instance: string, fingerprint: string) =>
      instance === 'orders' ? STORED.get(fingerprint) : undefined,
    list: async (instance: string) => (instance === 'orders' ? [...STORED.keys()] : []),
    store: { description: 'a store of this test', probe: async () => undefined },
  };
  const fake: FakeService = {
    deps: {
      service,
      keyring,
      inFlightMs,
      name: 'orders',
      currentKey: async () => undefined,
      tokenExpires: async () => undefined,
      ledger: async () => foldLedger(fake.ledger),
      lastSeen: () => undefined,
      apps: [],
      dashboardUrl: 'https://dashboard.example/service-instances/orders',
      platform: async () => ({ none: 'there is none in this test' }),
      reconcile: undefined,
      objectives: {},
    } as unknown as ActivityDeps,
    calls,
    restores: [],
    backups: [],
    overview: { state: 'available', updated_at: '2026-01-01T00:00:00Z', service_id: 'offering' },
    config: {},
    range: undefined,
    metrics: undefined,
    lacks: new Set(),
    ledger: [],
    outcomes: [],
    beforeRead: () => undefined,
    beforeChange: () => undefined,
  };
  return fake;
}
