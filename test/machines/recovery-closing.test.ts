import { describe, expect, test } from 'vitest';
import { runbooks } from '../../machines/index.ts';
import { drive } from './drive.ts';
import type { Outcome } from './outcomes.ts';
import { failure, outcomesOf, range } from './recovery-outcomes.ts';

describe('a restore of a backup', () => {
  test('asks for the backup, a safety backup and the name, and closes when the platform has rebound everything', () => {
    const run = drive('restore-backup', {});
    expect([run.state(), run.question()?.options.some((one) => one.recommended)]).toEqual([
      'choose.asking',
      false,
    ]);
    run.answer({ type: 'operator.chooseBackup', id: 3 });
    expect(run.state()).toBe('safeguard.offering');
    run.goOn();
    expect(run.question()).toMatchObject({ kind: 'typed-name', expected: 'orders' });
    run.goOn();
    expect(run.state()).toBe('followUps.asking');
    run.goOn();
    expect([run.state(), run.closing().proven]).toEqual(['done', true]);
  });

  test.for([
    [{ type: 'operator.goOn' }, 'V0 does not say whether orders is available, and nobody looked'],
    [{ type: 'operator.markDone', text: 'psql answers' }, "available, on the operator's word: psql answers"],
  ] as const)(
    'on an interface that does not report the state of the instance asks a person, and proves nothing: %o',
    ([answer, reason]) => {
      const preflight = outcomesOf('preflight').find((one) => 'output' in one && Object(one.output).unsaid);
      const run = drive('restore-backup', { backup: 3 }, { preflight: [preflight as Outcome] });
      run.goOn();
      run.goOn();
      expect(run.state()).toBe('available.asking');
      run.answer(answer);
      run.goOn();
      expect(run.passed).not.toContain('available.waiting');
      const { proven, title, deviations } = run.closing();
      expect([run.state(), proven, title]).toEqual([
        'unproven',
        false,
        'closed without proof: orders is not shown to be available',
      ]);
      expect(deviations).toEqual([{ step: 'available', reason }]);
    },
  );

  test('a wrong name changes nothing', () => {
    const run = drive('restore-backup', { backup: 3 });
    run.goOn();
    run.answer({ type: 'operator.confirm', typed: 'order' });
    expect(run.state()).toBe('confirm.asking');
  });

  test('a restore that never arrived is sent again only after the name was typed again', () => {
    const run = drive('restore-backup', { backup: 3 }, { restoreBackup: [{ output: { landed: false } }] });
    run.goOn();
    run.goOn();
    expect(run.state()).toBe('restore.failed');
    run.answer({ type: 'operator.retry' });
    expect([run.state(), run.context().restore.intents]).toEqual(['confirm.asking', 2]);
  });

  test('of an instance that changed between the look and the typed name asks for the name again', () => {
    const [look] = outcomesOf('recheck');
    const baseline = (look as { output: object }).output;
    const now = { output: { ...baseline, updatedAt: '2026-03-01T02:30:00Z', newestRestore: 9 } };
    const run = drive('restore-backup', { backup: 3 }, { recheck: [look as Outcome, now] });
    run.goOn();
    run.goOn();
    expect([run.state(), run.context().confirm.drift]).toEqual([
      'confirm.asking',
      ['restore 9 was made meanwhile'],
    ]);
  });

  test('in doubt keeps its intent when looking again, and asks for the name when sending again', () => {
    const doubt = failure('doubt.ambiguous', { candidates: [{ id: 8, status: 'running' }] });
    const run = drive('restore-backup', { backup: 3 }, { restoreBackup: [doubt, doubt] });
    run.goOn();
    run.goOn();
    run.answer({ type: 'operator.lookAgain' });
    expect([run.state(), run.context().restore.intents]).toEqual(['restore.inDoubt', 1]);
    run.answer({ type: 'operator.sendAgain' });
    expect([run.state(), run.context().restore.intents]).toEqual(['confirm.asking', 2]);
  });

  test('without a card on record has no follow-up to renew it', () => {
    const none = { output: { proven: [], keysHeld: [] } };
    const run = drive('restore-backup', { backup: 3 }, { readCard: [none] });
    run.goOn();
    run.goOn();
    expect(run.context().followUps.list.map(({ id }) => id)).not.toContain('renew-card');
  });
});

describe('a point in time', () => {
  test('that was reachable when chosen and is not when the name is typed is chosen again', () => {
    const moved = { output: { ...range, start: '2026-03-01T00:30:00Z', earliest: '2026-03-01T00:30:05Z' } };
    const run = drive(
      'restore-point-in-time',
      { time: '2026-03-01T00:10:00Z' },
      { pitrRange: [{ output: range }, moved] },
    );
    run.goOn();
    run.goOn();
    expect(run.state()).toBe('choose.asking');
    expect(run.question()?.prompt).toContain('2026-03-01T00:10:00Z can no longer be reached');
    run.answer({ type: 'operator.chooseTime', time: '2026-03-01T00:20:00Z' });
    expect(run.state()).toBe('choose.asking');
    run.answer({ type: 'operator.chooseTime', time: '2026-03-01T00:30:05Z' });
    expect(run.state()).toBe('confirm.asking');
  });

  test('close to an edge of the range of the service is used with a reason, or chosen again', () => {
    for (const time of [range.start, range.end]) {
      const run = drive('restore-point-in-time', { time }, {});
      expect(run.state()).toBe('choose.nearEdge');
      expect(run.question()?.prompt).toContain(
        `close to an edge of the range, ${range.start} to ${range.end}`,
      );
      run.answer({ type: 'operator.lookAgain' });
      expect([run.state(), run.question()]).toMatchObject([
        'choose.asking',
        { earliest: range.start, latest: range.end },
      ]);
      run.answer({ type: 'operator.chooseTime', time });
      run.answer({ type: 'operator.goOnWithout', text: 'nothing was written before it' });
      expect(run.context().choose.time).toBe(time);
      run.goOn();
      expect(run.state()).toBe('confirm.asking');
    }
  });

  test('in a range that is shorter than the margins can be chosen', () => {
    const short = { ...range, end: '2026-03-01T00:00:03Z', latest: '2026-03-01T00:00:02Z' };
    const run = drive('restore-point-in-time', {}, { pitrRange: [{ output: short }] });
    run.answer({ type: 'operator.chooseTime', time: '2026-03-01T00:00:01Z' });
    expect(run.state()).toBe('choose.nearEdge');
  });

  test('that a person chose in place of the one given at the start is kept, even if the range grows meanwhile', () => {
    const grown = { output: { ...range, end: '2026-03-01T02:30:00Z', latest: '2026-03-01T02:29:59Z' } };
    const run = drive(
      'restore-point-in-time',
      { time: '2026-03-01T02:10:00Z' },
      { pitrRange: [{ output: range }, failure('service.unreachable'), grown] },
    );
    expect(run.state()).toBe('choose.asking');
    run.answer({ type: 'operator.chooseTime', time: '2026-03-01T01:00:00Z' });
    run.goOn();
    run.goOn();
    expect(run.state()).toBe('confirm.readingRangeFailed');
    run.answer({ type: 'operator.retry' });
    expect([run.state(), run.question()]).toMatchObject([
      'choose.asking',
      { suggested: '2026-03-01T01:00:00Z' },
    ]);
  });

  test('other than the requested one is a deviation', () => {
    const run = drive('restore-point-in-time', { time: '2026-03-01T01:00:00Z' });
    run.goOn();
    run.goOn();
    run.goOn();
    expect(run.closing().deviations).toEqual([
      {
        step: 'restore',
        reason: 'the service says that it restored to 2026-03-01T00:00:00Z, not to 2026-03-01T01:00:00Z',
      },
    ]);
  });
});

describe('a disaster recovery', () => {
  test('reads only the own record of the source, and pins the target', () => {
    const seen = outcomesOf('inspectTarget');
    const run = drive(
      'disaster-recovery',
      { mode: 'perform', target: 'orders-dr', rehearsal: true },
      { inspectTarget: [seen[0] as Outcome, seen[1] as Outcome, seen[1] as Outcome] },
    );
    run.goOn();
    run.goOn();
    expect(run.question()).toMatchObject({ kind: 'typed-name', expected: 'orders-dr' });
    run.goOn();
    expect([run.state(), run.context().confirm.drift]).toEqual([
      'confirm.asking',
      ['backups: 1, was 0', 'newest backup: 1, was not reported'],
    ]);
    run.goOn();
    expect(run.state()).toBe('followUps.asking');
    const reads = run.sent.map(({ verb }) => verb);
    expect(reads.filter((verb) => ['preflight', 'recheck', 'listBackups'].includes(verb))).toEqual([]);
    expect(run.context().followUps.list.map(({ id }) => id)).toContain('remove-target');
  });

  test('leaves no follow-up to bind to its target when its restore has failed', () => {
    const run = drive(
      'disaster-recovery',
      { mode: 'perform', target: 'orders-dr' },
      { waitForRestore: [failure('restore.failed')] },
    );
    for (let steps = 0; run.state() !== 'restore.broken' && steps < 5; steps += 1) run.goOn();
    expect(run.state()).toBe('restore.broken');
    expect(runbooks['disaster-recovery']?.followUps?.(run.context() as never, 'restore.broken')).toEqual([]);
  });

  test('of a target that is the source cannot be forced', () => {
    const blocked = outcomesOf('inspectTarget')[3] as Outcome;
    const run = drive(
      'disaster-recovery',
      { mode: 'perform', target: 'orders-dr' },
      { inspectTarget: [blocked] },
    );
    run.goOn();
    run.goOn();
    expect(run.state()).toBe('target.blocked');
    expect(
      run
        .question()
        ?.options.filter((one) => one.disabled === undefined)
        .map((one) => one.event.type),
    ).toEqual(['operator.retry', 'operator.stop']);
  });

  test('asks about a guid that belongs to other backups, and records that it was overridden', () => {
    const other = outcomesOf('preflight').at(-1) as Outcome;
    const run = drive('disaster-recovery', { mode: 'prepare' }, { preflight: [other] });
    run.goOn();
    expect(run.state()).toBe('guid.mismatch');
    run.answer({ type: 'operator.takeGuid', text: 'it was moved' });
    expect(run.context().card.crossCheck).toBe('overridden');
  });
});

describe('a restore that the run did not send', () => {
  const beside = (more: object) => [{ id: 9, status: 'done', backup: 3, ...more }];
  const over = { id: 8, status: 'done', backup: 3 };
  const ended = (waitForRestore: object, recordRecovery: object = {}) => {
    const run = drive(
      'restore-backup',
      { backup: 3 },
      {
        waitForRestore: [{ output: { ...over, ...waitForRestore } }],
        recordRecovery: [{ output: { recorded: true, ...recordRecovery } }],
      },
    );
    for (let steps = 0; !['done', 'unproven'].includes(run.state()) && steps < 20; steps += 1) run.goOn();
    return run.closing();
  };

  test('is reported, and costs no proof where it restored the same backup before the data was checked', () => {
    const closing = ended({ beside: beside({}) });
    expect(closing).toMatchObject({ proven: true });
    expect(closing.deviations).toContainEqual({
      step: 'restore',
      reason: 'the service shows restore 9 (done), which this run did not send',
    });
  });

  test('leaves the run without proof where it failed, restored other data, or came late', () => {
    for (const closing of [
      ended({ beside: beside({ status: 'failed' }) }),
      ended({ beside: beside({ backup: 4 }) }),
      ended({}, { beside: beside({}) }),
    ])
      expect(closing).toMatchObject({
        proven: false,
        title: 'closed without proof: another restore of orders came beside the one that was sent',
      });
  });
});

describe('a run that is stopped', () => {
  const RESTORES = [
    ['disaster-recovery', { mode: 'perform', target: 'orders-dr' }, 'performRecovery', 'orders-dr'],
    ['restore-backup', { backup: 3 }, 'restoreBackup', 'orders'],
    ['restore-point-in-time', { time: '2026-03-01T01:00:00Z' }, 'restoreToTime', 'orders'],
  ] as const;
  const BROKEN = { waitForRestore: [failure('restore.failed')] };
  const DOUBT = failure('doubt.ambiguous', { candidates: [{ id: 8, status: 'running' }] });

  /** A run that is led to a state by the recommended answers and the typed name. */
  function ledTo(state: string, id: string, input: object, given: Readonly<Record<string, Outcome[]>>) {
    const run = drive(id, input, given);
    for (let steps = 0; run.state() !== state && steps < 8; steps += 1) run.goOn();
    expect(run.state()).toBe(state);
    return run;
  }

  test.for(RESTORES)(
    '%s: says what is not known after a restore that failed and was to be tried again',
    ([id, input, , name]) => {
      const run = ledTo('restore.broken', id, input, BROKEN);
      run.answer({ type: 'operator.retry' });
      expect(run.question()).toMatchObject({
        kind: 'typed-name',
        stakes: {
          overwritten: `all data in ${name}; a restore of this run was sent to it, so what it holds is not known`,
        },
      });
      run.answer({ type: 'operator.stop' });
      expect(run.closing()).toMatchObject({
        outcome: 'stopped',
        title: `stopped after a restore was started; what ${name} holds is not known`,
        unknown: name,
      });
    },
  );

  test.for(RESTORES)(
    '%s: says that a restore may have started after a lost answer, even if it was to be sent again',
    ([id, input, verb, name]) => {
      const title = `stopped in doubt: a restore of ${name} may have started`;
      const run = ledTo('restore.inDoubt', id, input, { [verb]: [DOUBT] });
      run.answer({ type: 'operator.sendAgain' });
      run.answer({ type: 'operator.stop' });
      expect(run.closing()).toMatchObject({ title, unknown: name });
      const at = ledTo('restore.inDoubt', id, input, { [verb]: [DOUBT] });
      at.answer({ type: 'operator.stop' });
      expect(at.closing()).toMatchObject({ title, unknown: name });
    },
  );

  test.for(RESTORES)(
    '%s: says that nothing was restored where no request arrived',
    ([id, input, verb, name]) => {
      const run = ledTo('restore.inDoubt', id, input, { [verb]: [DOUBT, { output: { landed: false } }] });
      run.answer({ type: 'operator.lookAgain' });
      expect(run.state()).toBe('restore.failed');
      run.answer({ type: 'operator.stop' });
      expect(run.closing().title).toBe(`stopped before anything was restored into ${name}`);
      expect(run.closing()).not.toHaveProperty('unknown');
    },
  );

  test('says nothing of a restore where the earlier backup is in doubt', () => {
    const run = drive('restore-backup', { backup: 3 }, { createBackup: [DOUBT] });
    run.goOn();
    expect(run.state()).toBe('safeguard.inDoubt');
    run.answer({ type: 'operator.stop' });
    expect(run.closing().title).toBe('stopped before anything was restored into orders');
  });

  test('says that an action may have started', () => {
    const run = drive('change-instance', { action: 'recreate' }, { recreate: [DOUBT] });
    for (let steps = 0; run.state() !== 'act.inDoubt' && steps < 5; steps += 1) run.goOn();
    run.answer({ type: 'operator.sendAgain' });
    run.answer({ type: 'operator.stop' });
    expect(run.closing().title).toBe('stopped in doubt: the recreate of orders may have started');
  });

  test('says that a backup may have been taken', () => {
    const run = drive('back-up-and-verify', {}, { createBackup: [DOUBT] });
    run.answer({ type: 'operator.stop' });
    expect(run.closing().title).toBe('stopped in doubt: a backup of orders may have been taken');
  });
});

describe('a change of an instance', () => {
  const HELD = { type: 'operator.holdBack', text: 'the operator of the platform says so' };

  /** A restart that holds updates back, as a person who knows that they are allowed has it. */
  function restart(given: Readonly<Record<string, Outcome[]>> = {}) {
    const run = drive('change-instance', { action: 'restart' }, given);
    expect(run.state()).toBe('freeze.asking');
    run.answer(HELD);
    return run;
  }

  test('leaves the update setting alone if it is unknown', () => {
    const run = drive('change-instance', { action: 'recreate' });
    run.goOn();
    expect(run.context().followUps.list).toEqual([]);
    run.goOn();
    expect([run.state(), run.closing().proven]).toEqual(['done', true]);
    expect(run.sent.filter(({ verb }) => verb === 'changeUpdateSetting')).toEqual([]);
  });

  test('has no deviation where the service cannot hold updates back', () => {
    const offered = { output: { changeable: false, why: 'revision 62 does not have it' } };
    const run = drive('change-instance', { action: 'restart' }, { updatesChangeable: [offered] });
    for (let steps = 0; run.state() !== 'done' && steps < 5; steps += 1) run.goOn();
    expect([run.closing().proven, run.closing().deviations]).toEqual([true, []]);
  });

  test('that installs updates neither forbids nor allows them', () => {
    const run = drive('change-instance', { action: 'update' });
    run.goOn();
    expect([run.state(), run.closing().proven]).toEqual(['done', true]);
    expect(run.sent.map(({ verb }) => verb)).not.toContain('changeUpdateSetting');
  });

  test('that is stopped restores the update setting first', () => {
    const run = restart();
    run.answer({ type: 'operator.stop' });
    expect([run.state(), run.passed.includes('release.releasing')]).toEqual(['stopped', true]);
  });

  test('leaves the update setting as a follow-up when it cannot be restored', () => {
    const set = { output: { type: 'general', allowed: false } };
    const run = restart({ changeUpdateSetting: [set, failure('service.forbidden')] });
    run.goOn();
    expect([run.state(), run.context().followUps.list[0]?.id]).toEqual([
      'followUps.asking',
      'release-updates',
    ]);
    run.answer({ type: 'operator.doNow', id: 'release-updates' });
    expect([run.state(), run.closing().proven]).toEqual(['done', true]);
  });

  const unsure = failure('service.timeout', { mayBeInForce: true });

  test.each(['operator.stop', 'operator.skip'])(
    'whose answer to the update setting was lost still allows updates again, after %s',
    (type) => {
      const run = restart({ changeUpdateSetting: [unsure] });
      expect(run.state()).toBe('freeze.freezingFailed');
      run.answer({ type, text: 'it cannot wait' });
      if (type === 'operator.skip') run.goOn();
      expect(run.passed).toContain('release.releasing');
      expect(run.state()).toBe(type === 'operator.stop' ? 'stopped' : 'done');
    },
  );

  test('whose update setting was refused has nothing to restore', () => {
    const run = restart({ changeUpdateSetting: [failure('service.forbidden')] });
    run.answer({ type: 'operator.skip', text: 'it is not offered' });
    expect(run.context().followUps.list).toEqual([]);
    run.goOn();
    expect([run.state(), run.passed.includes('release.releasing')]).toEqual(['done', false]);
  });

  test('leaves it to the person who forbade updates by hand to allow them', () => {
    const run = restart({ changeUpdateSetting: [failure('service.forbidden')] });
    run.answer({ type: 'operator.markDone', text: 'in the dashboard' });
    run.goOn();
    expect([run.state(), run.passed.includes('release.releasing')]).toEqual(['done', false]);
  });

  test('has a follow-up for the update setting before it is changed, so that an abandoned run leaves it', () => {
    const run = restart();
    expect(run.state()).toBe('confirm.asking');
    expect(run.context().followUps.list).toMatchObject([
      {
        id: 'release-updates',
        commands: ['lifeboat instance settings --instance orders --allow-updates true'],
      },
    ]);
  });
});
