import { describe, expect, it } from 'vitest';
import { type Intent, intentOf } from '../../src/tui/keymap.ts';
import type { Effect, UiState } from '../../src/tui/screen-state.ts';
import { firstState, modeOf, SETTLE_MS, update } from '../../src/tui/ui-state.ts';
import type { QuestionView, RunView } from '../../src/view/run-view.ts';
import { CHOICE, SECRET, TYPED_NAME, VIEWS } from './fake-views.ts';

const PAGE = { height: 5, last: 20 };

/** Presses keys as the keyboard would, long after the question appeared. */
function driver(view: RunView, startAt = 0) {
  let state = firstState(view, startAt);
  const effects: Effect[] = [];
  let now = startAt + SETTLE_MS;
  const take = ([next, effect]: readonly [UiState, Effect?]) => {
    state = next;
    if (effect !== undefined) effects.push(effect);
  };
  const press = (...keys: string[]) => {
    for (const key of keys) {
      const intent: Intent | undefined = intentOf(modeOf(state), key);
      if (intent !== undefined) take(update(state, { type: 'intent', intent, page: PAGE, now }));
      else if (key.length === 1) type(key);
    }
  };
  const type = (text: string) => take(update(state, { type: 'text', text, now }));
  return {
    press,
    type,
    at: (time: number) => {
      now = time;
    },
    show: (next: RunView) => take(update(state, { type: 'view', view: next, now })),
    reject: (text: string) => take(update(state, { type: 'rejected', text, hints: [], now })),
    answered: () => take(update(state, { type: 'answered', now })),
    state: () => state,
    effects,
    answers: () => effects.flatMap((effect) => (effect.type === 'answer' ? [effect.answer] : [])),
  };
}

const asking = (question: QuestionView): RunView => ({ ...VIEWS.choice, question });

describe('a choice', () => {
  it('starts on the recommended answer and takes it with Enter', () => {
    const ui = driver(VIEWS.choice);
    ui.press('enter');
    expect(ui.answers()).toEqual([{ event: 'SET' }]);
  });

  it('never starts on a recommended answer that is disabled', () => {
    const options = CHOICE.options.map((option, at) =>
      at === 0 ? { ...option, disabled: 'not yet' } : option,
    );
    const ui = driver(asking({ ...CHOICE, options }));
    expect(ui.state().question?.row).toBe(1);
  });

  it('moves with arrows and with j and k, and stops at the ends', () => {
    const ui = driver(VIEWS.choice);
    ui.press('k', 'up', 'j', 'down', 'down', 'j', 'j');
    expect(ui.state().question?.row).toBe(3);
    ui.press('k');
    expect(ui.state().question?.row).toBe(2);
  });

  it('does not take a disabled answer and repeats why', () => {
    const ui = driver(VIEWS.choice);
    ui.press('down', 'down', 'enter');
    expect(ui.answers()).toEqual([]);
    expect(ui.state().question?.problem?.text).toContain('the service says that its key has not changed');
  });

  it('asks for the reason an answer needs, and takes no empty one', () => {
    const ui = driver(VIEWS.choice);
    ui.press('down', 'enter');
    expect(modeOf(ui.state())).toBe('input');
    ui.press('enter', ' ', ' ', 'enter');
    expect(ui.answers()).toEqual([]);
    ui.press(...'key is fine', 'enter');
    expect(ui.answers()).toEqual([{ event: 'SKIP', text: 'key is fine' }]);
  });

  it('gives one answer, however often Enter is pressed', () => {
    const ui = driver(VIEWS.choice);
    ui.press('enter', 'enter', 'enter');
    expect(ui.answers()).toHaveLength(1);
  });

  it('shows why an answer was refused and can be answered again', () => {
    const ui = driver(VIEWS.choice);
    ui.press('enter');
    ui.reject('too late');
    expect(ui.state().question).toMatchObject({ sending: false, problem: { text: 'too late' } });
    ui.press('enter');
    expect(ui.answers()).toHaveLength(2);
  });

  it('asks afresh when the same question comes again', () => {
    const ui = driver(VIEWS.choice);
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
  ])('before %s could be read is ignored', (_, view) => {
    const ui = driver(view);
    ui.at(SETTLE_MS - 1);
    const before = ui.state();
    ui.press('down', 'x', 'enter');
    expect(ui.state()).toEqual(before);
    expect(ui.effects).toEqual([]);
  });

  it('is ignored again when another question takes the place of the first', () => {
    const ui = driver(VIEWS.choice);
    ui.at(10_000);
    ui.show(asking({ ...CHOICE, prompt: 'And now delete it?' }));
    ui.press('enter');
    expect(ui.answers()).toEqual([]);
    ui.at(10_000 + SETTLE_MS);
    ui.press('enter');
    expect(ui.answers()).toHaveLength(1);
  });

  it('does not trap the operator: Ctrl-C works at once', () => {
    const ui = driver(VIEWS.choice);
    ui.at(1);
    ui.press('ctrl+c');
    expect(modeOf(ui.state())).toBe('leave');
  });

  it('is not restarted by a view that asks the same', () => {
    const ui = driver(VIEWS.choice);
    ui.at(10_000);
    ui.show({ ...VIEWS.choice, clock: 'later' });
    ui.press('enter');
    expect(ui.answers()).toHaveLength(1);
  });
});

describe('a typed name', () => {
  it('is never confirmed by Enter alone', () => {
    const ui = driver(asking(TYPED_NAME));
    ui.press('enter', 'enter', 'enter');
    expect(ui.effects).toEqual([]);
  });

  it.each(['orders', 'orders-dr ', ' orders-dr', 'Orders-dr', 'orders-dr2'])(
    'is not confirmed by %j',
    (text) => {
      const ui = driver(asking(TYPED_NAME));
      ui.press(...text, 'enter');
      expect(ui.effects).toEqual([]);
      expect(ui.state().question?.problem).toBeDefined();
    },
  );

  it('is confirmed by the exact name', () => {
    const ui = driver(asking(TYPED_NAME));
    ui.press(...'orders-drr', 'backspace', 'enter');
    expect(ui.answers()).toEqual([{ event: 'CONFIRM', typed: 'orders-dr' }]);
  });

  it('is not confirmed by pasting the name with a line break', () => {
    const ui = driver(asking(TYPED_NAME));
    ui.type('orders-dr\n');
    expect(ui.effects).toEqual([]);
    expect(ui.state().question?.text).toBe('orders-dr');
    ui.press('enter');
    expect(ui.answers()).toHaveLength(1);
  });

  it('takes nothing from a paste of several lines', () => {
    const ui = driver(asking(TYPED_NAME));
    ui.type('orders-dr\nq\ny\n');
    expect(ui.state().question?.text).toBe('');
    expect(ui.effects).toEqual([]);
  });

  it('has other answers below the field', () => {
    const ui = driver(asking(TYPED_NAME));
    ui.press('down', 'down', 'enter');
    expect(ui.answers()).toEqual([{ event: 'STOP' }]);
  });

  it('types letters that are commands elsewhere', () => {
    const ui = driver(asking(TYPED_NAME));
    ui.press('q', '?', 'l', 'j', 'r');
    expect(ui.state()).toMatchObject({ overlay: 'none', logGrown: false, question: { text: 'q?ljr' } });
  });
});

describe('a secret', () => {
  const long = 'correct horse battery';

  it('is asked twice and compared', () => {
    const ui = driver(asking(SECRET));
    ui.press(...long, 'enter');
    expect(ui.answers()).toEqual([]);
    ui.press(...long, 'enter');
    const [answer] = ui.answers();
    expect(answer?.event).toBe('PASSPHRASE');
    expect(answer?.secret?.reveal()).toBe(long);
  });

  it('starts again when the entries differ', () => {
    const ui = driver(asking(SECRET));
    ui.press(...long, 'enter', ...'something else!', 'enter');
    expect(ui.answers()).toEqual([]);
    expect(ui.state().question).toMatchObject({
      text: '',
      problem: { text: 'the two entries differ: start again' },
    });
    expect(ui.state().question?.first).toBeUndefined();
  });

  it('says how long it has to be and takes nothing shorter', () => {
    const ui = driver(asking({ ...SECRET, twice: false }));
    ui.press(...'short', 'enter');
    expect(ui.answers()).toEqual([]);
    expect(ui.state().question?.problem?.text).toBe('too short: at least 12 characters are needed');
  });

  it('can be pasted', () => {
    const ui = driver(asking({ ...SECRET, twice: false }));
    ui.type(`${long}\r\n`);
    ui.press('enter');
    expect(ui.answers()[0]?.secret?.reveal()).toBe(long);
  });

  it('leaves the state with the answer', () => {
    const ui = driver(asking(SECRET));
    ui.press(...long, 'enter', ...long, 'enter');
    expect(JSON.stringify(ui.state())).not.toContain(long);
  });

  it('is forgotten when it is refused', () => {
    const ui = driver(asking({ ...SECRET, twice: false }));
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
    const ui = driver(view);
    ui.press(...before, 'escape');
    expect(modeOf(ui.state())).toBe(after);
    expect(ui.effects).toEqual([]);
  });

  it('empties a field first, and forgets the first entry of a secret', () => {
    const ui = driver(asking(SECRET));
    ui.press(...'correct horse battery', 'enter', 'x', 'escape');
    expect(modeOf(ui.state())).toBe('input');
    expect(ui.state().question).toMatchObject({ text: '' });
    expect(ui.state().question?.first).toBeUndefined();
  });

  it('closes a run that is over', () => {
    const ui = driver(VIEWS.outcome);
    ui.press('escape');
    expect(ui.effects).toEqual([{ type: 'close' }]);
  });
});

describe('leaving', () => {
  it('asks first, and Enter alone stays', () => {
    const ui = driver(VIEWS.choice);
    ui.press('q', 'enter');
    expect(ui.effects).toEqual([]);
    expect(modeOf(ui.state())).toBe('choice');
  });

  it('leaves when it is chosen', () => {
    const ui = driver(VIEWS.choice);
    ui.press('q', 'down', 'enter');
    expect(ui.effects).toEqual([{ type: 'leave' }]);
  });

  it.each([
    ['watching', VIEWS.task],
    ['a choice', VIEWS.choice],
    ['a field', asking(SECRET)],
  ])('takes two Ctrl-C from %s', (_, view) => {
    const ui = driver(view);
    ui.press('ctrl+c');
    expect(ui.effects).toEqual([]);
    ui.press('ctrl+c');
    expect(ui.effects).toEqual([{ type: 'leave' }]);
  });

  it('works while an answer is on its way', () => {
    const ui = driver(VIEWS.choice);
    ui.press('enter', 'q', 'down', 'enter');
    expect(ui.effects.map(({ type }) => type)).toEqual(['answer', 'leave']);
  });
});

describe('the rest of the keyboard', () => {
  it('wakes a paused run', () => {
    const ui = driver(VIEWS.paused);
    ui.press('r');
    expect(ui.effects).toEqual([{ type: 'wake' }]);
  });

  it('ignores several characters at once unless a field is open', () => {
    const ui = driver(VIEWS.choice);
    const before = ui.state();
    ui.type('q');
    ui.type('y\r');
    ui.type('\r\r\r');
    expect(ui.state()).toEqual(before);
  });

  it('turns the pages of the text and begins again after the last', () => {
    const ui = driver(VIEWS.choice);
    ui.press('tab', 'tab', 'tab', 'tab');
    expect(ui.state().scroll).toBe(20);
    ui.press('tab');
    expect(ui.state().scroll).toBe(0);
    ui.press('tab', 'pageup', 'pageup');
    expect(ui.state().scroll).toBe(0);
  });

  it('shows a new text from its beginning', () => {
    const ui = driver(VIEWS.choice);
    ui.press('tab');
    ui.show({ ...VIEWS.choice, prose: { title: 'another', markdown: '' } });
    expect(ui.state().scroll).toBe(0);
  });
});
