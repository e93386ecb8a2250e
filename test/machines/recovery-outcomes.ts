import type * as recoveries from '../../machines/parts/recovery-data.ts';
import type * as verbs from '../../machines/parts/task-data.ts';
import { type Outcome, outcomesOf as rotationOutcomes } from './outcomes.ts';

const GUID = '11111111-1111-4111-8111-111111111111';
const OLD = 'aaaaaaaaaaaa';

export const failure = (code: string, evidence = {}): Outcome => ({
  error: { code, shortMessage: `it failed: ${code}`, hints: [], evidence },
});

const doubt = failure('doubt.ambiguous', {
  candidates: [{ id: 8, status: 'running', why: 'it may be ours' }],
});
const triggered = (id: number): Outcome[] => [
  { output: { landed: true, id, adopted: false } },
  { output: { landed: false } },
  failure('service.forbidden'),
  doubt,
];

export const app: recoveries.BoundApp = {
  key: 'orders-api',
  name: 'orders-api',
  space: 'prod',
  org: 'acme',
  running: true,
  binding: { guid: 'b-1', name: 'db', parametersFile: '/srv/params.json' },
  from: 'both',
};

/** The same with a team's own commands. */
export const withCommand: recoveries.BoundApp = {
  ...app,
  reconnect: { command: ['kubectl', 'rollout', 'restart', "deploy/it's"], proof: ['kubectl', 'get', 'x'] },
};

export const bound: recoveries.Bound = {
  way: 'platform',
  notes: [],
  from: { guid: 'si-1', name: 'orders-db', space: 'prod', org: 'acme' },
  to: { guid: 'si-1', name: 'orders-db', space: 'prod', org: 'acme' },
  apps: [app],
  keys: [{ name: 'ops' }],
  unseen: [],
  order: 'replace',
  foundAt: '2026-03-01T03:00:00Z',
};

const proof: recoveries.PlatformProof = {
  outcome: 'done',
  text: 'done by job 1',
  at: '2026-03-01T03:05:00Z',
  evidence: { job: '1' },
};

const proven: recoveries.ProvenBackup = {
  id: 3,
  backupId: `${GUID}-1`,
  provenAt: '2026-02-01T00:00:00Z',
  fingerprint: OLD,
};

const card: recoveries.RecoveryCard = {
  backupGuid: GUID,
  fingerprint: OLD,
  preparedAt: '2026-02-01T00:00:00Z',
  crossCheck: 'agrees',
  proven,
};

const identity: recoveries.TargetIdentity = {
  instanceId: '9',
  name: 'orders-dr',
  backups: 0,
  restores: 0,
  runningTasks: [],
  boundApps: [],
};

const target: recoveries.TargetFacts = { identity, warnings: [], blockers: [] };
const blocker = (code: string) => ({ code, shortMessage: `it is ${code}`, hints: [], evidence: {} });

export const range: recoveries.ReachableRange = {
  start: '2026-03-01T00:00:00Z',
  end: '2026-03-01T02:00:00Z',
  earliest: '2026-03-01T00:00:05Z',
  latest: '2026-03-01T01:59:59Z',
  readAt: '2026-03-01T02:00:00Z',
};

const counted: recoveries.Reconciliation = {
  configured: true,
  at: '2026-03-01T02:00:00Z',
  newest: '2026-03-01T01:59:00Z',
  count: 7,
};

const [preflight = failure('activity.broken')] = rotationOutcomes('preflight');
const found = ('output' in preflight ? preflight.output : {}) as verbs.PreflightFacts;
const withId = (backupId: string): Outcome => ({
  output: { ...found, newest: { id: 3, status: 'done', downloadable: true, backupId } },
});

const OUTCOMES: Readonly<Record<string, readonly Outcome[]>> = {
  preflight: [
    ...rotationOutcomes('preflight'),
    { output: { ...found, unsaid: { by: 'V0', what: ['the state of the instance'] } } },
    withId(`${GUID}-1`),
    withId('22222222-2222-4222-8222-222222222222-1'),
  ],
  recheck: [...rotationOutcomes('recheck'), { output: { ...found.baseline, runningRestores: [9] } }],
  listBackups: [
    {
      output: {
        newest: [{ id: 3, status: 'done', size: 100, triggeredAt: '2026-03-01T00:00:00Z' }],
        total: 1,
      },
    },
    { output: { newest: [], total: 0 } },
    failure('service.unreachable'),
  ],
  pitrRange: [
    { output: range },
    { output: { ...range, start: '2026-03-01T00:30:00Z', earliest: '2026-03-01T00:30:05Z' } },
    failure('pitr.not-available'),
  ],
  reconcile: [
    { output: counted },
    { output: { configured: true, at: counted.at, failure: blocker('reconcile.failed') } },
    failure('activity.broken'),
  ],
  readCard: [
    { output: { card, proven: [proven], keysHeld: [OLD] } },
    { output: { proven: [], keysHeld: [] } },
    failure('journal.busy'),
  ],
  inspectTarget: [
    { output: target },
    { output: { ...target, identity: { ...identity, backups: 1, newestBackup: 1 } } },
    { output: { ...target, blockers: [blocker('target.not-empty'), blocker('target.disk')] } },
    { output: { ...target, blockers: [blocker('target.is-source')] } },
    failure('service.unreachable'),
  ],
  recordCard: [{ output: { recorded: true } }, failure('journal.busy')],
  prepareRecovery: [
    { output: { answer: 'accepted', status: 200, backupGuid: GUID } },
    { output: { answer: 'accepted', status: 200 } },
    { output: { answer: 'unknown' } },
    failure('service.forbidden'),
  ],
  findBound: [
    { output: bound },
    { output: { ...bound, way: 'hand' } },
    { output: { ...bound, way: 'hand', platform: 'none', apps: [withCommand], keys: [] } },
    failure('platform.unreachable'),
  ],
  unbindApp: [{ output: proof }, failure('platform.failed')],
  bindApp: [{ output: proof }, failure('platform.bound')],
  restageApp: [{ output: proof }, failure('platform.failed')],
  renewServiceKey: [{ output: proof }, failure('platform.refused')],
  reconnectApp: [{ output: proof }, failure('activity.lost'), failure('reconnect.failed')],
  proveApp: [{ output: proof }, failure('app.not-rebound')],
  restoreBackup: triggered(5),
  performRecovery: triggered(5),
  restoreToTime: triggered(5),
  waitForRestore: [
    {
      output: {
        id: 5,
        status: 'done',
        restoredFrom: '2026-03-01T00:00:00Z',
        finishedAt: '2026-03-01T02:30:00Z',
      },
    },
    failure('restore.failed'),
    failure('service.unreachable'),
  ],
  waitForInstance: [{ output: { state: 'available' } }, failure('instance.failed')],
  ...Object.fromEntries(
    ['restart', 'recreate', 'update'].map((verb) => [
      verb,
      [{ output: { landed: true, adopted: false } }, failure('service.forbidden'), failure('doubt.no-trace')],
    ]),
  ),
  updatesChangeable: [
    { output: { changeable: true } },
    { output: { changeable: false, why: 'the revision does not offer it' } },
    failure('service.unreachable'),
  ],
  changeBackupSettings: [
    { output: { answer: 'accepted', settings: { retentionDays: 30 } } },
    failure('service.forbidden'),
  ],
  changeUpdateSetting: [
    { output: { type: 'general', allowed: false } },
    failure('service.timeout', { mayBeInForce: true }),
    failure('service.forbidden'),
  ],
  askOutside: [{ output: { found: '1200 records' } }, failure('check.failed')],
  runCommand: [{ output: { found: 'scaled' } }, failure('command.failed')],
  runOnce: [
    { output: { landed: true, adopted: false } },
    { output: { landed: false } },
    failure('command.already'),
    failure('doubt.unreadable'),
  ],
  tellPeople: [{ output: { told: ['ops'] } }, failure('notify.untold')],
  waitFor: [{ output: {} }, failure('activity.left')],
  recordProof: [{ output: { recorded: true } }, failure('journal.busy')],
  recordRecovery: [{ output: { recorded: true } }, failure('journal.busy')],
};

/** Every way a verb of the recoveries can end that a machine tells apart. */
export function outcomesOf(verb: string): readonly Outcome[] {
  return OUTCOMES[verb] ?? rotationOutcomes(verb);
}
