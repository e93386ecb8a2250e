import { describe, expect, test } from 'vitest';
import { glyphsFor } from '../../src/tui/glyphs.ts';
import { lineWidth, textOf } from '../../src/tui/line.ts';
import { createMask } from '../../src/tui/mask.ts';
import { type Line, type Look, span } from '../../src/tui/span.ts';
import type { Home } from '../../src/view/app/sources.ts';
import { OPEN_FOLLOW_UPS } from './fake-recovery.ts';
import { TYPED_NAME, VIEWS } from './fake-views.ts';

const LOOK: Look = { glyphs: glyphsFor({ LC_ALL: 'C.UTF-8' }), colour: false };
const WIDTH = 80;
const instance = (name: string, place: string) =>
  ({ name, place, role: 'source', isRehearsal: false, revision: '62' }) as const;
const HOME: Home = {
  instances: [
    instance('orders', 'dashboard.example.com:8443'),
    instance('orders-dr', 'dr.example.com'),
    instance('在庫', 'dr.example.com'),
  ],
  operator: 'Ada Lovelace',
  apps: ['orders-api'],
  folder: '/srv/home',
  config: '/srv/lifeboat.yaml',
  store: '/srv/home',
};
const NAMES = { home: HOME, run: undefined };
const RUN = '01JABCDEFGHJKMNPQRSTVWXYZ0';

type Names = Parameters<ReturnType<typeof createMask>['cover']>[1];

function coveredRows(lines: readonly Line[], names: Names = NAMES): readonly Line[] {
  const height = lines.length;
  const bands = [{ height, panes: [{ width: WIDTH, height, lines }] }];
  const layout = createMask().cover({ page: { height: 1, last: 0 }, bands }, names, LOOK);
  return layout.bands[0]?.panes[0]?.lines ?? [];
}
const covered = (line: Line, names: Names = NAMES) => coveredRows([line], names)[0] ?? [];

describe('what is hidden', () => {
  test.each([
    ['an instance', 'restore orders now'],
    ['an instance that begins like another one', 'target orders-dr'],
    ['a wide name', 'in 在庫 are'],
    ['a name that is cut', 'of orde… and'],
    ['a host', 'at dashboard.example.com:8443'],
    ['a host without its port', 'at dashboard.example.com'],
    ['an operator', 'by Ada Lovelace at'],
    ['a run', `run ${RUN} is`],
    ['a run that is cut', `run ${RUN.slice(0, 10)} is`],
    ['an id of the platform', 'guid 4a1f77e0-1111-4222-8333-abcdefabcdef'],
    ['a fingerprint', 'key 0a1b2c3d4e5f is'],
    ['a run in the name of a file', `report-${RUN}.html:`],
    ['a backup by its guid', 'backup 4a1f77e0-1111-4222-8333-abcdefabcdef-1795519433916 is'],
    ['an application', 'restage orders-api'],
    ['an application that is cut', 'restage orders-a…'],
    ['an operator that is cut within the second name', 'by Ada Lov…'],
    ['a host that is cut', 'at dashboard.exa…'],
    ['a name that is cut in ASCII', 'of orders-d~'],
  ])('%s has another name of the same width', (_, text) => {
    const line = covered([span(text)]);
    expect(lineWidth(line)).toBe(lineWidth([span(text)]));
    const secrets = ['orde', '在庫', 'example', 'Ada', '01J', '4a1f', '0a1b'];
    expect(secrets.filter((one) => textOf(line).includes(one))).toEqual([]);
  });

  test('a cut name with several possible completions gets the name of none of them', () => {
    const mask = createMask();
    expect(mask.text('into orders-… now', NAMES)).toBe('into hidden-- now');
    expect(mask.text('into orders-d… now', NAMES)).toBe(`into ${mask.text('orders-dr', NAMES)} now`);
  });

  /** What is left of a name at either side of a line end shows whose it is. */
  test.each([
    ['within a word', ['the target is orders-', 'dr, which is empty'], ['orders', 'dr,']],
    [
      'within a word, under an indent',
      ['the target is ord', '    ers-dr, which is empty'],
      ['ord', 'ers-dr'],
    ],
    ['in a command, with a backslash', ['cf restage orders-a\\', 'pi --strategy rolling'], ['orders', 'pi ']],
    ['at a blank', ['it was decided by Ada', 'Lovelace at night'], ['Ada', 'Lovelace']],
    ['of a host', ['see dashboard.exam', 'ple.com:8443 for it'], ['dashboard', 'ple.com']],
    ['of an id', ['the guid is 4a1f77e0-1111-42', '22-8333-abcdefabcdef now'], ['4a1f', '22-8333']],
    ['of a fingerprint', ['key 0a1b2c', '3d4e5f is set'], ['0a1b2c', '3d4e5f']],
  ])('a name that continues in the next row is hidden in both: %s', (_, texts, secrets) => {
    const rows = coveredRows(texts.map((text) => [span(text)]));
    expect(rows.map(lineWidth)).toEqual(texts.map((text) => text.length));
    const shown = rows.map(textOf).join('\n');
    expect(secrets.filter((one) => shown.includes(one))).toEqual([]);
  });

  test('rows that merely stand one above the other keep their words', () => {
    const texts = ['in order to go', 'on, look at the', 'orders'];
    expect(
      coveredRows(texts.map((text) => [span(text)]))
        .map(textOf)
        .slice(0, 2),
    ).toEqual(texts.slice(0, 2));
  });

  test('an application that only the run knows, and its target, are hidden', () => {
    const [followUp] = OPEN_FOLLOW_UPS;
    if (followUp === undefined) throw new Error('there is no follow-up');
    const run = { ...VIEWS.choice, target: 'spare', followUps: [{ ...followUp, subject: 'billing' }] };
    const line = textOf(covered([span('restage billing of spare')], { home: HOME, run }));
    expect(line).not.toMatch(/billing|spare/u);
  });

  test.each(['reorders', 'orders_old', 'the order of 2026-11-23 14:32:00', '12 MiB of 200', '', '…'])(
    '%o is shown unchanged',
    (text) => {
      expect(textOf(covered([span(text)]))).toBe(text);
    },
  );

  test('a name is hidden even if several pieces share it, and each piece keeps its meaning', () => {
    const line = covered([span('of or'), span('ders-', 'selected'), span('dr now', 'text.dim')]);
    expect(textOf(line)).toBe('of instance-1 now'.replace('instance-1', 'instanc-1'));
    expect(line.map(({ token }) => token)).toEqual(['text', 'selected', 'text.dim']);
  });

  test('the same thing has the same name everywhere, and different things have different names', () => {
    const mask = createMask();
    const [first, again, other] = ['orders', 'orders', 'orders-dr'].map((name) => mask.text(name, NAMES));
    expect(first).toBe(again);
    expect(first).not.toBe(other);
    expect(mask.text(RUN, NAMES).startsWith('run-')).toBe(true);
  });
});

describe('a confirmation', () => {
  const run = {
    ...VIEWS.choice,
    instance: 'orders',
    question: {
      kind: 'typed-name' as const,
      prompt: 'overwrite it?',
      expected: 'orders',
      event: 'yes',
      stakes: TYPED_NAME.stakes,
      options: [],
    },
  };
  const names = { home: HOME, run };

  test('says that the real name is to be typed', () => {
    const line = textOf(covered([span('to confirm, type '), span('orders', 'selected')], names));
    expect(line).toContain('type the real one');
    expect(line).not.toContain('orders');
  });

  test.each(['or', 'orde', 'orders', 'ordesr'])('does not show %o in its field', (typed) => {
    const line = covered([span('❯ ', 'selected'), span(typed), span(' ', 'cursor')], names);
    expect(textOf(line)).not.toContain(typed);
    expect(lineWidth(line)).toBe(3 + typed.length);
  });
});
