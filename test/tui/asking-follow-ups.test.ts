import { describe, expect, it } from 'vitest';
import { textOf } from '../../src/tui/line.ts';
import { layOut } from '../../src/tui/screens/run/layout.ts';
import { followUpRow } from '../../src/tui/screens/run/parts/follow-ups.ts';
import type { FollowUpView, RunView } from '../../src/view/run-view.ts';
import { drive } from './drive.ts';
import { FOLLOW_UPS, OPEN_FOLLOW_UPS, TEXT } from './fake-recovery.ts';
import { VIEWS } from './fake-views.ts';
import { look, textIn } from './shown.ts';

const view = VIEWS.openFollowUps;

describe('follow-ups', () => {
  it('are opened by Enter, and the way without manual work is first', () => {
    const ui = drive(view);
    ui.press('enter');
    expect(ui.mode()).toBe('ways');
    expect(ui.answers()).toEqual([]);
    ui.press('enter');
    expect(ui.answers()).toEqual([{ event: 'operator.doNow', id: 'rebind-orders-api' }]);
  });

  it('shows every hint of a failure on its page, however little room is left above it', () => {
    const hints = [
      'ask the operator of the platform to free the name',
      'or bind it by hand without the name',
    ];
    const text = 'orders-report has its binding name taken by another binding that is not known here';
    const size = { columns: 80, rows: 24 };
    const banner = { tone: 'bad', text, hints: [...hints, 'the last way out of all'] } as const;
    const ui = drive({ ...view, banner });
    ui.press('enter');
    let seen = '';
    for (let scroll = 0; scroll < 60; scroll += 1)
      seen += textIn(layOut({ ...ui.state(), scroll }, size, look)).replaceAll(/\s+/gu, ' ');
    for (const hint of banner.hints) expect(seen).toContain(`hint: ${hint}`);
  });

  it('are closed by hand with a proof, and not with an empty one', () => {
    const ui = drive(view);
    ui.press('enter', 'down', 'enter', 'enter', ' ', 'enter');
    expect(ui.answers()).toEqual([]);
    ui.press(...'build 77 is up', 'enter');
    expect(ui.answers()).toEqual([
      { event: 'operator.reportDone', id: 'rebind-orders-api', text: 'build 77 is up' },
    ]);
  });

  it('is skipped with a reason', () => {
    const ui = drive(view);
    ui.press('down', 'down', 'enter', 'down', 'enter', ...'kept on purpose', 'enter');
    expect(ui.answers()).toEqual([{ event: 'operator.skip', id: 'retire-key', text: 'kept on purpose' }]);
  });

  it('offers to do from here only what can be done from here', () => {
    const ui = drive(view);
    ui.press('down', 'down', 'enter', 'enter');
    expect(ui.mode()).toBe('reason');
    expect(ui.answers()).toEqual([]);
  });

  it('has the answers for all of them below the list, without an id', () => {
    const ui = drive(view);
    ui.press('down', 'down', 'down', 'enter');
    expect(ui.answers()).toEqual([{ event: 'ALL' }]);
  });

  it('starts on the recommended answer where there is one', () => {
    const options = FOLLOW_UPS.options.map((option) => ({ ...option, recommended: true }));
    const ui = drive({ ...view, question: { ...FOLLOW_UPS, options } });
    ui.press('enter');
    expect(ui.answers()).toEqual([{ event: 'ALL' }]);
  });

  it('leads back by Escape one level at a time, to the row from which it was opened', () => {
    const ui = drive(view);
    ui.press('down', 'enter', 'down', 'enter', 'x');
    expect(ui.mode()).toBe('reason');
    ui.press('escape');
    expect(ui.mode()).toBe('ways');
    ui.press('escape');
    expect(ui.mode()).toBe('choice');
    expect(ui.state().question?.row).toBe(1);
    ui.press('escape');
    expect(ui.mode()).toBe('leave');
    expect(ui.effects).toEqual([]);
  });

  it('keeps the proof that is being typed while the ages continue', () => {
    const ui = drive(view);
    ui.press('enter', 'down', 'enter', 'x', 'y');
    const open = OPEN_FOLLOW_UPS.map((followUp) => ({
      ...followUp,
      age: (followUp.age ?? 0) + 1,
      left: (followUp.left ?? 0) - 1,
    }));
    ui.show({ ...view, question: { ...FOLLOW_UPS, open } });
    expect(ui.state().question).toMatchObject({ text: 'xy', opened: 'rebind-orders-api' });
  });

  it('give their commands to the clipboard by y: those under the cursor, or those of the open one', () => {
    const ui = drive(view);
    ui.press('y', 'enter', 'y');
    const text = OPEN_FOLLOW_UPS[0]?.commands.join('\n');
    const copied = { type: 'app', effect: { type: 'copy', text, what: '3 commands for orders-api' } };
    expect(ui.effects).toEqual([copied, copied]);
  });

  it('give nothing to the clipboard where there is no command, and y in a proof is a letter', () => {
    const ui = drive(view);
    ui.press('down', 'down', 'y', 'enter', 'enter', 'y');
    expect(ui.effects).toEqual([]);
    expect(ui.state().question?.text).toBe('y');
  });

  it.each([80, 100, 160])('say at %i columns what is to be done to what, by when and by whom', (width) => {
    const twins = ['unbind, bind and restage orders-api', 'create a backup of the new timeline'].map(
      (what) => ({
        ...(OPEN_FOLLOW_UPS[0] as FollowUpView),
        what,
        subject: 'orders-api',
      }),
    );
    const rows = twins.map((one) => textOf(followUpRow(one, false, twins, width, look)));
    expect(rows).toEqual([
      '  unbind, bind and restage orders-api              due in 12m  owner mira',
      '  orders-api: create a backup of the new timeline  due in 12m  owner mira',
    ]);
  });

  it('differ by their verbs also where a row has too little room', () => {
    const long = 'of the service key that the reporting application of the other region has been given';
    const twins = ['remove', 'recreate'].map((verb) => ({
      ...(OPEN_FOLLOW_UPS[0] as FollowUpView),
      what: `${verb} ${long}`,
      subject: long,
    }));
    const rows = twins.map((one) => textOf(followUpRow(one, false, twins, 60, look)));
    expect(new Set(rows).size).toBe(2);
    for (const row of rows) expect(row).toContain('due in 12m');
  });

  it('are asked about again from the list when one of them was closed', () => {
    const ui = drive(view);
    ui.press('enter');
    ui.show({ ...view, question: { ...FOLLOW_UPS, open: OPEN_FOLLOW_UPS.slice(1) } });
    ui.later();
    expect(ui.mode()).toBe('choice');
    ui.press('enter', 'enter');
    expect(ui.answers()).toEqual([{ event: 'operator.doNow', id: 'fresh-backup' }]);
  });
});

describe('a word', () => {
  it('is given without the blanks around it', () => {
    const ui = drive(VIEWS.text);
    ui.type(' 4a1f77e0 \n');
    ui.press('enter');
    expect(ui.answers()).toEqual([{ event: 'operator.guid', text: '4a1f77e0' }]);
  });

  it.each(['', '  ', '4a1f77e', '4a1f77e0f', 'x 4a1f77e0'])('is not given as %j', (text) => {
    const ui = drive(VIEWS.text);
    ui.type(text);
    ui.press('enter');
    expect(ui.answers()).toEqual([]);
    expect(ui.state().question?.problem).toBeDefined();
  });

  it('says what fits when it does not', () => {
    const ui = drive(VIEWS.text);
    ui.press('x', 'enter');
    expect(ui.state().question?.problem?.text).toBe(TEXT.pattern?.says);
  });
});

describe('the fallback script', () => {
  it.each([
    ['while something runs', VIEWS.task, 's'],
    ['at a choice', VIEWS.choice, 's'],
    ['in a field', VIEWS.typedName, 'ctrl+s'],
    ['at a secret', VIEWS.secret, 'ctrl+s'],
    ['at the picker', VIEWS.time, 'ctrl+s'],
    ['at the list of follow-ups', VIEWS.openFollowUps, 's'],
    ['when the run is paused', VIEWS.paused, 's'],
    ['when the run is over', VIEWS.outcome, 's'],
  ] as const satisfies readonly (readonly [string, RunView, string])[])(
    'opens %s, and Escape leads back',
    (_, from, key) => {
      const ui = drive(from);
      const before = ui.mode();
      ui.press(key);
      expect(ui.effects).toEqual([{ type: 'fallback' }]);
      ui.fallback('#!/bin/sh');
      expect(ui.state()).toMatchObject({ overlay: 'fallback', fallback: '#!/bin/sh' });
      ui.press('escape');
      expect(ui.mode()).toBe(before);
      expect(ui.state().fallback).toBeUndefined();
    },
  );

  it('keeps what was typed in the field below it', () => {
    const ui = drive(VIEWS.text);
    ui.press('4', 'a', 'ctrl+s', 'x', 'escape');
    expect(ui.state().question?.text).toBe('4a');
  });

  it('keeps its position while the run continues, and its keys do not answer a question that comes up below it', () => {
    const ui = drive(VIEWS.task);
    ui.press('s', 'tab', 'down');
    expect(ui.state().scroll).toBe(6);
    ui.show({ ...VIEWS.choice, prose: { title: 'another', markdown: '' } });
    expect(ui.state().scroll).toBe(6);
    ui.press('enter');
    ui.at(100_000);
    ui.press('escape', 'enter');
    expect(ui.answers()).toEqual([]);
    ui.later();
    ui.press('enter');
    expect(ui.answers()).toHaveLength(1);
  });

  it('is not shown when it arrives after it was closed', () => {
    const ui = drive(VIEWS.task);
    ui.press('s', 'escape');
    ui.fallback('late');
    expect(ui.state().fallback).toBeUndefined();
  });
});
