import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RunContext } from '../../machines/context.ts';
import { runbooks, singleChange } from '../../machines/index.ts';
import { type RunInput, SingleChange } from '../../machines/inputs.ts';
import type { FallbackAction, FallbackCall, FallbackStep } from '../../machines/parts/fallback-step.ts';
import type { Runbook } from '../../machines/parts/runbook.ts';
import { fallbackOf as fallbackSteps, isFinalAt, leavesOf, mainPathOf } from '../../machines/parts/states.ts';
import type { RunbookId } from '../../machines/parts/touches.ts';
import { fallbackOf } from '../../src/view/fallback/render-fallback.ts';
import { startingContext } from './starting-context.ts';

const NOW = new Date('2026-03-01T03:00:00Z');
const SITE = { revision: 62 as const, tokenHow: 'cf oauth-token' };
const INSTANCES = {
  instance: { ...SITE, name: 'orders', url: 'https://host/service-instances/4a1f' },
  target: { ...SITE, name: 'orders-dr', url: 'https://host/v1/instances/99ff' },
};

const all = Object.values(runbooks);
const isFinal = ({ machine }: Runbook, state: string) => isFinalAt(machine, state);
const everyStateOf = ({ machine }: Runbook) => leavesOf(machine).filter((state) => !state.endsWith('.over'));
const statesOf = (runbook: Runbook) => everyStateOf(runbook).filter((state) => !isFinal(runbook, state));
const stepsOf = (
  runbook: Runbook,
  state: string,
  context: unknown = initialContext(runbook),
): readonly FallbackStep[] => fallbackSteps(runbook.machine, context, state);
const actionsOf = (steps: readonly FallbackStep[]): readonly FallbackAction[] =>
  steps.flatMap(({ actions }) => actions);
const callsOf = (steps: readonly FallbackStep[]): readonly FallbackCall[] =>
  actionsOf(steps).filter((action) => action.do === 'call');
const changesOf = (steps: readonly FallbackStep[]) =>
  callsOf(steps).flatMap(({ method, path, on }) => (method === 'GET' ? [] : [`${on} ${method} ${path}`]));

/** A run that knows next to nothing. */
function initialContext({ id }: Runbook): unknown {
  const input = {
    instance: 'orders',
    ...(id === 'disaster-recovery' ? { mode: 'both' as const, target: 'orders-dr' } : {}),
    ...(id === 'change-instance' ? { action: 'restart' as const } : {}),
  };
  const context = startingContext(input, id as RunbookId);
  return { ...context, key: { isWanted: true } };
}

function contextWith(over: Partial<RunContext>, input: RunInput = { instance: 'orders' }) {
  return { ...startingContext(input), ...over };
}

test('the fallback script of an update neither forbids nor allows updates, and sends the id of the service', () => {
  const context = contextWith({}, { instance: 'orders', action: 'update' });
  for (const state of ['preflight.looking', 'confirm.asking', 'available.waiting', 'release.evaluating'])
    expect(changesOf(stepsOf(runbooks['change-instance'] as Runbook, state, context)), state).not.toContain(
      'instance PATCH /broker/edit',
    );
  const calls = callsOf(stepsOf(runbooks['change-instance'] as Runbook, 'confirm.asking', context));
  expect(Object.keys(calls.find(({ path }) => path === '/updates')?.body ?? {})).toEqual(['service_id']);
});

test.each(['confirm.asking', 'release.releasing', 'followUps.asking'])(
  'updates that a run has forbidden are allowed again by its fallback script, not forbidden again: %s',
  (state) => {
    const context = contextWith(
      {
        updates: {
          setting: { type: 'general', allowed: false },
          changeable: { changeable: true },
          isStopping: false,
        },
      },
      { instance: 'orders', action: 'restart' },
    );
    const calls = callsOf(stepsOf(runbooks['change-instance'] as Runbook, state, context));
    expect(JSON.stringify(calls.at(-1)?.body)).toContain('"allowed":{"literal":true}');
  },
);

describe.for(all)('the fallback script of $id', (runbook) => {
  test('begins in every state with what that state was about; when a run is over, nothing is left', () => {
    // In these states the script has no step: nothing is known yet to be a follow-up, to be asked for, or to
    // exist.
    const silent =
      /^(?:rotate-key (?:oldBackup|escrow)|disaster-recovery escrow|change-instance (?:release|followUps))\./u;
    for (const state of statesOf(runbook)) {
      const [first] = stepsOf(runbook, state);
      if (silent.test(`${runbook.id} ${state}`) || state === 'half') continue;
      expect(first?.state, state).toBe(state);
    }
    for (const state of everyStateOf(runbook).filter((name) => isFinal(runbook, name)))
      expect(stepsOf(runbook, state), state).toEqual([]);
  });

  test('is, in every state, a script that bash accepts', () => {
    const folder = mkdtempSync(join(tmpdir(), 'fallbacks-'));
    try {
      for (const state of everyStateOf(runbook)) {
        const text = fallbackOf({
          runbook,
          state,
          context: initialContext(runbook),
          runId: '01RUN',
          path: `./it's here/${state}.sh`,
          instances: INSTANCES,
          now: NOW,
        });
        writeFileSync(join(folder, `${state}.sh`), text);
      }
      const { stdout, stderr } = spawnSync(
        'bash',
        ['-c', 'for f in *.sh; do bash -n "$f" && echo ok; done'],
        {
          cwd: folder,
          encoding: 'utf8',
        },
      );
      expect(stderr).toBe('');
      expect(stdout.split('\n').filter((line) => line === 'ok')).toHaveLength(everyStateOf(runbook).length);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test('does not get longer along the way, and repeats no earlier change', () => {
    const lengths = mainPathOf(runbook.machine, initialContext(runbook));
    const changes = lengths.map((state) => changesOf(stepsOf(runbook, state)).length);
    // The follow-ups are one part, because they may be done in any order.
    expect(changes).toEqual(changes.toSorted((a, b) => b - a));
    expect(changes[0]).toBeGreaterThan(changes.at(-1) ?? 0);
  });

  test('destroys nothing without a typed name, and sends nothing twice without looking first', () => {
    for (const state of statesOf(runbook)) expectSafe(stepsOf(runbook, state), state);
  });
});

function expectSafe(steps: readonly FallbackStep[], state: string): void {
  for (const { title, actions } of steps) {
    for (const [index, action] of actions.entries()) {
      if (action.do !== 'call' || action.method === 'GET') continue;
      const named = actions.slice(0, index).some(({ do: kind }) => kind === 'confirm-name');
      const harmless =
        action.path === '/backups' ||
        action.path === '/broker/edit' ||
        (action.path.endsWith('/prepare') && Object.keys(action.body ?? {}).length === 0);
      expect(named || harmless, `${state}: ${title}`).toBe(true);
      const repeatable = /\/(?:backups-config|prepare|edit)$/u.test(action.path);
      expect(action.once !== undefined || repeatable, `${state}: ${action.path}`).toBe(true);
    }
  }
}

test.each(SingleChange().shape.change.options)(
  'the script of the single change %s makes the change, and safely',
  (change) => {
    const settings = change === 'changeBackupSettings' ? { retentionDays: 7 } : undefined;
    const setting = change === 'changeUpdateSetting' ? { type: 'general', allowed: false } : undefined;
    const single = { change, wait: true, setsKey: change === 'setKey', settings, setting };
    const action = (['restart', 'recreate', 'update'] as const).find((one) => one === change);
    const input = { instance: 'orders', action, single } as RunInput;
    const context = startingContext(input, 'single-change');
    expect(changesOf(stepsOf(singleChange, 'preflight.looking', context))).not.toEqual([]);
    for (const state of statesOf(singleChange)) expectSafe(stepsOf(singleChange, state, context), state);
  },
);

const [restoreBackup, pitr, recovery] = ['restore-backup', 'restore-point-in-time', 'disaster-recovery'].map(
  (id) => runbooks[id] as Runbook,
) as [Runbook, Runbook, Runbook];

test('when a restore is in doubt it says so, and shows the list before anything else', () => {
  for (const runbook of [restoreBackup, pitr, recovery]) {
    const [first] = stepsOf(runbook, 'restore.inDoubt');
    const call = callsOf(first === undefined ? [] : [first]).find(({ once }) => once !== undefined);
    expect(call?.once?.lookFirst).toContain('MAY HAVE SENT IT ALREADY');
    expect(call?.once?.list).toBe('/restores');
    expect(changesOf(stepsOf(runbook, 'restore.waiting')).join()).not.toMatch(/restore|perform/u);
  }
});

test('known values are written out: the backup, the time, the guid, the id of a task', () => {
  const chosen = contextWith({ choose: { backup: { id: 17, status: 'done' } } });
  expect(callsOf(stepsOf(restoreBackup, 'confirm.asking', chosen))).toContainEqual(
    expect.objectContaining({ path: '/backups/:id/restore', id: { known: '17' } }),
  );
  const timed = contextWith({ choose: { time: '2026-03-01T02:59:00.000Z' } });
  expect(callsOf(stepsOf(pitr, 'preflight.looking', timed))).toContainEqual(
    expect.objectContaining({ body: { target_time: { known: '2026-03-01T02:59:00.000Z' } } }),
  );
  const from = {
    guid: '3a2e59ee',
    fingerprint: '0123456789ab',
    what: 'newest' as const,
    how: 'card' as const,
  };
  const input = { instance: 'orders', target: 'orders-dr', mode: 'perform' as const };
  const steps = stepsOf(recovery, 'confirm.asking', contextWith({ source: { from } }, input));
  expect(callsOf(steps)).toContainEqual(
    expect.objectContaining({
      body: { backup_guid: { known: '3a2e59ee' }, encryption_key: { secret: 'SOURCE_KEY' } },
    }),
  );
  expect(JSON.stringify(steps)).toContain('fingerprint 0123456789ab');
  const sent = contextWith({
    restore: { intents: 1, absences: 0, send: { is: 'landed' as const, id: 4, adopted: false } },
  });
  expect(actionsOf(stepsOf(restoreBackup, 'restore.waiting', sent))[0]).toMatchObject({
    do: 'wait',
    id: { known: '4' },
  });
});

test('performing a recovery calls nothing at the source, in any state', () => {
  const context = startingContext({ instance: 'orders', target: 'orders-dr', mode: 'perform' });
  for (const state of statesOf(recovery)) {
    const sides = actionsOf(stepsOf(recovery, state, context)).flatMap((action) =>
      'on' in action ? [action.on] : [],
    );
    expect(new Set(sides), state).toEqual(sides.length === 0 ? new Set() : new Set(['target']));
  }
});

test('what is already done is not asked for again', () => {
  const app = { key: 'orders-api', name: 'orders-api', from: 'config' as const };
  const bound = {
    ...{ way: 'cf' as const, notes: [], apps: [app, { ...app, key: 'nightly', name: 'nightly' }], keys: [] },
    ...{ unseen: [], order: 'no-downtime' as const, foundAt: '2026-03-01T02:59:00Z' },
  };
  const followUp = (id: string, kind: 'rebind' | 'fresh-backup' | 'retire-key', done: boolean) => ({
    ...{ id, kind, subject: id, what: `see to ${id}`, commands: [`do ${id}`] },
    ...(done ? { closed: { how: 'hand' as const, text: 'seen', evidence: {} } } : {}),
  });
  const { followUps } = startingContext({ instance: 'orders' });
  const list = [
    followUp('rebind-orders-api', 'rebind', true),
    followUp('rebind-nightly', 'rebind', false),
    followUp('fresh-backup', 'fresh-backup', true),
    followUp('old-key', 'retire-key', false),
  ];
  const context = contextWith({ followUps: { ...followUps, bound, list } });
  const steps = stepsOf(restoreBackup, 'followUps.asking', context);
  expect(steps.map(({ title }) => title)).toEqual([
    'unbind, bind and restage nightly',
    'see to old-key',
    'write it down',
  ]);
  expect(steps[0]?.actions).toEqual([
    { do: 'run', command: ['cf', 'bind-service', 'nightly', 'orders', '--strategy', 'multiple', '--wait'] },
    { do: 'run', command: ['cf', 'restage', 'nightly', '--strategy', 'rolling'] },
    { do: 'run', command: ['cf', 'unbind-service', 'nightly', 'orders', '--wait'] },
  ]);
});
