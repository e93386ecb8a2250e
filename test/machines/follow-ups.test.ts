import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type AnyMachineSnapshot, initialTransition, transition } from 'xstate';
import type { RunContext } from '../../machines/context.ts';
import { runbooks } from '../../machines/index.ts';
import { RestoreBackupInput } from '../../machines/inputs.ts';
import type { FollowUp } from '../../machines/parts/follow-up.ts';
import type { Runbook } from '../../machines/parts/runbook.ts';
import { statePath } from '../../machines/parts/states.ts';
import { stillOpen, unboundWords } from '../../machines/parts/unfinished.ts';
import { answersAt, eventsAt, outcomeEvent } from './explore.ts';
import type { Outcome } from './outcomes.ts';
import { app, bound, outcomesOf, withCommand } from './recovery-outcomes.ts';

const runbook = runbooks['restore-backup'] as Runbook;

/** Drives a run by first outcomes, and by answers that lead to the restore, until it asks for follow-ups. */
function atFollowUps(found: unknown = bound): AnyMachineSnapshot {
  const input = RestoreBackupInput.parse({ instance: 'orders', backup: 3 });
  let [snapshot]: [AnyMachineSnapshot, unknown] = initialTransition(runbook.machine, input as never);
  for (let steps = 0; statePath(snapshot) !== 'followUps.asking'; steps += 1) {
    if (steps > 60) throw new Error(`it never asks for follow-ups, it is ${statePath(snapshot)}`);
    snapshot = step(snapshot, 0, found);
  }
  return snapshot;
}

/** One event further: the nth of what may happen now. A typed name is typed. */
function step(snapshot: AnyMachineSnapshot, nth: number, found: unknown): AnyMachineSnapshot {
  const events = eventsAt(runbook, snapshot, (verb) =>
    verb === 'findBound' ? [{ output: found }] : outcomesOf(verb),
  );
  const confirming = events.find(({ type }) => type === 'operator.confirm');
  const event = confirming ?? events[nth % events.length];
  const [next] = transition(runbook.machine, snapshot as never, event as never);
  return next;
}

const SENT = [
  'restore.sending',
  'restore.waiting',
  'available.waiting',
  'count.counting',
  'followUps.listing',
];

const contextOf = ({ context }: AnyMachineSnapshot) => {
  const { failure, followUps } = context as RunContext;
  return { failure, ...followUps };
};
const idsOf = (followUps: readonly FollowUp[]) => followUps.map(({ id }) => id);

/** Gives an answer, and then the verbs' first outcomes until a person is asked or the run ends. */
function answer(snapshot: AnyMachineSnapshot, event: object, fail?: string): AnyMachineSnapshot {
  let [next]: [AnyMachineSnapshot, unknown] = transition(runbook.machine, snapshot as never, event as never);
  for (;;) {
    const [invoked] = Object.values(next.children) as { readonly id: string; readonly src: unknown }[];
    if (next.status !== 'active' || invoked === undefined) return next;
    const outcomes = outcomesOf(String(invoked.src));
    const outcome = (invoked.src === fail ? outcomes.at(-1) : outcomes[0]) as Outcome;
    [next] = transition(runbook.machine, next as never, outcomeEvent(invoked.id, outcome) as never);
  }
}

describe('the follow-ups after a restore', () => {
  test('of a run that was left are known from the moment when the restore may have been sent', () => {
    const input = RestoreBackupInput.parse({ instance: 'orders', backup: 3 });
    let [snapshot]: [AnyMachineSnapshot, unknown] = initialTransition(runbook.machine, input as never);
    const seen: [string, string[]][] = [];
    for (; statePath(snapshot) !== 'followUps.asking'; snapshot = step(snapshot, 0, bound)) {
      const state = statePath(snapshot);
      expect(runbook.followUps?.(snapshot.context as never), state).toEqual([]);
      seen.push([state, idsOf(runbook.followUps?.(snapshot.context as never, state) ?? [])]);
    }
    const ids = ['rebind-orders-api', 'service-key-ops', 'fresh-backup', 'renew-card'];
    const sent = seen.findIndex(([state]) => state === 'restore.sending');
    expect(seen.slice(0, sent).filter(([, found]) => found.length > 0)).toEqual([]);
    expect(seen.slice(sent)).toEqual(SENT.map((state) => [state, ids]));
  });

  test('each application and key, a fresh backup and the card are follow-ups, with the exact commands', () => {
    const { list } = contextOf(atFollowUps());
    expect(idsOf(list)).toEqual(['rebind-orders-api', 'service-key-ops', 'fresh-backup', 'renew-card']);
    expect(list[0]?.commands).toEqual([
      'cf target -o acme -s prod',
      'cf unbind-service orders-api orders-db --wait',
      'cf bind-service orders-api orders-db --binding-name db -c /srv/params.json --wait',
      'cf restage orders-api --strategy rolling',
    ]);
  });

  test('where the config says that there is no platform, no command of a platform appears', () => {
    const bare = { ...bound, way: 'hand', platform: 'none', keys: [], from: undefined, to: undefined };
    const { list } = contextOf(atFollowUps({ ...bare, apps: [{ ...app, binding: undefined }] }));
    expect(list[0]).toMatchObject({
      what: 'give orders-api its new credentials and restart it',
      commands: [],
    });
    const unknown = contextOf(atFollowUps({ ...bare, apps: [], unasked: true })).list;
    expect(unknown[0]).toMatchObject({ id: 'rebind-unknown', commands: [] });
    expect(JSON.stringify([list, unknown])).not.toMatch(/cf |bind and|platform/u);
  });

  test('where two bindings are allowed, the old one is removed last', () => {
    const { list } = contextOf(atFollowUps({ ...bound, order: 'no-downtime' }));
    expect(list[0]?.commands).toEqual([
      'cf target -o acme -s prod',
      'cf bind-service orders-api orders-db --binding-name db -c /srv/params.json --strategy multiple --wait',
      'cf restage orders-api --strategy rolling',
      'cf unbind-service orders-api orders-db --guid b-1 --wait',
    ]);
  });

  test('a hostile name is one word of a shell', () => {
    const hostile = { ...app, key: 'x', name: "a'; rm -rf ~ #\u0007" };
    const { list } = contextOf(atFollowUps({ ...bound, apps: [hostile] }));
    expect(list[0]?.commands[1]).toBe("cf unbind-service 'a'\\''; rm -rf ~ #' orders-db --wait");
  });

  test('the platform does all it can, then the run does the rest and closes as proven', () => {
    const end = answer(atFollowUps(), { type: 'operator.doAll' });
    expect(statePath(end)).toBe('done');
    const closing = runbook.closing(end.context as never, 'done');
    expect(closing).toMatchObject({ proven: true, outcome: 'done', deviations: [] });
    expect(contextOf(end).list[0]?.closed).toMatchObject({
      how: 'platform',
      evidence: { unbind: { job: '1' }, bind: { job: '1' }, restage: { job: '1' } },
    });
  });

  test('after a step at the platform fails, its follow-up stays open, is shown, and nothing is recommended', () => {
    const stuck = answer(atFollowUps(), { type: 'operator.doAll' }, 'bindApp');
    expect(statePath(stuck)).toBe('followUps.asking');
    expect(contextOf(stuck)).toMatchObject({
      failure: { code: 'platform.bound' },
      stuck: ['rebind-orders-api'],
    });
    expect(idsOf(stillOpen(contextOf(stuck).list))).toContain('rebind-orders-api');
    expect(statePath(answer(stuck, { type: 'operator.doAll' }))).toBe('done');
  });

  test('what can be done does not wait for what has failed', () => {
    const stuck = answer(atFollowUps(), { type: 'operator.doAll' }, 'bindApp');
    const closed = contextOf(stuck).list.filter((one) => one.closed !== undefined);
    expect(closed.map(({ kind }) => kind)).toContain('service-key');
    expect(contextOf(stuck).failure?.code).toBe('platform.bound');
  });

  test.each(['platform.busy', 'platform.unreachable'])(
    'a platform that cannot be asked now (%s) is not asked for the next follow-up either',
    (code) => {
      const refused = { error: { code, shortMessage: 'not now', hints: [], evidence: {} } };
      const [asking] = transition(
        runbook.machine,
        atFollowUps() as never,
        { type: 'operator.doAll' } as never,
      );
      const [invoked] = Object.values(asking.children) as unknown as { readonly id: string }[];
      const [left] = transition(
        runbook.machine,
        asking as never,
        outcomeEvent(invoked?.id ?? '', refused as Outcome) as never,
      );
      expect(statePath(left)).toBe('followUps.asking');
      expect(contextOf(left).failure?.code).toBe(code);
      expect(contextOf(left).list.filter((one) => one.closed !== undefined)).toEqual([]);
    },
  );

  test.each([
    ['rebind-orders-api', '1 application was not bound again'],
    ['service-key-ops', '1 service key was not recreated'],
  ])('a run that leaves %s without the data closes without proof and says so', (id, words) => {
    const skipped = answer(atFollowUps(), { type: 'operator.skip', id, text: 'it is gone' });
    const end = answer(skipped, { type: 'operator.doAll' });
    expect(statePath(end)).toBe('unproven');
    for (const state of ['unproven', 'done'])
      expect(runbook.closing(end.context as never, state)).toMatchObject({
        outcome: 'done-unproven',
        proven: false,
        title: `closed without proof: orders is restored, but ${words}`,
        deviations: [{ step: id, reason: 'it is gone' }],
      });
  });

  test('follow-ups left without the data are counted, except those that the token cannot see', () => {
    const of = (...ids: readonly string[]) =>
      unboundWords(ids.map((id) => ({ id, kind: id.startsWith('rebind') ? 'rebind' : 'service-key' })));
    expect(of('rebind-a', 'rebind-b', 'service-key-c')).toBe(
      '2 applications were not bound again, 1 service key was not recreated',
    );
    expect(of('rebind-unknown')).toBe('applications that cannot be seen from here were not bound again');
  });

  test.each(['fresh-backup', 'renew-card'])(
    '%s may be skipped with a reason, which stays among the deviations of a proven run',
    (id) => {
      const skipped = answer(atFollowUps(), { type: 'operator.skip', id, text: 'not tonight' });
      const end = answer(skipped, { type: 'operator.doAll' });
      expect(runbook.closing(end.context as never, statePath(end))).toMatchObject({
        proven: true,
        title: expect.stringContaining('no follow-up is open (1 skipped)'),
        deviations: [{ step: id, reason: 'not tonight' }],
      });
    },
  );

  test('in any order of closing, skipping, doing and failing, the run closes exactly when no follow-up is open, and keeps each', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 40 }), { minLength: 1, maxLength: 60 }), (choices) => {
        let snapshot = atFollowUps();
        for (const nth of choices) {
          const before = contextOf(snapshot).list.filter(({ closed }) => closed !== undefined);
          snapshot = step(snapshot, nth, bound);
          const { list } = contextOf(snapshot);
          for (const one of before) expect(list).toContainEqual(one);
          const isOpen = stillOpen(list).length > 0;
          if (snapshot.status === 'done') expect(isOpen).toBe(false);
          if (isOpen)
            expect(['record.recording', 'record.recordingFailed', 'done']).not.toContain(statePath(snapshot));
          if (!isOpen)
            expect(['record.recording', 'record.recordingFailed', 'done', 'unproven']).toContain(
              statePath(snapshot),
            );
          if (snapshot.status === 'done') return;
          expect(
            eventsAt(runbook, snapshot, outcomesOf).length + answersAt(runbook, snapshot).length,
          ).toBeGreaterThan(0);
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe('an application with a command of its own', () => {
  const { reconnect } = withCommand;
  const own = { ...bound, apps: [withCommand], keys: [] };
  const ID = 'rebind-orders-api';
  const first = (snapshot: AnyMachineSnapshot) => contextOf(snapshot).list[0];

  test.each(['platform', 'cf', 'hand'])(
    'is reconnected by that command on any platform (%s), and the proof closes it',
    (way) => {
      const at = atFollowUps({ ...own, way });
      expect(first(at)).toMatchObject({
        what: 'give orders-api its new credentials',
        commands: ["kubectl rollout restart 'deploy/it'\\''s'", 'kubectl get x'],
        doable: 'command',
      });
      const end = answer(at, { type: 'operator.doNow', id: ID });
      expect(first(end)?.closed).toMatchObject({ how: 'command', evidence: { reconnect: {}, prove: {} } });
    },
  );

  test.each([
    ['whose end nobody knows', 'activity.lost', 'again'],
    ['that failed', 'reconnect.failed', 'again'],
    ['that took too long', 'reconnect.timeout', 'again'],
    ['that was never started', 'reconnect.not-run', 'command'],
    ['that the config no longer has', 'reconnect.changed', 'command'],
  ])('stays open after a command %s (%s), and is left as %s', (_, code, doable) => {
    const error = { code, shortMessage: 'it failed', hints: [], evidence: {} };
    let [next]: [AnyMachineSnapshot, unknown] = transition(
      runbook.machine,
      atFollowUps(own) as never,
      { type: 'operator.doNow', id: ID } as never,
    );
    expect(statePath(next)).toBe('followUps.reconnecting');
    [next] = transition(runbook.machine, next as never, outcomeEvent('reconnect', { error }) as never);
    expect(statePath(next)).toBe('followUps.asking');
    expect(first(next)).toMatchObject({ doable });
    expect(first(next)?.closed).toBeUndefined();
  });

  test('is reconnected a second time only by a separate answer', () => {
    const at = answer(atFollowUps(own), { type: 'operator.doNow', id: ID }, 'proveApp');
    expect(first(at)).toMatchObject({ doable: 'again' });
    expect(first(at)?.closed).toBeUndefined();
    for (const type of ['operator.doNow', 'operator.doAll', 'operator.lookAgain']) {
      const [next] = transition(runbook.machine, at as never, { type, id: ID } as never);
      expect(statePath(next), type).not.toBe('followUps.reconnecting');
    }
    const offered = answersAt(runbook, at).filter((event) => 'id' in event && event.id === ID);
    expect(offered.map(({ type }) => type)).toEqual([
      'operator.runAgain',
      'operator.proveApp',
      'operator.reportDone',
      'operator.skip',
    ]);
    const [again] = transition(runbook.machine, at as never, { type: 'operator.runAgain', id: ID } as never);
    expect(statePath(again)).toBe('followUps.reconnecting');
    expect(first(answer(at, { type: 'operator.proveApp', id: ID }))?.closed).toMatchObject({ how: 'hand' });
  });

  test('shows the commands of the current config once it was read again', () => {
    const at = atFollowUps(own);
    const [listing] = transition(runbook.machine, at as never, { type: 'operator.lookAgain' } as never);
    const apps = [{ ...app, reconnect: { ...reconnect, command: ['./again.sh'] } }];
    const [next] = transition(
      runbook.machine,
      listing as never,
      outcomeEvent(Object.keys(listing.children)[0] ?? '', { output: { ...own, apps } }) as never,
    );
    expect(first(next)?.commands[0]).toBe('./again.sh');
  });
});
