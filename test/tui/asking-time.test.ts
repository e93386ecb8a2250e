import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { glyphsFor } from '../../src/tui/glyphs.ts';
import { layOut } from '../../src/tui/screens/run/layout.ts';
import { freshQuestion } from '../../src/tui/screens/run/screen-state.ts';
import { firstState, update } from '../../src/tui/screens/run/ui-state.ts';
import { QUIET_MS } from '../../src/view/question-words.ts';
import { drive } from './drive.ts';
import { TIME } from './fake-recovery.ts';
import { VIEWS } from './fake-views.ts';
import { textIn } from './shown.ts';

const view = VIEWS.time;
const chosen = (ui: ReturnType<typeof drive>) => {
  const at = ui.state().question?.picker?.at;
  return at === undefined ? undefined : new Date(at).toISOString();
};

describe('the picker of a point in time', () => {
  it('starts on the suggested moment, and Enter answers with it', () => {
    const ui = drive(view);
    ui.press('enter');
    expect(ui.answers()).toEqual([{ event: 'operator.time', time: '2026-11-21T03:00:00.000Z' }]);
  });

  it('is moved by left and right, by the unit that up and down choose', () => {
    const ui = drive(view);
    ui.press('left', 'left', 'right');
    expect(chosen(ui)).toBe('2026-11-21T02:59:00.000Z');
    ui.press('up', 'left');
    expect(chosen(ui)).toBe('2026-11-21T01:59:00.000Z');
    ui.press('down', 'down', 'right');
    expect(chosen(ui)).toBe('2026-11-21T01:59:01.000Z');
  });

  it('jumps to the edges of the range and never leaves it', () => {
    const ui = drive(view);
    ui.press('end', 'right', 'up', 'right');
    expect(chosen(ui)).toBe('2026-11-21T03:10:00.000Z');
    ui.press('home', 'left');
    expect(chosen(ui)).toBe('2026-11-20T02:00:07.000Z');
  });

  it('stays in its range whatever is pressed, and answers only with a moment in it', () => {
    const key = fc.constantFrom('left', 'right', 'up', 'down', 'home', 'end', 'enter', 'backspace');
    fc.assert(
      fc.property(fc.array(key, { maxLength: 60 }), (keys) => {
        const ui = drive(view);
        ui.press(...keys);
        const at = Date.parse(chosen(ui) ?? '');
        expect(at).toBeGreaterThanOrEqual(Date.parse(TIME.earliest));
        expect(at).toBeLessThanOrEqual(Date.parse(TIME.latest));
        for (const { event, time } of ui.answers()) {
          if (event === TIME.event) expect(Date.parse(time ?? '')).toBe(at);
        }
      }),
    );
  });

  it('has the other answers below its finest unit', () => {
    const ui = drive(view);
    ui.press('down', 'down', 'enter');
    expect(ui.answers()).toEqual([{ event: 'STOP' }]);
  });

  it('never answers with typed text directly: the first Enter reads it, the second takes the moment shown', () => {
    const ui = drive(view);
    ui.press(...'10 minutes ago', 'enter');
    expect(ui.effects).toEqual([{ type: 'read-moment', text: '10 minutes ago' }]);
    ui.read('10 minutes ago', { time: new Date('2026-11-21T02:50:00Z') });
    expect(ui.answers()).toEqual([]);
    expect(ui.mode()).toBe('picker');
    ui.press('enter');
    expect(ui.answers()).toEqual([{ event: 'operator.time', time: '2026-11-21T02:50:00.000Z' }]);
  });

  it('ignores an Enter that was pressed before the moment was visible on the screen', () => {
    const ui = drive(view);
    ui.at(10_000);
    ui.press('4', 'enter');
    ui.read('4', { time: new Date('2026-11-21T02:50:00Z') });
    ui.at(10_000 + QUIET_MS - 1);
    ui.press('enter', 'enter');
    expect(ui.answers()).toEqual([]);
  });

  it('says why a text cannot be read, and keeps the text', () => {
    const ui = drive(view);
    ui.press(...'noon', 'enter');
    ui.read('noon', { problem: 'that is not a time that can be read' });
    expect(ui.state().question).toMatchObject({
      text: 'noon',
      problem: { text: 'that is not a time that can be read' },
    });
    expect(chosen(ui)).toBe('2026-11-21T03:00:00.000Z');
  });

  it('drops a reading if the text was changed in the meantime', () => {
    const ui = drive(view);
    ui.press('4', 'enter', '5');
    ui.read('4', { time: new Date('2026-11-21T02:50:00Z') });
    expect(ui.state().question?.text).toBe('45');
    expect(chosen(ui)).toBe('2026-11-21T03:00:00.000Z');
  });

  it('treats command letters as text, and takes a paste without sending it', () => {
    const ui = drive(view);
    ui.press('q', 's', 'j', '?');
    expect(ui.state()).toMatchObject({ overlay: 'none', question: { text: 'qsj?' } });
    ui.press('ctrl+u');
    ui.type('14:32\r\n');
    expect(ui.state().question?.text).toBe('14:32');
    expect(ui.effects).toEqual([]);
  });

  it('leads out by Escape: first out of the field, then towards the exit', () => {
    const ui = drive(view);
    ui.press('1', 'escape');
    expect(ui.mode()).toBe('picker');
    ui.press('escape');
    expect(ui.mode()).toBe('leave');
  });

  it('ignores keys that were pressed before it was visible', () => {
    const ui = drive(view);
    ui.at(QUIET_MS - 1);
    const before = ui.shown();
    ui.press('left', '1', 'home', 'enter');
    expect(ui.shown()).toEqual(before);
    expect(ui.effects).toEqual([]);
  });

  it('takes no moment when the range cannot be read', () => {
    const ui = drive({ ...view, question: { ...TIME, earliest: 'soon', latest: 'never', suggested: '?' } });
    ui.press('right', 'home', 'end', 'enter');
    expect(ui.answers()).toEqual([]);
  });

  it('stays where it was moved to when the view is drawn again', () => {
    const ui = drive(view);
    ui.press('left');
    ui.show({ ...view, clock: '2026-11-21 03:12:46' });
    expect(chosen(ui)).toBe('2026-11-21T02:59:00.000Z');
    expect(freshQuestion(TIME).picker?.unit).toBe('minute');
  });

  it('whose text cannot be read can be corrected at once: nothing new can be answered by mistake', () => {
    const ui = drive(VIEWS.time);
    ui.press(...'noon', 'enter');
    ui.at(1_000_000);
    const before = ui.state();
    const [refused] = update(before, {
      type: 'moment',
      text: 'noon',
      moment: { problem: 'that can be morning or evening' },
      now: 1_000_000,
    });
    const [erased] = update(refused, {
      type: 'intent',
      intent: 'erase',
      key: 'backspace',
      page: { height: 5, last: 20 },
      now: 1_000_001,
    });
    expect(erased.question?.text).toBe('noo');
  });
});

describe('the bar of the range', () => {
  const SIGNS = [
    ['C.UTF-8', '█', '✗', '•'],
    ['C', '#', 'x', '*'],
  ] as const;
  const rowsAt = (columns: number, rows: number, lang: string) => {
    const look = { glyphs: glyphsFor({ LANG: lang }), colour: false };
    return textIn(layOut(firstState({ ...view, log: [] }, 0), { columns, rows }, look)).split('\n');
  };

  it.each(
    SIGNS.flatMap((signs) => [
      [80, 24, ...signs] as const,
      [100, 30, ...signs] as const,
      [160, 50, ...signs] as const,
    ]),
  )(
    'at %i x %i in %s shows the moment, the incident and the backups, and says which is which',
    (columns, rows, lang, own, incident, backup) => {
      const shown = rowsAt(columns, rows, lang);
      const legend = shown.join(' ').replace(/\s+/gu, ' ');
      expect(legend).toContain(`${own} chosen`);
      expect(legend).toContain(`${incident} it went wrong 2026-11-21 03:01:00 UTC`);
      expect(legend).toContain(`${backup} 2 backups, the newest 2026-11-21 02:00:00 UTC`);
      const bar = shown.find((row) => /^\s+[│|][─█✗•#x*-]+[│|]$/u.test(row)) ?? '';
      expect(bar.split(backup)).toHaveLength(3);
      expect(bar.indexOf(backup)).toBeLessThan(bar.indexOf(own));
      // A minute apart: in one cell the moment counts.
      expect(bar).toContain(own);
    },
  );

  it('has no legend for what is unknown', () => {
    const marks = { incident: undefined, backups: [] };
    const state = firstState({ ...view, question: { ...TIME, marks } }, 0);
    const look = { glyphs: glyphsFor({ LANG: 'C.UTF-8' }), colour: false };
    const text = JSON.stringify(layOut(state, { columns: 100, rows: 30 }, look));
    expect(text).not.toContain('it went wrong');
  });
});
