import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ShownKey } from '../../src/tui/live-screen.ts';
import { paletteScreen } from '../../src/tui/screens/palette/palette.ts';
import { COMMAND_WORDS } from '../../src/view/app/command-words.ts';
import type { Home, RunRow } from '../../src/view/app/sources.ts';
import { ago, fact, factsOf, opened, SIZE } from './fake-fleet.ts';

const RUN: RunRow = {
  ...{ runId: '01RUN', runbook: 'restore-backup', version: '3', instance: 'orders', mode: 'LIVE' },
  ...{ startedAt: ago(2), lastAt: ago(1), status: 'open', where: 'choose the backup', proven: false },
  followUps: 0,
};

const HOME: Home = {
  instances: [{ name: 'orders', role: 'source', isRehearsal: true, revision: '62', place: '' }],
  ...{ operator: 'robin', folder: '', config: '', store: '' },
};

const DEAD_KEY: ShownKey = {
  keys: ['o'],
  shown: 'o',
  label: 'restore',
  description: 'the run below the cursor',
  inFooter: true,
  disabled: 'no run is below the cursor',
};

function palette(isDriving = false) {
  const screen = paletteScreen({ keys: [DEAD_KEY], isDriving, hidesNames: false });
  return opened(screen, factsOf({ runs: fact([RUN]), home: fact(HOME) }));
}

describe('the palette', () => {
  test('has each command once', () => {
    const names = COMMAND_WORDS.map(({ name }) => name);
    expect(names).toEqual([...new Set(names)]);
  });

  test('puts what can be done now above what cannot, and says why that is so', () => {
    const { screen, at } = palette();
    screen.paste('restore', SIZE);
    const rows = at(SIZE).join('\n');
    expect(rows).toMatch(/resume 01RUN.*restore \(o\) +no run is below the cursor/su);
  });

  test('finds by all words that are typed, in any order', () => {
    const { screen, at } = palette();
    screen.paste('orders resume', SIZE);
    expect(at(SIZE).join('\n')).toContain('resume 01RUN');
    screen.paste(' stock', SIZE);
    expect(at(SIZE).join('\n')).toContain('nothing fits');
  });

  test('offers to add the first key of an instance from a file, even where no list shows one yet', () => {
    const { screen, at, effects } = palette();
    screen.paste('orders from a file', SIZE);
    expect(at(SIZE).join('\n')).toContain('add a key of orders from a file');
    screen.press({ kind: 'key', key: 'enter' }, SIZE);
    expect(effects).toEqual([
      { type: 'instead', effect: { type: 'open', screen: { name: 'keys', addTo: 'orders' } } },
    ]);
  });

  test.each([
    ['follow', 'copy lifeboat followups list'],
    ['export', 'copy lifeboat audit export'],
    ['bundle', 'copy lifeboat audit export'],
    ['anchor', 'copy lifeboat audit anchor'],
    ['report', 'copy lifeboat report'],
    ['verify', 'copy lifeboat audit verify'],
    ['drill', 'copy lifeboat drill'],
    ['doctor', 'copy lifeboat doctor'],
    ['rotate', 'the encryption key leaked or is old'],
    ['disaster', 'the instance or its region is gone'],
    ['pitr', 'rows were deleted or changed wrongly'],
    ['point in time', 'rows were deleted or changed wrongly'],
    ['quit', 'quit'],
    ['exit', 'quit'],
    ['theme', 'copy LIFEBOAT_THEME=contrast lifeboat'],
    ['backup', 'a risky change is coming'],
  ])('finds by "%s" the command that people mean: %s', (typed, found) => {
    const { screen, at } = palette();
    screen.paste(typed, SIZE);
    expect(at(SIZE).join('\n')).toContain(found);
  });

  test('finds every command of the command line by its name', () => {
    const pages = readFileSync(join(import.meta.dirname, '../../docs/commands.md'), 'utf8');
    const names = [...pages.matchAll(/^## lifeboat (.+)$/gmu)].flatMap(([, name = '']) => name);
    const isGroup = (name: string) => names.some((other) => other.startsWith(`${name} `));
    const offered = new Set(COMMAND_WORDS.map(({ name }) => name));
    expect(names.length).toBeGreaterThan(50);
    expect(names.filter((name) => !offered.has(name) && !isGroup(name))).toEqual([]);
    expect([...offered].filter((name) => !names.includes(name))).toEqual([]);
  });

  test('begins a situation by its words, and leaves the app by "quit"', () => {
    const { screen, effects } = palette();
    screen.paste('disaster lost', SIZE);
    screen.press({ kind: 'key', key: 'enter' }, SIZE);
    const start = { type: 'open', screen: { name: 'start', situation: 'region-gone' } };
    expect(effects).toEqual([{ type: 'instead', effect: start }]);
    const again = palette();
    again.screen.paste('quit', SIZE);
    again.screen.press({ kind: 'key', key: 'enter' }, SIZE);
    expect(again.effects).toEqual([{ type: 'instead', effect: { type: 'quit' } }]);
  });

  test('starts nothing in a window that drives a run', () => {
    const { screen, at } = palette(true);
    screen.paste('resume', SIZE);
    expect(at(SIZE).join('\n')).toContain('this window already drives a run');
  });
});
