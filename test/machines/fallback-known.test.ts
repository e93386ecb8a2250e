import { expect, test } from 'vitest';
import type { RunContext } from '../../machines/context.ts';
import { actFallback } from '../../machines/fallback/change-instance.ts';
import { setKeyFallback } from '../../machines/fallback/keys.ts';
import { restoreBackupByHand, restoreFallback } from '../../machines/fallback/restoring.ts';
import { runbooks } from '../../machines/index.ts';
import type { FallbackAction } from '../../machines/parts/fallback-step.ts';
import type { Runbook } from '../../machines/parts/runbook.ts';
import { callsByHand, fallbackOf as fallbackSteps } from '../../machines/parts/states.ts';
import { fallbackOf } from '../../src/view/fallback/render-fallback.ts';
import { startingContext } from './starting-context.ts';

const restOf = (id: string) => (context: RunContext, state: string) =>
  fallbackSteps((runbooks[id] as Runbook).machine, context, state);
const changeInstanceFallback = restOf('change-instance');
const disasterRecoveryFallback = restOf('disaster-recovery');
const restoreBackupFallback = restOf('restore-backup');

const update = startingContext({ instance: 'orders', action: 'update' });
type Bound = NonNullable<RunContext['followUps']['bound']>;

const FACTS: NonNullable<RunContext['preflight']['facts']> = {
  service: { id: '7', name: 'orders', state: 'available', offering: 'the-offering' },
  baseline: { serviceId: '7', state: 'available', minKeyLength: 16, runningTasks: [] },
  backups: { total: 1, done: 1, downloadable: 1 },
  keysHeld: [],
  keyStore: 'memory',
  warnings: [],
  blockers: [],
};
const BOUND: Bound = {
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

test('an update names the offering from which the instance was made, not the instance', () => {
  expect(
    bodies(changeInstanceFallback({ ...update, preflight: { facts: FACTS } }, 'confirm.asking')),
  ).toEqual([{ service_id: { known: 'the-offering' } }]);
});

test('a key that goes into escrow is sealed by the age tool to every recipient before it is set', () => {
  const escrow = { places: ['./escrow', 'store'], recipients: ['age1ada', 'age1bo'] };
  const context = startingContext({ instance: 'orders' }, 'rotate-key');
  const steps = restOf('rotate-key')(
    { ...context, preflight: { facts: { ...FACTS, escrow } } },
    'key.choosing',
  );
  const [at, set] = [/^escrow/u, /^change/u].map((of) => steps.findIndex(({ state }) => of.test(state)));
  expect(at).toBeGreaterThan(-1);
  expect(at).toBeLessThan(set ?? -1);
  expect(JSON.stringify(steps[at ?? -1]?.actions)).toContain('--recipient age1ada --recipient age1bo');
  expect(JSON.stringify(steps[at ?? -1]?.actions)).toContain('./escrow, store');
});

test('an update with an unknown offering shows the instance, and asks for the offering', () => {
  const { offering: _, ...service } = FACTS.service;
  const steps = changeInstanceFallback(
    { ...update, preflight: { facts: { ...FACTS, service } } },
    'confirm.asking',
  );
  expect(bodies(steps)).toEqual([{ service_id: expect.objectContaining({ variable: 'SERVICE_ID' }) }]);
  expect(steps[0]?.actions[0]).toEqual({ do: 'call', on: 'instance', method: 'GET', path: '' });
});

test('a service key is recreated with its parameters, and only when the old one is gone', () => {
  const bound = { ...BOUND, keys: [{ name: 'ops', parametersFile: '/ops.json' }] };
  const context = withBound(startingContext({ instance: 'orders' }), bound);
  const keys = commandsOf(restoreBackupFallback(context, 'followUps.asking')).filter(({ command }) =>
    command[1]?.endsWith('service-key'),
  );
  expect(keys.map(({ command }) => command.join(' '))).toEqual([
    'cf delete-service-key orders ops -f --wait',
    'cf create-service-key orders-dr ops -c /ops.json --wait',
  ]);
});

test('where an old binding may remain, there is a way to bind without its name; in place it is not needed', () => {
  const input = { instance: 'orders', mode: 'perform' as const, target: 'orders-dr' };
  const elsewhere = withBound(startingContext(input), BOUND);
  const [bind] = binds(disasterRecoveryFallback(elsewhere, 'followUps.asking'));
  expect(bind?.command.join(' ')).toBe('cf bind-service api orders-dr --binding-name db -c /p.json --wait');
  expect(bind?.otherwise?.command.join(' ')).toBe('cf bind-service api orders-dr -c /p.json --wait');
  const inPlace = { ...BOUND, to: BOUND.from };
  const [same] = binds(
    restoreBackupFallback(
      withBound(startingContext({ instance: 'orders' }), inPlace as typeof BOUND),
      'followUps.asking',
    ),
  );
  expect(same?.command).toContain('db');
  expect(same?.otherwise).toBeUndefined();
});

test('the head of a fallback script lists what the run has found and done, so that it is not repeated', () => {
  const runbook = runbooks['restore-backup'];
  if (runbook === undefined) throw new Error('there is no such runbook');
  const closed = { how: 'hand' as const, text: 'a colleague\ndid it', evidence: {} };
  const followUp = { kind: 'rebind' as const, subject: 'api', commands: [] };
  const context: RunContext = {
    ...startingContext({ instance: 'orders' }),
    restore: {
      ...startingContext({ instance: 'orders' }).restore,
      send: { is: 'landed' as const, id: 4, adopted: false },
    },
    followUps: {
      ...startingContext({ instance: 'orders' }).followUps,
      list: [
        { id: 'rebind-api', what: 'unbind, bind and restage api', ...followUp, closed },
        { id: 'rebind-web', what: 'unbind, bind and restage web', ...followUp },
      ],
    },
  };
  const instance = { name: 'orders', url: 'https://host/service-instances/4a1f', tokenHow: 'cf oauth-token' };
  const text = fallbackOf({
    runbook,
    state: 'followUps.asking',
    context,
    runId: '01RUN',
    path: 'fallback/01RUN.sh',
    instances: { instance: { ...instance, revision: 62 } },
    now: new Date('2026-03-01T03:00:00Z'),
  });
  const head = text.slice(0, text.indexOf('# What is left:')).trimEnd();
  expect(head).toContain('# What the run has found and done:');
  expect(head).toMatch(/^# {3}restore: 4/mu);
  expect(head).toMatch(/^# {3}closed: unbind, bind and restage api \(by hand: a colleague/mu);
  expect(head).not.toContain('restage web');
  expect(head.split('\n').every((line) => line.startsWith('#'))).toBe(true);
});

function withBound(context: RunContext, bound: Bound): RunContext {
  return { ...context, followUps: { ...context.followUps, bound } };
}

type Steps = ReturnType<typeof restoreBackupFallback>;
type Run = Extract<FallbackAction, { readonly do: 'run' }>;

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

test('a call that a run may have sent is looked for first, whatever the phase is called', () => {
  const parts = [
    [restoreFallback(restoreBackupByHand), 'restore-backup'],
    [setKeyFallback, 'rotate-key'],
    [actFallback, 'change-instance'],
  ] as const;
  for (const [part, id] of parts) {
    const calls = callsByHand((runbooks[id] as Runbook).machine, 'second');
    const words = (at: string | undefined) =>
      JSON.stringify(
        part({ context: update, at, state: at ?? 'confirm.asking', key: 'second', calls }),
      ).toLowerCase();
    expect(words('second.inDoubt')).toMatch(/may have (?:been )?(?:sent|set)/);
    expect(words(undefined)).not.toMatch(/may have (?:been )?(?:sent|set)/);
    expect(words(undefined)).toContain('"state":"second"');
  }
});

test('without a platform, the script has the commands of the config, and none of cf', () => {
  const reconnect = { command: ['./reconnect.sh', 'a b'], proof: ['./prove.sh'] };
  const [api] = BOUND.apps;
  if (api === undefined) throw new Error('nothing is bound');
  const { binding: _, ...bare } = api;
  const apps = [
    { ...bare, reconnect },
    { ...bare, key: 'web', name: 'web' },
  ];
  const { from: _from, to: _to, ...rest } = BOUND;
  const bound: Bound = { ...rest, way: 'hand', platform: 'none', apps, keys: [] };
  const steps = restoreBackupFallback(
    withBound(startingContext({ instance: 'orders' }), bound as typeof BOUND),
    'followUps.asking',
  );
  const text = JSON.stringify(steps);
  expect(steps.flatMap(({ actions }) => actions)).toContainEqual({ do: 'run', command: reconnect.command });
  expect(steps.flatMap(({ actions }) => actions)).toContainEqual({ do: 'run', command: reconnect.proof });
  expect(text).toContain('and restart it');
  expect(text).not.toMatch(/"cf"|cf |unbind/u);
});
