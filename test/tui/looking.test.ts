import { describe, expect, it } from 'vitest';
import { lineWidth, textOf as plainText } from '../../src/tui/line.ts';
import { layOut } from '../../src/tui/screens/run/layout.ts';
import { logLines, wholeRows } from '../../src/tui/screens/run/parts/overlays.ts';
import type { UiState } from '../../src/tui/screens/run/screen-state.ts';
import { modeOf } from '../../src/tui/screens/run/ui-state.ts';
import type { RunView } from '../../src/view/run-view.ts';
import { drive } from './drive.ts';
import { SECRET, VIEWS } from './fake-views.ts';
import { look, textIn } from './shown.ts';

const LOG: RunView['log'] = Array.from({ length: 300 }, (_, at) => ({
  at: '03:00:00',
  text: `entry number ${at + 1}${at % 50 === 0 ? ' of the backup' : ''}`,
  tone: 'plain',
  step: at < 100 ? 'preflight' : 'generate',
}));
const RAIL: RunView['rail'] = [
  {
    id: 'preflight',
    title: 'look at the instance',
    state: 'done',
    seconds: 125,
    prose: { markdown: 'It was **looked** at.' },
  },
  { id: 'generate', title: 'generate the key', state: 'current', seconds: 5 },
  { id: 'store', title: 'store the key', state: 'ahead', prose: { markdown: 'It will be stored.' } },
];
const VIEW: RunView = { ...VIEWS.choice, log: LOG, rail: RAIL };

function textOf(state: UiState, columns: number, rows: number): string {
  return textIn(layOut(state, { columns, rows }, look));
}

const SIZES = [
  [40, 12],
  [80, 24],
  [100, 30],
  [160, 50],
] as const;

describe('an entry of the log with a time that no clock has', () => {
  it.each([38, 39, 60, 200])('fills no row beyond its end, and loses nothing (%i characters)', (length) => {
    const entry = { at: 't'.repeat(length), text: 'the 復元 ended', tone: 'plain' } as const;
    const rows = wholeRows([entry], 40, look);
    for (const row of rows) expect(lineWidth(row)).toBeLessThanOrEqual(40);
    const all = rows
      .map(plainText)
      .join('')
      .replaceAll(/[^t復元hend]/gu, '');
    expect(all).toBe(`${entry.at}the復元ended`);
  });
});

describe.each(SIZES)('the whole log at %i x %i', (columns, rows) => {
  it('begins at its newest entry and goes back to the first', () => {
    const ui = drive(VIEW);
    ui.press('l');
    expect(textOf(ui.state(), columns, rows)).toContain('entry number 300');
    ui.press('g');
    expect(textOf(ui.state(), columns, rows)).toMatch(/entry number 1 of the backup/u);
    ui.press('G');
    expect(textOf(ui.state(), columns, rows)).toContain('entry number 300');
  });

  it('shows only the entries that hold what is typed, and counts them', () => {
    const ui = drive(VIEW);
    ui.press('l', '/', ...'BACKup');
    const text = textOf(ui.state(), columns, rows);
    expect(text).toContain('6 of 300 entries');
    for (const row of text.match(/entry number.*/gu) ?? []) expect(row).toMatch(/ of( the|$)/u);
    ui.press('enter');
    expect(modeOf(ui.state())).toBe('log');
    expect(textOf(ui.state(), columns, rows)).toContain('6 of 300 entries');
    ui.press('/', 'escape');
    expect(textOf(ui.state(), columns, rows)).toContain('300 entries');
  });

  it('says that a question waits below it, and leads back to that question', () => {
    const ui = drive(VIEW);
    ui.press('l');
    expect(textOf(ui.state(), columns, rows)).toContain('a question waits');
    ui.press('l');
    expect(modeOf(ui.state())).toBe('choice');
    expect(ui.effects).toEqual([]);
  });
});

describe('the log', () => {
  it('is opened and closed from a field with Ctrl-L, and what was typed stays', () => {
    const ui = drive({ ...VIEW, question: SECRET });
    ui.press(...'al', 'ctrl+l');
    expect(modeOf(ui.state())).toBe('log');
    ui.press('ctrl+l');
    expect(modeOf(ui.state())).toBe('input');
    expect(ui.state().question?.text).toBe('al');
  });

  it('says so when nothing fits its filter', () => {
    const ui = drive(VIEW);
    ui.press('l', '/', ...'nonsense');
    expect(textOf(ui.state(), 80, 24)).toContain('no entry fits');
  });
});

describe.each(SIZES)('a step of the rail at %i x %i', (columns, rows) => {
  it('shows its state, its time, its prose and its entries, and changes nothing', () => {
    const ui = drive(VIEW);
    const before = ui.shown();
    ui.press('[');
    const text = textOf(ui.state(), columns, rows);
    expect(text).toMatch(/step 1\/3: look/u);
    if (columns >= 80) expect(text).toContain('look at the instance (done, 2m)');
    expect(text).toContain('It was looked at.');
    expect(text).toContain('entry number 1 of the backup');
    expect(text).not.toContain('entry number 101');
    ui.press(']', ']', ']');
    expect(textOf(ui.state(), columns, rows)).toContain('It will be stored.');
    ui.press('escape');
    expect(ui.shown()).toEqual({ ...before, stepRow: ui.state().stepRow });
    expect(ui.effects).toEqual([]);
  });
});

it('shows with the first step the entries written before the run left its first state', () => {
  const [line] = LOG;
  if (line === undefined) throw new Error('the log is empty');
  const { step: _, ...early } = line;
  const log = [{ ...early, text: 'ada started it' }, ...LOG.slice(150)];
  const ui = drive({ ...VIEW, log });
  ui.press('[');
  const text = textOf(ui.state(), 80, 24);
  expect(text).toContain('step 1/3: look at the instance');
  expect(text).toContain('ada started it');
});

describe('the text of a step on the whole screen', () => {
  const hints = Array.from(
    { length: 9 },
    (_, at) => `a way out, number ${at + 1}, which is told in one sentence`,
  );
  const view: RunView = {
    ...VIEWS.choice,
    rail: RAIL.map((step) => (step.id === 'generate' ? { ...step, state: 'failed' as const } : step)),
    banner: { tone: 'bad', text: 'it was refused', hints },
  };

  it.each(SIZES)('shows all text of the run at %i x %i, with every hint of a failure', (columns, rows) => {
    const ui = drive(view);
    ui.press('z');
    expect(modeOf(ui.state())).toBe('step');
    let seen = '';
    for (let scroll = 0; scroll < 200; scroll += 4)
      seen += textOf({ ...ui.state(), scroll }, columns, rows).replaceAll(/\s+/gu, ' ');
    for (const hint of hints) expect(seen).toContain(hint.slice(0, 22));
    ui.press('z');
    expect(ui.state().overlay).toBe('none');
  });

  it('can also be opened from a field', () => {
    const ui = drive({ ...VIEWS.choice, question: SECRET, rail: RAIL });
    ui.press('ctrl+t');
    expect(ui.state().overlay).toBe('step');
    ui.press('ctrl+t');
    expect(modeOf(ui.state())).toBe('input');
  });
});

describe('the log below a run', () => {
  const long = `${'a long sentence of the log '.repeat(6)}to its end`;
  const log: RunView['log'] = [
    { at: '03:00:00', text: long, tone: 'plain' },
    { at: '03:00:01', text: `second ${long}`, tone: 'plain' },
  ];

  it('breaks an entry into all its rows, whatever is above it, and cuts only the oldest', () => {
    for (const height of [5, 6, 7, 11]) {
      const rows = logLines(log, 60, height, look).map(plainText);
      expect(rows.length).toBeLessThanOrEqual(height);
      expect(rows.at(-1)).toMatch(/to its end$/u);
    }
  });

  it('cuts the newest entry only where it is larger than the room', () => {
    const rows = logLines(log, 60, 3, look).map(plainText);
    expect(rows[1]).toContain('second a long');
    expect(rows.at(-1)).toMatch(/…$/u);
  });
});
