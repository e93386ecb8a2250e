import { describe, expect, it } from 'vitest';
import { modeOf } from '../../src/tui/screens/run/ui-state.ts';
import type { QuestionView, RunView } from '../../src/view/run-view.ts';
import { drive } from './drive.ts';
import { LOST, RUN_ID, SECRET, VIEWS } from './fake-views.ts';

const asking = (question: QuestionView): RunView => ({ ...VIEWS.choice, question });

describe('the key for the suggested way on from a failure', () => {
  const start = {
    type: 'open',
    screen: { name: 'start', situation: 'region-gone', instance: 'orders', target: 'orders-dr' },
  } as const;

  it('asks first, and Enter alone stays', () => {
    const ui = drive(VIEWS.lost);
    ui.press('w', 'enter');
    expect(ui.effects).toEqual([]);
    expect(modeOf(ui.state())).toBe('choice');
  });

  it('stops the run when that is chosen, and leads on to the suggested page', () => {
    const ui = drive(VIEWS.lost);
    ui.press('w', 'down', 'enter');
    const answer = { event: 'operator.stop', text: 'stopped to go on with another run on orders' };
    expect(ui.effects).toEqual([{ type: 'answer', answer, lead: start }]);
    ui.press('w', 'enter');
    expect(ui.effects).toHaveLength(1);
  });

  it('says why the run cannot be stopped, and what can be done', () => {
    const stop = {
      event: 'operator.stop',
      label: 'stop the run',
      recommended: false,
      disabled: 'it is sent',
    };
    const ui = drive(asking({ ...LOST, options: [...LOST.options.slice(0, 1), stop] }));
    ui.press('w');
    expect(ui.effects).toEqual([]);
    expect(ui.state().question?.problem?.text).toBe('not now: it is sent');
    expect(ui.state().question?.problem?.hints.join()).toContain(`lifeboat resume ${RUN_ID} --abandon`);
  });

  it('has a key entered beside the run, which continues', () => {
    const key = { when: 'enter it', command: 'x', leadsTo: { kind: 'add-key', instance: 'orders' } } as const;
    const ui = drive(asking({ ...LOST, trouble: { facts: [], commands: [key] } }));
    ui.press('w');
    expect(ui.effects).toEqual([{ type: 'app', effect: { type: 'add-key', instance: 'orders' } }]);
  });

  it('works in a run that was stopped there, without a question', () => {
    const ui = drive(VIEWS.stopped);
    ui.press('w');
    expect(ui.effects).toEqual([{ type: 'lead', effect: start }]);
  });

  it.each(['choice', 'outcome'] as const)('does nothing where there is no such way: %s', (name) => {
    const ui = drive(VIEWS[name]);
    ui.press('w');
    expect(ui.effects).toEqual([]);
    expect(ui.state().overlay).toBe('none');
  });
});

describe('leaving', () => {
  it('asks first, and Enter alone stays', () => {
    const ui = drive(VIEWS.choice);
    ui.press('q', 'enter');
    expect(ui.effects).toEqual([]);
    expect(modeOf(ui.state())).toBe('choice');
  });

  it('leaves when it is chosen', () => {
    const ui = drive(VIEWS.choice);
    ui.press('q', 'down', 'enter');
    expect(ui.effects).toEqual([{ type: 'leave' }]);
  });

  it.each([
    ['watching', VIEWS.task],
    ['a choice', VIEWS.choice],
    ['a field', asking(SECRET)],
  ])('takes two Ctrl-C from %s', (_, view) => {
    const ui = drive(view);
    ui.press('ctrl+c');
    expect(ui.effects).toEqual([]);
    ui.press('ctrl+c');
    expect(ui.effects).toEqual([{ type: 'leave' }]);
  });

  it.each([30, 100, 250, 450, 600])('takes two Ctrl-C that are %i ms apart', (apart) => {
    const ui = drive(VIEWS.choice);
    ui.at(1);
    ui.press('ctrl+c');
    ui.at(1 + apart);
    ui.press('ctrl+c');
    expect(ui.effects).toEqual([{ type: 'leave' }]);
  });

  it('closes with Ctrl-C a run that has just ended, however fast it is pressed', () => {
    const ui = drive(VIEWS.task);
    ui.at(1);
    ui.show(VIEWS.outcome);
    ui.press('ctrl+c');
    expect(ui.effects).toEqual([{ type: 'close' }]);
  });

  it('works while an answer is being sent', () => {
    const ui = drive(VIEWS.choice);
    ui.press('enter', 'q', 'down', 'enter');
    expect(ui.effects.map(({ type }) => type)).toEqual(['answer', 'leave']);
  });
});

describe('the rest of the keyboard', () => {
  it('wakes a paused run', () => {
    const ui = drive(VIEWS.paused);
    ui.press('r');
    expect(ui.effects).toEqual([{ type: 'wake' }]);
  });

  it('ignores several characters at once unless a field is open', () => {
    const ui = drive(VIEWS.choice);
    const before = ui.shown();
    ui.type('q');
    ui.type('y\r');
    ui.type('\r\r\r');
    expect(ui.shown()).toEqual(before);
  });

  it('pages through the text and begins again after the last page', () => {
    const ui = drive(VIEWS.choice);
    ui.press('tab', 'tab', 'tab', 'tab');
    expect(ui.state().scroll).toBe(20);
    ui.press('tab');
    expect(ui.state().scroll).toBe(0);
    ui.press('tab', 'pageup', 'pageup');
    expect(ui.state().scroll).toBe(0);
  });

  it('shows a new text from its beginning', () => {
    const ui = drive(VIEWS.choice);
    ui.press('tab');
    ui.show({ ...VIEWS.choice, prose: { title: 'another', markdown: '' } });
    expect(ui.state().scroll).toBe(0);
  });
});
