import { describe, expect, test } from 'vitest';
import { keysScreen } from '../../../src/tui/screens/keys/keys.ts';
import { reportScreen } from '../../../src/tui/screens/report/report.ts';
import { runsScreen } from '../../../src/tui/screens/runs/runs.ts';
import type { KeyRow, RunRow } from '../../../src/view/app/sources.ts';
import { shown } from './screen-bench.ts';

const HOSTILE = 'ev\u001b[31mil \u202e注文 שלום';

describe('the keys', () => {
  const key = (more: Partial<KeyRow>): KeyRow => ({
    instance: 'orders',
    fingerprint: 'aaaaaaaaaaaa',
    state: 'proven',
    isHeld: true,
    setAt: '2026-11-01T00:00:00Z',
    endedAt: undefined,
    provenAt: '2026-11-02T00:00:00Z',
    provenBackups: 2,
    isConfigured: true,
    ...more,
  });
  const rows = [
    key({}),
    key({ fingerprint: 'bbbbbbbbbbbb', isHeld: false, endedAt: '2026-11-01T00:00:00Z' }),
    key({ instance: HOSTILE, fingerprint: 'cccccccccccc', state: 'unknown', isConfigured: false }),
  ];
  const backup = (fingerprints: readonly string[], provenAt?: string) => ({
    id: 1,
    status: 'DONE',
    provenAt,
    keys: fingerprints.map((fingerprint) => ({ fingerprint, isHeld: true })),
  });
  const answers = {
    keys: () => ({ store: 'vault file', rows }),
    backups: (of: string) =>
      of === 'orders'
        ? {
            rows: [
              backup(['aaaaaaaaaaaa'], '2026-11-02T00:00:00Z'),
              backup(['aaaaaaaaaaaa']),
              backup(['aaaaaaaaaaaa', 'bbbbbbbbbbbb']),
            ],
          }
        : undefined,
  };

  test('claim for no key that it opens a backup that was never opened with it', () => {
    const added = key({ fingerprint: '566ff98debc3', state: 'added', provenAt: undefined, provenBackups: 0 });
    const one = shown(
      keysScreen({ name: 'keys' }),
      {
        keys: () => ({ store: 'vault file', rows: [added] }),
        backups: () => ({ rows: [backup(['566ff98debc3'])] }),
      },
      { columns: 160, rows: 24 },
    );
    expect(one.text()).toMatch(/566ff98debc3\s+yes\s+added.+none proven, perhaps 1 of 1/u);
    expect(one.text()).toContain('perhaps: by its dates only');
  });

  test('show which are held, in which state, and how many backups each opens', () => {
    const one = shown(keysScreen({ name: 'keys' }), answers, { columns: 170, rows: 24 });
    one.fits();
    const [, first = '', second = '', third = ''] = one.text().split('\n').slice(1);
    expect([first, second, third].every((row) => row !== '')).toBe(true);
    expect(one.text()).toMatch(/orders\s+aaaaaaaaaaaa\s+yes\s+proven.+2 proven, perhaps 1 to 2 of 3/u);
    expect(one.text()).toMatch(/orders\s+bbbbbbbbbbbb\s+NO\s+ended/u);
    expect(one.text()).toMatch(/not in the config.+cccccccccccc\s+yes\s+unknown/u);
  });

  test('show who could open a sealed copy of the key, and whether it may be destroyed', () => {
    const holders = [
      { name: 'Ada', state: 'proven', provenAt: '2026-11-02T00:00:00Z' },
      { name: 'Grace', state: 'never' },
    ] as const;
    const sealed = {
      state: 'active',
      needed: 3,
      verified: 1,
      fitted: 2,
      sealed: { places: ['./escrow', 'store'], people: 2 },
    };
    const one = shown(
      keysScreen({ name: 'keys' }),
      {
        keys: () => ({
          store: 'vault file',
          holders,
          rows: [
            key({ custody: sealed }),
            key({
              fingerprint: 'dddddddddddd',
              custody: { state: 'deactivated', needed: 0, verified: 0, fitted: 0 },
            }),
            key({
              fingerprint: 'eeeeeeeeeeee',
              custody: {
                state: 'deactivated',
                needed: 0,
                verified: 0,
                fitted: 0,
                endsAt: '2026-12-24T00:00:00Z',
              },
            }),
          ],
        }),
      },
      { columns: 100, rows: 30 },
    );
    one.fits();
    expect(one.text()).toMatch(
      /sealed to 2 people, in \.\/escrow, store; opening one: shown by Ada, NEVER shown\s+by Grace/u,
    );
    expect(one.text()).toContain(
      'it may not go: 3 listed backups need it (1 verified, 2 fit by their first block)',
    );
    one.press('down');
    expect(one.text()).toContain('no sealed copy on record: `lifeboat keys escrow check` looks');
    expect(one.text()).toContain('whether it may go: `lifeboat keys may-destroy dddddddddddd -i orders`');
    one.press('down');
    expect(one.text()).toContain('to be destroyed on');
  });

  test('a key store that cannot be read says what to do, and an empty one how to add a key', () => {
    const hints = ['set LIFEBOAT_KEYCHAIN=vault'];
    const why = 'there is no session bus';
    const part = { state: 'failed', at: new Date(), code: 'keys.locked', why, hints } as const;
    const open = keysScreen({ name: 'keys' });
    const locked = shown(open, {}, undefined, { keys: { part, isAsking: false } });
    locked.fits();
    expect(locked.text()).toContain('the key store cannot be read: there is no session bus');
    expect(locked.text()).toContain('hint: set LIFEBOAT_KEYCHAIN=vault');
    const empty = shown(open, { keys: () => ({ store: 'vault file', rows: [] }) });
    expect(empty.text()).toContain('press : and type `add a key`');
  });

  test.each(['keys.no-passphrase', 'keys.wrong-passphrase'])(
    'a vault that is locked (%s) is opened by p or Ctrl-R, which ask for its passphrase again',
    (code) => {
      const part = { state: 'failed', at: new Date(), code, why: 'the vault file is locked' } as const;
      const one = shown(keysScreen({ name: 'keys' }), {}, undefined, { keys: { part, isAsking: false } });
      expect(one.screen.keys().find(({ shown: key }) => key === 'p')).toMatchObject({ inFooter: true });
      one.press('p', 'ctrl+r');
      expect(one.effects).toEqual([{ type: 'unlock' }, { type: 'unlock' }]);
      const open = shown(keysScreen({ name: 'keys' }), answers);
      open.press('p');
      expect(open.effects).toEqual([{ type: 'say', text: 'the key store is not locked' }]);
    },
  );

  test('request the backups of the instance at the cursor only, and only where the config names it', () => {
    const one = shown(keysScreen({ name: 'keys' }), answers);
    expect(one.screen.needs()).toContainEqual({ source: 'backups', of: 'orders' });
    one.press('G');
    expect(one.screen.needs().filter(({ source }) => source === 'backups')).toEqual([]);
    one.press('y');
    expect(one.effects.at(-1)).toMatchObject({ type: 'copy', text: 'cccccccccccc' });
    one.press('enter');
    expect(one.effects.at(-1)).toMatchObject({ type: 'say' });
  });

  test('a key is added for the instance of the row, or for the only one; otherwise the palette is named', () => {
    const one = shown(keysScreen({ name: 'keys' }), answers);
    one.press('a');
    expect(one.effects.at(-1)).toEqual({ type: 'add-key', instance: 'orders' });
    one.press('G', 'a');
    expect(one.effects.at(-1)).toMatchObject({ type: 'say' });
    const instance = (name: string) => ({
      name,
      role: 'source' as const,
      isRehearsal: true,
      revision: '62',
      place: '',
    });
    const none = (...instances: readonly string[]) =>
      shown(keysScreen({ name: 'keys' }), {
        keys: () => ({ store: 'vault file', rows: [] }),
        home: () => ({ instances: instances.map(instance), operator: '', folder: '', config: '', store: '' }),
      });
    const only = none('orders');
    only.press('a');
    expect(only.effects).toEqual([{ type: 'add-key', instance: 'orders' }]);
    const several = none('orders', 'orders-dr');
    several.press('a');
    expect(several.effects).toEqual([
      { type: 'say', text: 'no row names the instance: press : and type `add a key`' },
    ]);
  });
});

describe('a key from a file', () => {
  const key = {
    instance: 'orders',
    fingerprint: 'aaaaaaaaaaaa',
    state: 'added' as const,
    isHeld: true,
    setAt: undefined,
    endedAt: undefined,
    provenAt: undefined,
    provenBackups: 0,
    isConfigured: true,
  };
  const asking = (more: Parameters<typeof shown>[1] = {}, failed: Parameters<typeof shown>[3] = {}) => {
    const one = shown(
      keysScreen({ name: 'keys' }),
      {
        keys: () => ({ store: 'vault file', rows: [key] }),
        secretFile: () => 'readable',
        ...more,
      },
      { columns: 80, rows: 12 },
      failed,
    );
    one.press('f');
    one.fits();
    return one;
  };

  test('is requested in a field, and stored by Enter', () => {
    const one = asking();
    expect(one.text()).toContain('the key of orders');
    one.press(...'/keys/orders.key');
    one.fits();
    expect(one.text()).toMatch(/file: \/keys\/orders\.key /u);
    expect(one.text()).toContain('it can be read: Enter stores it as a key of orders');
    expect(one.screen.needs()).toContainEqual({ source: 'secretFile', of: '/keys/orders.key' });
    one.press('enter');
    expect(one.effects.at(-1)).toEqual({ type: 'add-key', instance: 'orders', file: '/keys/orders.key' });
    expect(one.screen.isTyping()).toBe(false);
  });

  test('a file that cannot be used is refused in the words of the command line, before it is read', () => {
    const failed = {
      part: {
        state: 'failed',
        at: new Date(0),
        code: 'input.file',
        why: '/x cannot be read: it does not exist',
        hints: ['nothing was stored or sent'],
      },
      isAsking: false,
    } as const;
    const one = asking({ secretFile: () => undefined }, { secretFile: failed });
    one.press('enter');
    expect(one.effects).toEqual([{ type: 'say', text: 'type the path of the file first' }]);
    one.screen.paste('/x\n', { columns: 80, rows: 12 });
    one.fits();
    expect(one.text()).toContain('/x cannot be read: it does not exist');
    expect(one.text()).toContain('hint: nothing was stored or sent');
    one.press('enter');
    expect(one.effects.at(-1)).toEqual({ type: 'say', text: '/x cannot be read: it does not exist' });
    expect(one.screen.isTyping()).toBe(true);
  });

  test('is requested at once where the screen is opened for it, and the screen closes with the field', () => {
    const one = shown(keysScreen({ name: 'keys', addTo: HOSTILE }), {});
    one.fits();
    one.press('escape');
    expect(one.effects).toEqual([{ type: 'back' }]);
    one.press('/', 'x', 'enter');
    expect(one.effects.at(-1)).toEqual({
      type: 'instead',
      effect: { type: 'add-key', instance: HOSTILE, file: '/x' },
    });
  });

  test('Escape stores nothing, and an earlier entry can be recalled', () => {
    const one = asking();
    one.press(...'/keys/a', 'escape');
    expect(one.effects).toEqual([]);
    expect(one.screen.title()).toBe('keys');
    one.press('f', ...'/keys/b', 'enter', 'f', ...'/keys/c', 'enter', 'f', 'up', 'up', 'up');
    expect(one.text()).toMatch(/file: \/keys\/b /u);
    one.press('down');
    expect(one.text()).toMatch(/file: \/keys\/c /u);
    one.press('down');
    expect(one.text()).toContain('the key of orders');
  });
});

describe('the runs', () => {
  const run = (more: Partial<RunRow>): RunRow => ({
    runId: '01KAJ8V7Q2M4X9T3R5W6Y8Z0BC',
    runbook: 'restore-backup',
    version: '1',
    instance: 'orders',
    mode: 'LIVE',
    startedAt: '2026-11-23T11:00:00Z',
    lastAt: '2026-11-23T11:30:00Z',
    status: 'open',
    where: 'confirm by name',
    proven: false,
    followUps: 0,
    ...more,
  });
  const press = (row: RunRow, ...keys: readonly string[]) => {
    const one = shown(runsScreen(), { runs: () => [row], drillRuns: () => [{ ...row, drill: HOSTILE }] });
    one.fits();
    one.press(...keys);
    one.fits();
    return one;
  };

  test.each([
    ['resumes an open run', {}, { type: 'resume' }],
    [
      'names who drives it',
      { heldBy: 'process 7 on box' },
      { type: 'say', text: 'driven by process 7 on box: w watches it' },
    ],
    ['opens the report of a closed one', { status: 'closed' }, { type: 'open', screen: { name: 'report' } }],
  ] as const)('Enter %s', (_, more, effect) => {
    expect(press(run(more), 'enter').effects).toMatchObject([effect]);
  });

  test('a run of a drill can be read and watched, but not resumed', () => {
    const one = press(run({}), 'd', 'enter', 'w');
    expect(one.effects).toMatchObject([{ type: 'say' }, { type: 'open', screen: { name: 'watch' } }]);
    expect(one.text()).toContain('runs of drills');
  });

  test.each(['proven', 'not proven', 'stopped', 'abandoned'] as const)(
    'a run that is over says that it is %s, and is found by that',
    (result) => {
      const status = result === 'abandoned' ? 'abandoned' : 'closed';
      const one = press(run({ status, result, proven: result === 'proven' }), '/', ...result, 'enter');
      expect(one.text()).toMatch(new RegExp(`orders .* ${result} `, 'u'));
      expect(one.text()).toMatch(/ 1 of 1$/mu);
    },
  );

  test.each(['LIVE', 'REHEARSAL'] as const)(
    'when a %s run began, and by whom, is in its row at 80 columns',
    (mode) => {
      const one = press(run({ by: 'ada', mode, status: 'closed', result: 'not proven' }));
      expect(one.text()).toMatch(/11-23 11:00 +restore-backup +orders .*ada .*not proven/u);
      expect(one.text().replaceAll(/\s+/gu, ' ')).toContain('started 2026-11-23 11:00:00 UTC by ada');
    },
  );

  test('runbook, instance and target are shown whole at 80 columns, and the row says the rest', () => {
    const one = press(run({ runbook: 'disaster-recovery', target: 'orders-dr', where: 'x '.repeat(60) }));
    expect(one.text()).toContain('disaster-recovery  orders -> orders-dr');
    expect(one.text()).toContain('disaster-recovery of orders into');
    expect(one.text()).toContain('started 2026-11-23 11:00:00 UTC');
  });

  test('show how long each has taken, an open one until now', () => {
    expect(press(run({})).screen.title()).toBe('runs');
    const wide = shown(
      runsScreen(),
      { runs: () => [run({}), run({ runId: '01KB', status: 'closed' })] },
      {
        columns: 160,
        rows: 24,
      },
    );
    expect(wide.text()).toContain('1:00:00');
    expect(wide.text()).toContain('0:30:00');
  });
});

describe('the report', () => {
  const report = {
    markdown: `# rotate-key\n\n| | |\n| --- | --- |\n| Result | **open** ${'word '.repeat(80)}|\n| ${HOSTILE} | x |\n`,
    command: 'lifeboat report 01K --format html --out report-01K.html',
    mode: 'REHEARSAL' as const,
    instance: 'orders',
  };

  test('fits every size, scrolls, and can be written and copied', () => {
    const one = shown(reportScreen({ name: 'report', runId: '01K' }), { report: () => report });
    one.fits();
    expect(one.text()).toMatch(/Result +open word/u);
    expect(one.text()).not.toContain('---');
    one.press('o', 'y');
    expect(one.effects).toMatchObject([
      { type: 'write-report', runId: '01K' },
      { type: 'copy', text: report.command },
    ]);
  });

  test('says why there is none, and then writes nothing', () => {
    const one = shown(reportScreen({ name: 'report', runId: '01K' }), {});
    one.fits();
    one.press('o');
    expect(one.effects).toMatchObject([{ type: 'say' }]);
  });
});
