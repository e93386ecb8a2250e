import { describe, expect, it } from 'vitest';
import { lineWidth } from '../../src/tui/line.ts';
import { layOut } from '../../src/tui/screens/run/layout.ts';
import type { UiState } from '../../src/tui/screens/run/screen-state.ts';
import type { QuestionView, RunView } from '../../src/view/run-view.ts';
import { drive } from './drive.ts';
import { TEXT } from './fake-recovery.ts';
import { CHOICE, SECRET, TYPED_NAME, VIEWS } from './fake-views.ts';
import { look, textIn } from './shown.ts';

const asking = (question: QuestionView): RunView => ({ ...VIEWS.choice, question });

function lines(state: UiState, columns = 80, rows = 24) {
  return layOut(state, { columns, rows }, look).bands.flatMap(({ panes }) =>
    panes.flatMap((pane) => pane.lines),
  );
}

function textOf(state: UiState, columns = 80, rows = 24): string {
  return textIn(layOut(state, { columns, rows }, look));
}

const FIELDS = [
  ['a name', asking(TYPED_NAME), []],
  ['a word', asking(TEXT), []],
  ['a secret', asking(SECRET), []],
  ['a moment', VIEWS.time, []],
  ['a reason', asking(CHOICE), ['down', 'enter']],
] as const;

describe.each(FIELDS)('the field of %s', (_, view, before) => {
  it('has a cursor, and deletes characters and words where it stands', () => {
    const ui = drive(view);
    ui.press(...before, ...'ab cd ef');
    const text = () => ui.state().question?.text;
    ui.press('ctrl+w');
    expect(text()).toBe('ab cd ');
    ui.press('home', 'delete', 'right', 'right', 'X');
    expect(text()).toBe('b Xcd ');
    ui.press('end', 'backspace', 'left', 'backspace');
    expect(text()).toBe('b Xd');
    ui.press('ctrl+u');
    expect(text()).toBe('');
  });

  it('takes every letter as text, also those that are keys elsewhere', () => {
    const ui = drive(view);
    ui.press(...before, ...'?lq:!s');
    expect(ui.state().question?.text).toBe('?lq:!s');
    expect(ui.state().overlay).toBe('none');
  });

  it.each([
    [40, 24],
    [80, 24],
    [100, 30],
    [160, 50],
  ])('keeps its cursor in sight at %i x %i, however long the text', (columns, rows) => {
    const ui = drive(view);
    ui.press(...before, ...'wide 漢字 and more '.repeat(12));
    for (const key of ['end', 'home', 'right', 'ctrl+right']) {
      ui.press(key);
      const all = lines(ui.state(), columns, rows);
      expect(all.flat().filter(({ token }) => token === 'cursor')).toHaveLength(1);
      for (const line of all) expect(lineWidth(line)).toBeLessThanOrEqual(columns);
    }
  });
});

describe.each(FIELDS)('in the field of %s', (_, view, before) => {
  it.each([
    [80, 24],
    [100, 30],
    [160, 50],
  ])('the footer names the palette, beside Enter and the way out, at %i x %i', (columns, rows) => {
    const ui = drive(view);
    ui.press(...before);
    const footer = (state: UiState) => textOf(state, columns, rows).split('\n').at(-1) ?? '';
    expect(footer({ ...ui.state(), hasPalette: true })).toMatch(/(?=.*Enter )(?=.*Esc ).*Ctrl-K find/u);
    expect(footer(ui.state())).not.toContain('Ctrl-K');
  });
});

describe('earlier reasons', () => {
  it('come back with the arrows, the newest first', () => {
    const ui = drive(asking(CHOICE));
    for (const words of ['first', 'second']) {
      ui.press('down', 'enter', ...words, 'enter');
      ui.answered();
    }
    ui.press('down', 'enter', 'up');
    expect(ui.state().question?.text).toBe('second');
    ui.press('up', 'up');
    expect(ui.state().question?.text).toBe('first');
    ui.press('down', 'down');
    expect(ui.state().question?.text).toBe('');
  });

  it('never contain a secret or a typed name', () => {
    const ui = drive(asking({ ...SECRET, twice: false }));
    ui.press(...'a-secret-of-many-letters', 'enter');
    expect(ui.state().given).toEqual([]);
    const named = drive(asking(TYPED_NAME));
    named.press(...TYPED_NAME.expected, 'enter');
    expect(named.state().given).toEqual([]);
  });
});

describe('the field of a secret', () => {
  it('shows its length and what is wrong with it, and never the secret', () => {
    const ui = drive(asking(SECRET));
    ui.type(' Tr0ub4dor&3\n');
    const text = textOf(ui.state());
    expect(text).toContain('12 characters');
    expect(text).toContain('begins with a space');
    expect(text).toContain('line end after it was removed');
    expect(text).toContain('fewer than 32 bytes');
    expect(text).not.toContain('Tr0');
  });

  it('drops the note on a pasted line end together with the paste', () => {
    const ui = drive(asking(SECRET));
    ui.type('Tr0ub4dor&3\n');
    ui.press('ctrl+u', ...'another-secret');
    expect(textOf(ui.state())).not.toContain('line end');
  });
});
