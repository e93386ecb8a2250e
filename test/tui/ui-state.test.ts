import { describe, expect, it } from 'vitest';
import { FIRST_REPEAT_MS } from '../../src/tui/screens/run/screen-state.ts';
import { modeOf } from '../../src/tui/screens/run/ui-state.ts';
import { QUIET_MS } from '../../src/view/question-words.ts';
import type { QuestionView, RunView } from '../../src/view/run-view.ts';
import { drive } from './drive.ts';
import { CHOICE, SECRET, TYPED_NAME, VIEWS } from './fake-views.ts';

const asking = (question: QuestionView): RunView => ({ ...VIEWS.choice, question });

describe('a choice', () => {
  it('starts on the recommended answer and takes it with Enter', () => {
    const ui = drive(VIEWS.choice);
    ui.press('enter');
    expect(ui.answers()).toEqual([{ event: 'SET' }]);
  });

  it('never starts on a recommended answer that is disabled', () => {
    const options = CHOICE.options.map((option, at) =>
      at === 0 ? { ...option, disabled: 'not yet' } : option,
    );
    const ui = drive(asking({ ...CHOICE, options }));
    expect(ui.state().question?.row).toBe(1);
  });

  it('moves with arrows and with j and k, and stops at the ends', () => {
    const ui = drive(VIEWS.choice);
    ui.press('k', 'up', 'j', 'down', 'down', 'j', 'j');
    expect(ui.state().question?.row).toBe(3);
    ui.press('k');
    expect(ui.state().question?.row).toBe(2);
  });

  it('does not take a disabled answer and repeats why', () => {
    const ui = drive(VIEWS.choice);
    ui.press('down', 'down', 'enter');
    expect(ui.answers()).toEqual([]);
    expect(ui.state().question?.problem?.text).toContain('the service says that its key has not changed');
  });

  it('asks for the reason an answer needs, and takes no empty one', () => {
    const ui = drive(VIEWS.choice);
    ui.press('down', 'enter');
    expect(modeOf(ui.state())).toBe('reason');
    ui.press('enter', ' ', ' ', 'enter');
    expect(ui.answers()).toEqual([]);
    ui.press(...'key is fine', 'enter');
    expect(ui.answers()).toEqual([{ event: 'SKIP', text: 'key is fine' }]);
  });

  it('gives one answer, however often Enter is pressed', () => {
    const ui = drive(VIEWS.choice);
    ui.press('enter', 'enter', 'enter');
    expect(ui.answers()).toHaveLength(1);
  });

  it('shows why an answer was refused and can be answered again', () => {
    const ui = drive(VIEWS.choice);
    ui.press('enter');
    ui.reject('too late');
    expect(ui.state().question).toMatchObject({ sending: false, problem: { text: 'too late' } });
    ui.press('enter');
    expect(ui.answers()).toHaveLength(2);
  });

  it('starts again from the beginning when the same question comes again', () => {
    const ui = drive(VIEWS.choice);
    ui.press('down', 'enter', 'x', 'enter');
    ui.answered();
    expect(ui.state().question).toMatchObject({ row: 0, text: '', sending: false });
  });
});

describe('type-ahead', () => {
  it.each([
    ['a choice', VIEWS.choice],
    ['a typed name', asking(TYPED_NAME)],
    ['a secret', asking(SECRET)],
    ['an outcome', VIEWS.outcome],
  ])('before %s was visible is ignored', (_, view) => {
    const ui = drive(view);
    ui.at(QUIET_MS - 1);
    const before = ui.shown();
    ui.press('o', 'y', 'x', 'enter');
    expect(ui.shown()).toEqual(before);
    expect(ui.effects).toEqual([]);
  });

  it('is ignored again when another question replaces the first', () => {
    const ui = drive(VIEWS.choice);
    ui.at(10_000);
    ui.show(asking({ ...CHOICE, prompt: 'And now delete it?' }));
    ui.press('enter');
    expect(ui.answers()).toEqual([]);
    ui.at(10_000 + QUIET_MS);
    ui.press('enter');
    expect(ui.answers()).toHaveLength(1);
  });

  it('restarts the wait with each key, and ends with it', () => {
    const ui = drive(VIEWS.choice);
    for (const at of [399, 798, 1197, 1596]) {
      ui.at(at);
      ui.press('enter');
      expect(ui.answers()).toEqual([]);
    }
    ui.at(1596 + QUIET_MS);
    ui.press('enter');
    expect(ui.answers()).toHaveLength(1);
  });

  it('does not delay keys that only look at something', () => {
    const ui = drive(VIEWS.choice);
    ui.at(1);
    ui.press('tab');
    expect(ui.state().scroll).toBe(5);
    ui.press('l');
    expect(ui.state().overlay).toBe('log');
    ui.press('escape');
    ui.press('?');
    expect(modeOf(ui.state())).toBe('help');
    ui.press('?', 's');
    expect(modeOf(ui.state())).toBe('fallback');
  });

  it('does not delay Ctrl-C, which works at once', () => {
    const ui = drive(VIEWS.choice);
    ui.at(1);
    ui.press('ctrl+c');
    expect(modeOf(ui.state())).toBe('leave');
  });

  it('is not restarted by a view with the same question', () => {
    const ui = drive(VIEWS.choice);
    ui.at(10_000);
    ui.show({ ...VIEWS.choice, clock: 'later' });
    ui.press('enter');
    expect(ui.answers()).toHaveLength(1);
  });
});

describe('a typed name', () => {
  it('is never confirmed by Enter alone', () => {
    const ui = drive(asking(TYPED_NAME));
    ui.press('enter', 'enter', 'enter');
    expect(ui.effects).toEqual([]);
  });

  it.each(['orders', 'orders-dr ', ' orders-dr', 'Orders-dr', 'orders-dr2'])(
    'is not confirmed by %j',
    (text) => {
      const ui = drive(asking(TYPED_NAME));
      ui.press(...text, 'enter');
      expect(ui.effects).toEqual([]);
      expect(ui.state().question?.problem).toBeDefined();
    },
  );

  it.each([
    ['orders-dr ', 'that is not the name: there is a space after it'],
    [' orders-dr', 'that is not the name: there is a space before it'],
    [' orders-dr ', 'that is not the name: there are spaces around it'],
    ['Orders-dr', 'that is not the name: small and capital letters differ'],
    ['orders-dr2', 'that is not the name: nothing happens'],
  ])('says of %j what is hard to see in it', (text, says) => {
    const ui = drive(asking(TYPED_NAME));
    ui.press(...text, 'enter');
    expect(ui.state().question?.problem?.text).toBe(says);
  });

  it('is confirmed by the exact name', () => {
    const ui = drive(asking(TYPED_NAME));
    ui.press(...'orders-drr', 'backspace', 'enter');
    expect(ui.answers()).toEqual([{ event: 'CONFIRM', typed: 'orders-dr' }]);
  });

  it('is not confirmed by pasting the name with a line break', () => {
    const ui = drive(asking(TYPED_NAME));
    ui.type('orders-dr\n');
    expect(ui.effects).toEqual([]);
    expect(ui.state().question?.text).toBe('orders-dr');
    ui.press('enter');
    expect(ui.answers()).toHaveLength(1);
  });

  it('takes nothing from a paste of several lines', () => {
    const ui = drive(asking(TYPED_NAME));
    ui.type('orders-dr\nq\ny\n');
    expect(ui.state().question?.text).toBe('');
    expect(ui.effects).toEqual([]);
  });

  it('has other answers below the field', () => {
    const ui = drive(asking(TYPED_NAME));
    ui.press('down', 'down', 'enter');
    expect(ui.answers()).toEqual([{ event: 'STOP' }]);
  });

  it('treats command letters as text', () => {
    const ui = drive(asking(TYPED_NAME));
    ui.press('q', '?', 'l', 'j', 'r');
    expect(ui.state()).toMatchObject({ overlay: 'none', question: { text: 'q?ljr' } });
  });
});

describe('a secret', () => {
  const long = 'correct horse battery';

  it('is asked twice and compared', () => {
    const ui = drive(asking(SECRET));
    ui.press(...long, 'enter');
    expect(ui.answers()).toEqual([]);
    ui.press(...long, 'enter');
    const [answer] = ui.answers();
    expect(answer?.event).toBe('PASSPHRASE');
    expect(answer?.secret?.reveal()).toBe(long);
  });

  it('starts again when the entries differ', () => {
    const ui = drive(asking(SECRET));
    ui.press(...long, 'enter', ...'something else!', 'enter');
    expect(ui.answers()).toEqual([]);
    expect(ui.state().question).toMatchObject({
      text: '',
      problem: { text: 'the two entries differ: start again' },
    });
    expect(ui.state().question?.first).toBeUndefined();
  });

  it('says how long it must be and takes nothing shorter', () => {
    const ui = drive(asking({ ...SECRET, twice: false }));
    ui.press(...'short', 'enter');
    expect(ui.answers()).toEqual([]);
    expect(ui.state().question?.problem?.text).toBe('too short: at least 12 characters are needed');
  });

  it('can be pasted', () => {
    const ui = drive(asking({ ...SECRET, twice: false }));
    ui.type(`${long}\r\n`);
    ui.press('enter');
    expect(ui.answers()[0]?.secret?.reveal()).toBe(long);
  });

  it('is removed from the state with the answer', () => {
    const ui = drive(asking(SECRET));
    ui.press(...long, 'enter', ...long, 'enter');
    expect(JSON.stringify(ui.state())).not.toContain(long);
  });

  it('is forgotten when it is refused', () => {
    const ui = drive(asking({ ...SECRET, twice: false }));
    ui.press(...long, 'enter');
    ui.reject('not the passphrase of this file');
    expect(ui.state().question).toMatchObject({ text: '', sending: false });
  });
});

describe('Escape', () => {
  it.each([
    ['watching', VIEWS.task, [], 'leave'],
    ['a choice', VIEWS.choice, [], 'leave'],
    ['an empty field', asking(TYPED_NAME), [], 'leave'],
    ['the help', VIEWS.choice, ['?'], 'choice'],
    ['the leave dialogue', VIEWS.choice, ['q'], 'choice'],
    ['the field of a reason', VIEWS.choice, ['down', 'enter', 'x'], 'choice'],
  ] as const)('leads out of %s', (_, view, before, after) => {
    const ui = drive(view);
    ui.press(...before, 'escape');
    expect(modeOf(ui.state())).toBe(after);
    expect(ui.effects).toEqual([]);
  });

  it('empties a field first, and forgets the first entry of a secret', () => {
    const ui = drive(asking(SECRET));
    ui.press(...'correct horse battery', 'enter', 'x', 'escape');
    expect(modeOf(ui.state())).toBe('input');
    expect(ui.state().question).toMatchObject({ text: '' });
    expect(ui.state().question?.first).toBeUndefined();
  });

  it('closes a run that is over', () => {
    const ui = drive(VIEWS.outcome);
    ui.press('escape');
    expect(ui.effects).toEqual([{ type: 'close' }]);
  });
});

describe('a key that is held down', () => {
  const RATES = [30, 100].flatMap((every) => [250, 500, 660].map((delay) => ({ delay, every, ms: 5_000 })));

  it.each(RATES)('answers one question and not the next, whatever the keyboard (%o)', (rate) => {
    const ui = drive(VIEWS.choice);
    ui.at(1_000);
    let answered = 0;
    // Every answer leads to the next question, a moment later.
    ui.hold('enter', rate, () => {
      if (ui.answers().length === answered) return;
      answered = ui.answers().length;
      ui.later(20);
      ui.show(asking({ ...CHOICE, prompt: `Question ${answered}?` }));
      ui.answered();
    });
    expect(ui.answers()).toHaveLength(1);
    ui.later(QUIET_MS);
    ui.press('enter');
    expect(ui.answers()).toHaveLength(2);
  });

  it.each(RATES)('answers one question however late it is read (%o)', (rate) => {
    for (let from = 0; from < 1_500; from += 35) {
      for (const ms of [30, 60, 120, 250, 450, 750, 1_500]) {
        const ui = drive(VIEWS.choice);
        let answered = 0;
        for (const late of readsOf(rate, { from: 1_000 + from, until: 1_000 + from + ms })) {
          ui.readLate('enter', late);
          if (ui.answers().length === answered) continue;
          answered = ui.answers().length;
          ui.show(asking({ ...CHOICE, prompt: `Question ${answered}?` }));
          ui.answered();
        }
        // The press itself may be read together with its repeats, and then answers nothing.
        const fewest = from === 0 && ms >= rate.delay ? 0 : 1;
        expect([fewest, 1], `held up for ${ms} ms at ${from} ms`).toContain(answered);
      }
    }
  });

  it('is recognized in one chunk of input that was delayed on the way to the process', () => {
    const ui = drive(VIEWS.choice);
    ui.at(1_000);
    ui.press('enter');
    ui.show(asking({ ...CHOICE, prompt: 'And now?' }));
    ui.answered();
    for (const [until, times] of [
      [3_000, 20],
      [3_033, 1],
    ] as const)
      ui.readLate('enter', { since: until, until, times });
    expect(ui.answers()).toHaveLength(1);
  });

  it.each(RATES)('does not answer a question that appears while it is held down (%o)', (rate) => {
    for (let after = 0; after < 1_000; after += 70) {
      const ui = drive(VIEWS.task);
      ui.at(1_000);
      let left = after;
      ui.hold('enter', rate, () => {
        left -= rate.every;
        if (left <= 0) ui.show(VIEWS.choice);
      });
      expect(ui.answers()).toEqual([]);
    }
  });

  it.each([
    ['help', '?'],
    ['the leave dialogue', 'q'],
  ] as const)('closes %s and answers nothing below it', (_, opens) => {
    const ui = drive(VIEWS.choice);
    ui.press(opens);
    ui.later();
    ui.hold('enter', { delay: 500, every: 30, ms: 5_000 });
    expect(ui.effects).toEqual([]);
    expect(modeOf(ui.state())).toBe('choice');
  });

  it('opens a follow-up, but chooses no way to close it', () => {
    const ui = drive(VIEWS.openFollowUps);
    ui.later();
    ui.hold('enter', { delay: 500, every: 30, ms: 5_000 });
    expect(ui.effects).toEqual([]);
    expect(ui.state().question?.opened).toBeDefined();
  });

  it('closes no outcome', () => {
    const ui = drive(VIEWS.task);
    ui.hold('enter', { delay: 500, every: 30, ms: 2_000 });
    ui.show(VIEWS.outcome);
    ui.hold('enter', { delay: 30, every: 30, ms: 2_000 });
    expect(ui.effects).toEqual([]);
  });

  it('only leaves, if it is Ctrl-C', () => {
    const ui = drive(VIEWS.choice);
    ui.hold('ctrl+c', { delay: 500, every: 30, ms: 2_000 });
    expect(new Set(ui.effects.map(({ type }) => type))).toEqual(new Set(['leave']));
  });

  it('is told apart from the same key pressed again later than any keyboard repeats', () => {
    const ui = drive(VIEWS.choice);
    ui.at(1_000);
    ui.press('enter');
    ui.show(asking({ ...CHOICE, prompt: 'And now?' }));
    ui.at(1_000 + FIRST_REPEAT_MS);
    ui.press('enter');
    expect(ui.answers()).toHaveLength(2);
  });
});

/**
 * How a key that is held down from 1,000 on is read by a process that is held up for a while: what came in
 * between is read at the end of it, in one piece.
 */
function readsOf(
  { delay, every, ms }: { readonly delay: number; readonly every: number; readonly ms: number },
  stall: { readonly from: number; readonly until: number },
) {
  const presses: number[] = [];
  for (let at = 1_000, wait = delay; at < 1_000 + ms; at += wait, wait = every) presses.push(at);
  const waited = presses.filter((at) => at >= stall.from && at < stall.until).length;
  const reads = presses
    .filter((at) => at < stall.from || at >= stall.until)
    .map((at) => ({ since: at, until: at, times: 1 }));
  const late = waited === 0 ? [] : [{ since: stall.from, until: stall.until, times: waited }];
  return [...late, ...reads].sort((one, other) => one.until - other.until);
}
