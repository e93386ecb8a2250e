import { expect, test } from 'vitest';
import { runbooks } from '../../../machines/index.ts';
import type { Entry } from '../../../src/store/journal.ts';
import { foldLedger } from '../../../src/store/projections/ledgers.ts';
import { backupRows, whyNotRestorable } from '../../../src/view/app/backup-list.ts';
import { asksSource, SITUATIONS, situationOf } from '../../../src/view/app/situations.ts';
import { instanceChoices, targetChoices } from '../../../src/view/app/start-choices.ts';
import { stakesOf } from '../../../src/view/app/start-wish.ts';
import { usualTimes } from '../../../src/view/app/usual-times.ts';
import { backup, DRY_RUN, fleetRows, gone, instance, NOW, status } from '../../tui/start-facts.ts';

const dr = (more = {}) => instance('orders-dr', { role: 'target', ...more });

function whyNot(id: string, fleet: ReturnType<typeof status>[], home = [instance('orders'), dr()]) {
  const situation = situationOf(id);
  if (situation === undefined) throw new Error(`no situation ${id}`);
  return instanceChoices(situation, { home, fleet: fleetRows(...fleet) })[0]?.disabled;
}

test('every runbook can be reached, in each of its kinds', () => {
  expect(new Set(SITUATIONS.map(({ wish }) => wish.runbook))).toEqual(new Set(Object.keys(runbooks)));
  const actions = SITUATIONS.flatMap(({ wish }) => wish.action ?? []);
  expect(actions).toEqual(['restart', 'recreate', 'update']);
  const halves = SITUATIONS.filter(({ wish }) => wish.runbook === 'disaster-recovery').map(
    ({ wish: { prepare, perform } }) => [prepare, perform],
  );
  expect(halves).toEqual([
    [undefined, true],
    [true, undefined],
    [true, true],
  ]);
});

test('the answers of each situation make an input that its runbook accepts', () => {
  for (const { wish, steps } of SITUATIONS) {
    const { runbook: id, action, prepare, perform } = wish;
    const mode = prepare ? (perform ? 'both' : 'prepare') : 'perform';
    const input = {
      instance: 'orders',
      ...(id === 'disaster-recovery' ? { mode } : {}),
      ...(action === undefined ? {} : { action }),
      ...(steps.includes('target') ? { target: 'orders-dr' } : {}),
      ...(steps.includes('incident') ? { incidentAt: NOW.toISOString() } : {}),
      ...(steps.includes('moment') ? { time: NOW.toISOString() } : {}),
      ...(steps.includes('backup') ? { backup: id === 'restore-backup' ? 7 : 'guid-7' } : {}),
    };
    const read = runbooks[id]?.input.safeParse(input);
    expect(read?.success, id).toBe(true);
    expect(Object.keys(read?.data as object).toSorted(), id).toEqual(Object.keys(input).toSorted());
  }
});

test('an instance that is gone can be recovered elsewhere, and the other situations point to that way', () => {
  for (const situation of SITUATIONS) {
    const { id } = situation;
    const disabled = whyNot(id, [gone('orders')]);
    if (!asksSource(situation)) expect(disabled, id).toBeUndefined();
    else {
      expect(disabled?.why, id).toBe('it does not answer: the router gave 502');
      expect(disabled?.instead, id).toContain('the instance or its region is gone');
    }
  }
});

test('an instance that refuses the token has answered: nothing is disabled, and the hint is to log in again', () => {
  const refused = {
    state: 'failed',
    at: NOW,
    code: 'credentials.refused',
    why: 'it refuses the token (401)',
  } as const;
  const fleet = [status('orders', { overview: refused, backups: refused })];
  for (const situation of SITUATIONS) {
    const [choice] = instanceChoices(situation, {
      home: [instance('orders'), dr()],
      fleet: fleetRows(...fleet),
    });
    expect(choice?.disabled, situation.id).toBeUndefined();
    expect(choice?.cautions.join().includes('log in again'), situation.id).toBe(asksSource(situation));
  }
});

test('the name in each suggested way is the name of a situation', () => {
  const said = SITUATIONS.map(({ says }) => says);
  const instead = [
    whyNot('rows-deleted', [gone('orders')]),
    whyNot('rows-deleted', [status('orders', { window: { state: 'missing' } })]),
    whyNot('older-state', [status('orders', { backups: { state: 'known', at: NOW, value: { done: [] } } })]),
    targetChoices('orders', { home: [instance('orders'), dr({ address: 'dashboard/orders' })], fleet: [] })[0]
      ?.disabled,
  ].map((disabled) => /choose "(?<name>[^"]*)"/u.exec(disabled?.instead ?? '')?.groups?.['name'] ?? '');
  for (const name of instead) {
    expect(name).not.toBe('');
    expect(said.some((says) => says.startsWith(name))).toBe(true);
  }
});

test('what an instance lacks is mentioned where it matters, and nowhere else', () => {
  const without = status('orders', { window: { state: 'known', at: NOW, value: 'none' } });
  expect(whyNot('rows-deleted', [without])?.why).toContain('no continuous archiving');
  expect(whyNot('older-state', [without])).toBeUndefined();
  const empty = status('orders', { backups: { state: 'known', at: NOW, value: { done: [] } } });
  expect(whyNot('older-state', [empty])?.why).toContain('no backup that is done');
  expect(whyNot('rows-deleted', [empty])).toBeUndefined();
});

test('without a second instance no recovery can be started, and the hint names the config entry', () => {
  for (const id of ['region-gone', 'move'])
    expect(whyNot(id, [], [instance('orders')])?.instead).toContain('role: target');
  expect(whyNot('prepare', [], [instance('orders')])).toBeUndefined();
});

test('an instance with an open run does not accept a second one', () => {
  const busy = { ...status('orders'), openRuns: ['01RUN'] };
  for (const { id } of SITUATIONS) expect(whyNot(id, [busy])?.why).toContain('run 01RUN');
});

test('abandoning an open run is suggested only where it leaves nothing to be done', () => {
  const busy = { ...status('orders'), openRuns: ['01RUN'] };
  expect(whyNot('region-gone', [busy])?.instead).toContain('--abandon');
  const left = { ...busy, followUps: { open: 2, overdue: 0 } };
  expect(whyNot('region-gone', [left])?.instead).toMatch(/lifeboat followups$/u);
});

test('targets come first; the others say why they cannot be targets', () => {
  const home = [
    instance('orders'),
    instance('billing'),
    dr({ name: 'alias', address: 'dashboard/orders' }),
    dr({ name: 'silent' }),
    dr({ name: 'old', revision: '61' }),
  ];
  const fleet = [status('old'), gone('silent')];
  const choices = targetChoices('orders', { home, fleet: fleetRows(...fleet) });
  expect(choices.map(({ name }) => name)).toEqual(['alias', 'silent', 'old', 'billing']);
  expect(choices.map(({ disabled }) => disabled?.why ?? 'fits')).toEqual([
    'it is orders under another name: both have the same address',
    'it does not answer: the router gave 502',
    'fits',
    'the config does not call it a target, and everything it holds would be replaced',
  ]);
  expect(choices[2]?.cautions).toEqual([
    'its interface is revision 61, the source has 62',
    'it holds data of its own already, which is replaced',
  ]);
});

test('all backups are listed, the newest first, each with its age by the clock of the service', () => {
  const listed = Array.from({ length: 60 }, (_, at) => ({
    id: at + 1,
    status: 'done',
    triggeredAt: new Date(NOW.getTime() - (60 - at) * 3_600_000).toISOString(),
  }));
  const rows = backupRows({ listed, ledger: foldLedger([]), held: [], skewMs: 60_000, now: NOW });
  expect(rows).toHaveLength(60);
  expect(rows[0]).toMatchObject({ id: 60, ageSeconds: 3660, keys: [] });
  expect(rows.at(-1)?.id).toBe(1);
});

test('without a list, the proven backups of the journal can be recovered', () => {
  const proven = [
    { id: 3, backupId: 'guid-3', provenAt: '2026-02-01T00:00:00Z', fingerprint: 'aaaaaaaaaaaa' },
  ];
  const ledger = { ...foldLedger([]), proven };
  const [row] = backupRows({ listed: undefined, ledger, held: undefined, skewMs: 0, now: NOW });
  expect(row).toMatchObject({ id: 3, status: 'on record', provenAt: '2026-02-01T00:00:00Z' });
  expect(row && whyNotRestorable(row, true)).toBeUndefined();
});

test('without a list, the backups that were listed last follow, and none is shown twice', () => {
  const at = '2026-02-01T00:00:00Z';
  const proven = [{ id: 3, backupId: 'guid-3', triggeredAt: at, provenAt: at, fingerprint: 'aaaaaaaaaaaa' }];
  const seen = [4, 3].map((id) => ({
    id,
    backupId: `guid-${id}`,
    triggeredAt: `2026-02-0${id - 2}T00:00:00Z`,
  }));
  const ledger = { ...foldLedger([]), proven };
  const rows = backupRows({ listed: undefined, seen, ledger, held: undefined, skewMs: 0, now: NOW });
  expect(rows.map(({ id, status, provenAt }) => [id, status, provenAt])).toEqual([
    [4, 'seen', undefined],
    [3, 'on record', at],
  ]);
  expect(rows.map((row) => whyNotRestorable(row, true))).toEqual([undefined, undefined]);
});

test.for([
  ['done', true, undefined],
  ['running', false, 'it is running'],
  ['failed', false, 'it is failed'],
] as const)('a backup that is %s', ([state, fits, why]) => {
  const said = whyNotRestorable(backup(1, { status: state }), false);
  expect(said === undefined).toBe(fits);
  if (why !== undefined) expect(said).toContain(why);
});

test('a backup without an id that others know can be restored in place only', () => {
  const row = backup(1, { backupId: undefined });
  expect(whyNotRestorable(row, false)).toBeUndefined();
  expect(whyNotRestorable(row, true)).toContain('only the newest');
});

test('the data that would be lost is described by the time that is restored', () => {
  const about = { backup: undefined, dryRun: DRY_RUN, now: NOW };
  const lost = (wish: object, more = {}) =>
    stakesOf({ ...about, wish: { runbook: 'restore-backup', instance: 'orders', ...wish }, ...more }).lost;
  expect(lost({ runbook: 'restore-point-in-time', to: '2026-03-01T02:31:00Z' })).toBe(
    'what was written after 2026-03-01 02:31:00 UTC, 29 min ago',
  );
  expect(lost({ backup: '7' }, { backup: backup(7) })).toBe(
    'what was written after backup 7 of 2026-03-01 02:00:00 UTC, 1 h ago',
  );
  expect(lost({})).toContain('the backup that the run asks you for');
  expect(lost({ runbook: 'disaster-recovery', perform: true }, { backup: backup(7) })).toContain(
    'the newest known backup, 7',
  );
  expect(lost({ runbook: 'rotate-key' })).toBe('no data');
  expect(lost({ runbook: 'change-instance', action: 'recreate' })).toContain('only on a machine');
  expect(lost({ runbook: 'disaster-recovery', target: 'orders-dr' })).toContain('that the run makes');
});

test('a run that would be refused claims nothing about what it overwrites', () => {
  const refused = { ...DRY_RUN, steps: [], forever: [], wayBack: [], inTheWay: { text: 'no', hints: [] } };
  const wish = { runbook: 'restore-backup', instance: 'orders' } as const;
  const stakes = stakesOf({ wish, backup: undefined, dryRun: refused, now: NOW });
  expect(stakes.overwritten).toBe('the dry run could not say');
  expect(stakes.wayBack).toBe('the dry run could not say');
});

test('the time that a run waits for answers is not counted', () => {
  const at = (seconds: number) => new Date(NOW.getTime() + seconds * 1000).toISOString();
  const entries = (work: number) =>
    [
      [
        'run.started',
        { runbook: 'restore-backup', version: '2', instance: 'orders', input: {}, mode: 'LIVE' },
        0,
      ],
      ['event', { event: { type: 'x' }, from: 'preflight.looking', to: 'choose.asking' }, 10],
      ['event', { event: { type: 'x' }, from: 'choose.asking', to: 'restore.sending' }, 500],
      ['event', { event: { type: 'x' }, from: 'restore.sending', to: 'done' }, 500 + work],
    ].map(([type, body, seconds], seq) => ({
      stream: 'run/1',
      seq: seq + 1,
      index: seq,
      by: 'kim',
      type,
      body,
      at: at(seconds as number),
    })) as unknown as Entry[];
  const usual = usualTimes([entries(20), entries(40), entries(900)], (state) => state.endsWith('asking'));
  expect(usual.runs).toBe(3);
  expect(usual.steps.get('restore')).toBe(40);
  expect(usual.steps.has('choose')).toBe(false);
  expect([usual.wholeSeconds, usual.longestWhole]).toEqual([40, 900]);
  expect(usualTimes([], () => false).longestWhole).toBeUndefined();
});
