import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runbooks } from '../../machines/index.ts';
import type { PaperAction, PaperCall, PaperStep } from '../../machines/parts/paper-step.ts';
import type { Runbook } from '../../machines/parts/runbook.ts';
import { type RecoveryContext, startingContext } from '../../machines/recovery/context.ts';
import { startingContext as startingRotation } from '../../machines/rotate-key/context.ts';
import { paperOf } from '../../src/view/paper/paper-of.ts';

const NOW = new Date('2026-03-01T03:00:00Z');
const SITE = { revision: 62 as const, tokenHow: 'cf oauth-token' };
const SITES = {
  instance: { ...SITE, name: 'orders', url: 'https://host/service-instances/4a1f' },
  target: { ...SITE, name: 'orders-dr', url: 'https://host/v1/instances/99ff' },
};

const all = Object.values(runbooks);
const isFinal = ({ machine }: Runbook, state: string) => machine.states[state]?.type === 'final';
const statesOf = (runbook: Runbook) =>
  Object.keys(runbook.machine.states).filter((state) => !isFinal(runbook, state));
const stepsOf = (runbook: Runbook, state: string, context: unknown = begun(runbook)): readonly PaperStep[] =>
  runbook.paper?.(context as never, state) ?? [];
const actionsOf = (steps: readonly PaperStep[]): readonly PaperAction[] =>
  steps.flatMap(({ actions }) => actions);
const callsOf = (steps: readonly PaperStep[]): readonly PaperCall[] =>
  actionsOf(steps).filter((action) => action.do === 'call');
const changesOf = (steps: readonly PaperStep[]) =>
  callsOf(steps).flatMap(({ method, path, on }) => (method === 'GET' ? [] : [`${on} ${method} ${path}`]));

/** A run that knows next to nothing. */
function begun({ id }: Runbook): unknown {
  if (id === 'rotate-key') return startingRotation({ instance: 'orders' });
  return startingContext({
    instance: 'orders',
    ...(id === 'disaster-recovery' ? { mode: 'both' as const, target: 'orders-dr' } : {}),
    ...(id === 'change-instance' ? { action: 'restart' as const } : {}),
  });
}

function contextWith(
  over: Partial<RecoveryContext>,
  input: Parameters<typeof startingContext>[0] = { instance: 'orders' },
) {
  return { ...startingContext(input), ...over };
}

test('the paper of an update neither forbids nor allows updates, and sends the id of the service', () => {
  const context = contextWith({}, { instance: 'orders', action: 'update' });
  for (const state of ['checking', 'confirming', 'waitingForInstance', 'weighingRelease'])
    expect(changesOf(stepsOf(runbooks['change-instance'] as Runbook, state, context)), state).not.toContain(
      'instance PATCH /broker/edit',
    );
  const calls = callsOf(stepsOf(runbooks['change-instance'] as Runbook, 'confirming', context));
  expect(Object.keys(calls.find(({ path }) => path === '/updates')?.body ?? {})).toEqual(['service_id']);
});

test.each(['confirming', 'releasingUpdates', 'owing'])(
  'updates that a run has forbidden are allowed again by its paper, not forbidden once more: %s',
  (state) => {
    const context = contextWith(
      { updates: { type: 'general', allowed: false }, updatesChangeable: { changeable: true } },
      { instance: 'orders', action: 'restart' },
    );
    const calls = callsOf(stepsOf(runbooks['change-instance'] as Runbook, state, context));
    expect(JSON.stringify(calls.at(-1)?.body)).toContain('"allowed":{"literal":true}');
  },
);

describe.for(all)('the paper of $id', (runbook) => {
  test('begins, in every state, with what that state was about; when a run is over nothing is left', () => {
    const silent = new Set([
      'offeringOldProof',
      'weighingOld',
      'fetchingOld',
      'verifyingOld',
      'oldProofFailed',
    ]);
    const releasing =
      /^(?:stopping|weighingRelease|releasingUpdates|weighingStop|weighingOwed|owing|startingPayment)$/u;
    for (const state of statesOf(runbook)) {
      const [first] = stepsOf(runbook, state);
      if (runbook.id === 'rotate-key' && silent.has(state)) continue;
      if (runbook.id === 'change-instance' && releasing.test(state)) continue;
      expect(first?.state, state).toBe(state);
    }
    for (const state of Object.keys(runbook.machine.states).filter((name) => isFinal(runbook, name)))
      expect(stepsOf(runbook, state), state).toEqual([]);
  });

  test('is, in every state, a script that bash accepts', () => {
    const folder = mkdtempSync(join(tmpdir(), 'papers-'));
    try {
      for (const state of Object.keys(runbook.machine.states)) {
        const text = paperOf({
          runbook,
          state,
          context: begun(runbook),
          runId: '01RUN',
          path: `./it's here/${state}.sh`,
          sites: SITES,
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
      expect(stdout.split('\n').filter((line) => line === 'ok')).toHaveLength(
        Object.keys(runbook.machine.states).length,
      );
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test('grows no longer on the way, and repeats no change that lies behind', () => {
    const lengths = runbook.mainPath.filter((state) => !isFinal(runbook, state));
    const changes = lengths.map((state) => changesOf(stepsOf(runbook, state)).length);
    // What is owed stands in one part, because it may be settled in any order.
    expect(changes).toEqual(changes.toSorted((a, b) => b - a));
    expect(changes[0]).toBeGreaterThan(changes.at(-1) ?? 0);
  });

  test('destroys nothing without a typed name, and sends nothing twice without a look', () => {
    for (const state of statesOf(runbook)) {
      for (const { title, actions } of stepsOf(runbook, state)) {
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
  });
});

const [restoreBackup, pitr, recovery] = ['restore-backup', 'restore-point-in-time', 'disaster-recovery'].map(
  (id) => runbooks[id] as Runbook,
) as [Runbook, Runbook, Runbook];

test('in doubt about a restore it says so, and shows the list before anything else', () => {
  for (const runbook of [restoreBackup, pitr, recovery]) {
    const [first] = stepsOf(runbook, 'restoreInDoubt');
    const call = callsOf(first === undefined ? [] : [first]).find(({ once }) => once !== undefined);
    expect(call?.once?.lookFirst).toContain('MAY HAVE SENT IT ALREADY');
    expect(call?.once?.list).toBe('/restores');
    expect(changesOf(stepsOf(runbook, 'waitingForRestore')).join()).not.toMatch(/restore|perform/u);
  }
});

test('what is known is written out: the backup, the time, the guid, the id of a task', () => {
  const chosen = contextWith({ chosen: { id: 17, status: 'done' } });
  expect(callsOf(stepsOf(restoreBackup, 'confirming', chosen))).toContainEqual(
    expect.objectContaining({ path: '/backups/:id/restore', id: { known: '17' } }),
  );
  const timed = contextWith({ time: '2026-03-01T02:59:00.000Z' });
  expect(callsOf(stepsOf(pitr, 'checking', timed))).toContainEqual(
    expect.objectContaining({ body: { target_time: { known: '2026-03-01T02:59:00.000Z' } } }),
  );
  const from = {
    guid: '3a2e59ee',
    fingerprint: '0123456789ab',
    what: 'newest' as const,
    how: 'card' as const,
  };
  const input = { instance: 'orders', target: 'orders-dr', mode: 'perform' as const };
  const steps = stepsOf(recovery, 'confirming', contextWith({ from }, input));
  expect(callsOf(steps)).toContainEqual(
    expect.objectContaining({
      body: { backup_guid: { known: '3a2e59ee' }, encryption_key: { secret: 'SOURCE_KEY' } },
    }),
  );
  expect(JSON.stringify(steps)).toContain('fingerprint 0123456789ab');
  const sent = contextWith({ restore: { intents: 1, absences: 0, landed: { id: 4, adopted: false } } });
  expect(actionsOf(stepsOf(restoreBackup, 'waitingForRestore', sent))[0]).toMatchObject({
    do: 'wait',
    id: { known: '4' },
  });
});

test('performing a recovery calls nothing of the source, in any state', () => {
  const context = startingContext({ instance: 'orders', target: 'orders-dr', mode: 'perform' });
  for (const state of statesOf(recovery)) {
    const sides = actionsOf(stepsOf(recovery, state, context)).flatMap((action) =>
      'on' in action ? [action.on] : [],
    );
    expect(new Set(sides), state).toEqual(sides.length === 0 ? new Set() : new Set(['target']));
  }
});

test('what is settled is not asked for again', () => {
  const app = { key: 'orders-api', name: 'orders-api', from: 'config' as const };
  const duties = {
    ...{ way: 'cf' as const, notes: [], apps: [app, { ...app, key: 'nightly', name: 'nightly' }], keys: [] },
    ...{ unseen: [], order: 'no-downtime' as const, foundAt: '2026-03-01T02:59:00Z' },
  };
  const owed = (id: string, kind: 'rebind' | 'fresh-backup' | 'retire-key', done: boolean) => ({
    ...{ id, kind, subject: id, what: `see to ${id}`, commands: [`do ${id}`] },
    ...(done ? { settled: { how: 'hand' as const, text: 'seen', evidence: {} } } : {}),
  });
  const context = contextWith({
    duties,
    obligations: [
      owed('rebind-orders-api', 'rebind', true),
      owed('rebind-nightly', 'rebind', false),
      owed('fresh-backup', 'fresh-backup', true),
      owed('old-key', 'retire-key', false),
    ],
  });
  const steps = stepsOf(restoreBackup, 'owing', context);
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
