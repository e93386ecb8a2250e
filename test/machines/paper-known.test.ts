import { expect, test } from 'vitest';
import { begun, type RunContext } from '../../machines/context.ts';
import { runbooks } from '../../machines/index.ts';
import type { PaperAction } from '../../machines/parts/paper-step.ts';
import { paperOf as restOnPaper } from '../../machines/parts/phases.ts';
import type { Runbook } from '../../machines/parts/runbook.ts';
import { paperOf } from '../../src/view/paper/paper-of.ts';

const startingContext = (input: Parameters<typeof begun>[0]['input']) => begun({ input });
const restOf = (id: string) => (context: RunContext, state: string) =>
  restOnPaper((runbooks[id] as Runbook).machine, context, state);
const changeInstancePaper = restOf('change-instance');
const disasterRecoveryPaper = restOf('disaster-recovery');
const restoreBackupPaper = restOf('restore-backup');

const update = startingContext({ instance: 'orders', action: 'update' });
type Duties = NonNullable<RunContext['followUps']['duties']>;

const FACTS: NonNullable<RunContext['preflight']['facts']> = {
  service: { id: '7', name: 'orders', state: 'available', offering: 'the-offering' },
  ground: { serviceId: '7', state: 'available', minKeyLength: 16, runningTasks: [] },
  backups: { total: 1, done: 1, downloadable: 1 },
  keysHeld: [],
  keyStore: 'memory',
  warnings: [],
  blockers: [],
};
const DUTIES: Duties = {
  way: 'cf',
  notes: [],
  from: { guid: 'g1', name: 'orders', org: 'acme', space: 'prod' },
  to: { guid: 'g2', name: 'orders-dr', org: 'acme', space: 'prod' },
  apps: [
    {
      key: 'api',
      name: 'api',
      org: 'acme',
      space: 'prod',
      running: true,
      binding: { guid: 'b1', name: 'db', parametersFile: '/p.json' },
      from: 'platform',
    },
  ],
  keys: [{ name: 'ops' }],
  unseen: [],
  order: 'replace',
  foundAt: '2026-03-01T02:59:00.000Z',
};

test('an update names the offering that the instance was made from, not the instance', () => {
  expect(bodies(changeInstancePaper({ ...update, preflight: { facts: FACTS } }, 'confirm.asking'))).toEqual([
    { service_id: { known: 'the-offering' } },
  ]);
});

test('an update whose offering is not known shows the instance, and asks for it', () => {
  const { offering: _, ...service } = FACTS.service;
  const steps = changeInstancePaper(
    { ...update, preflight: { facts: { ...FACTS, service } } },
    'confirm.asking',
  );
  expect(bodies(steps)).toEqual([{ service_id: expect.objectContaining({ variable: 'SERVICE_ID' }) }]);
  expect(steps[0]?.actions[0]).toEqual({ do: 'call', on: 'instance', method: 'GET', path: '' });
});

test('a service key is made anew with its parameters, and only when the old one is gone', () => {
  const duties = { ...DUTIES, keys: [{ name: 'ops', parametersFile: '/ops.json' }] };
  const context = withDuties(startingContext({ instance: 'orders' }), duties);
  const keys = commandsOf(restoreBackupPaper(context, 'followUps.asking')).filter(({ command }) =>
    command[1]?.endsWith('service-key'),
  );
  expect(keys.map(({ command }) => command.join(' '))).toEqual([
    'cf delete-service-key orders ops -f --wait',
    'cf create-service-key orders-dr ops -c /ops.json --wait',
  ]);
});

test('where an old binding may stay behind, there is a way to bind without its name; in place there is no need', () => {
  const input = { instance: 'orders', mode: 'perform' as const, target: 'orders-dr' };
  const elsewhere = withDuties(startingContext(input), DUTIES);
  const [bind] = binds(disasterRecoveryPaper(elsewhere, 'followUps.asking'));
  expect(bind?.command.join(' ')).toBe('cf bind-service api orders-dr --binding-name db -c /p.json --wait');
  expect(bind?.otherwise?.command.join(' ')).toBe('cf bind-service api orders-dr -c /p.json --wait');
  const inPlace = { ...DUTIES, to: DUTIES.from };
  const [same] = binds(
    restoreBackupPaper(
      withDuties(startingContext({ instance: 'orders' }), inPlace as typeof DUTIES),
      'followUps.asking',
    ),
  );
  expect(same?.command).toContain('db');
  expect(same?.otherwise).toBeUndefined();
});

test('the head of a paper tells what the run has found and what is settled, so that nobody does it again', () => {
  const runbook = runbooks['restore-backup'];
  if (runbook === undefined) throw new Error('there is no such runbook');
  const settled = { how: 'hand' as const, text: 'a colleague\ndid it', evidence: {} };
  const owed = { kind: 'rebind' as const, subject: 'api', commands: [] };
  const context: RunContext = {
    ...startingContext({ instance: 'orders' }),
    restore: { ...startingContext({ instance: 'orders' }).restore, landed: { id: 4, adopted: false } },
    followUps: {
      ...startingContext({ instance: 'orders' }).followUps,
      obligations: [
        { id: 'rebind-api', what: 'unbind, bind and restage api', ...owed, settled },
        { id: 'rebind-web', what: 'unbind, bind and restage web', ...owed },
      ],
    },
  };
  const site = { name: 'orders', url: 'https://host/service-instances/4a1f', tokenHow: 'cf oauth-token' };
  const text = paperOf({
    runbook,
    state: 'followUps.asking',
    context,
    runId: '01RUN',
    path: 'paper/01RUN.sh',
    sites: { instance: { ...site, revision: 62 } },
    now: new Date('2026-03-01T03:00:00Z'),
  });
  const head = text.slice(0, text.indexOf('# What is left:')).trimEnd();
  expect(head).toContain('# What the run has found and done:');
  expect(head).toMatch(/^# {3}restore: 4/mu);
  expect(head).toMatch(/^# {3}settled: unbind, bind and restage api \(by hand: a colleague/mu);
  expect(head).not.toContain('restage web');
  expect(head.split('\n').every((line) => line.startsWith('#'))).toBe(true);
});

function withDuties(context: RunContext, duties: Duties): RunContext {
  return { ...context, followUps: { ...context.followUps, duties } };
}

type Steps = ReturnType<typeof restoreBackupPaper>;
type Run = Extract<PaperAction, { readonly do: 'run' }>;

function bodies(steps: Steps) {
  return steps.flatMap(({ actions }) =>
    actions.flatMap((action) => (action.do === 'call' && action.body !== undefined ? [action.body] : [])),
  );
}

function commandsOf(steps: Steps): Run[] {
  return steps.flatMap(({ actions }) => actions.filter((action) => action.do === 'run'));
}

function binds(steps: Steps): Run[] {
  return commandsOf(steps).filter(({ command }) => command[1] === 'bind-service');
}
