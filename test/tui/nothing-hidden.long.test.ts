import { describe, expect, it } from 'vitest';
import { textOf } from '../../src/tui/line.ts';
import { bannerLines, layOut } from '../../src/tui/screens/run/layout.ts';
import { saidLines } from '../../src/tui/screens/run/parts/question.ts';
import type { UiState } from '../../src/tui/screens/run/screen-state.ts';
import { firstState } from '../../src/tui/screens/run/ui-state.ts';
import type { RunView } from '../../src/view/run-view.ts';
import { drive } from './drive.ts';
import { FOLLOW_UPS, OBJECTIVES, OPEN_FOLLOW_UPS } from './fake-recovery.ts';
import { CHOICE, TYPED_NAME, VIEWS, type ViewName } from './fake-views.ts';
import { look, textIn } from './shown.ts';

function screenOf(state: UiState, columns = 80, rows = 24) {
  const layout = layOut(state, { columns, rows }, look);
  return { text: textIn(layout), page: layout.page };
}

/** All that the screen shows while a person presses Tab from the beginning to the end. */
function paged(view: RunView, columns = 80, rows = 24): string {
  return pagedFrom(firstState(view, 0), columns, rows);
}

function pagedFrom(first: UiState, columns: number, rows: number): string {
  let state = first;
  const seen: string[] = [];
  for (;;) {
    const { text, page } = screenOf(state, columns, rows);
    seen.push(text);
    if (state.scroll >= page.last) return seen.join('\n');
    state = { ...state, scroll: Math.min(page.last, state.scroll + page.height) };
  }
}

const FACTS = Array.from({ length: 20 }, (_, at) => ({
  label: `fact ${at}`,
  value: `value-${at}`,
  tone: 'plain' as const,
}));

describe('what does not fit', () => {
  it.each([
    [40, 12],
    [80, 24],
    [100, 30],
  ])('of the facts is counted, and shown at the end of the text, at %i x %i', (columns, rows) => {
    const view: RunView = { ...VIEWS.choice, facts: FACTS };
    expect(screenOf(firstState(view, 0), columns, rows).text).toMatch(/more facts|more rows/u);
    for (const { value } of FACTS) expect(paged(view, columns, rows)).toContain(value);
  });

  it('of an outcome is reached by Tab, and the essential part comes first', () => {
    const remarks = Array.from({ length: 12 }, (_, at) => ({
      tone: 'warn' as const,
      text: `skipped: key ${at}`,
    }));
    const followUps = Array.from({ length: 30 }, (_, at) => ({
      ...(OPEN_FOLLOW_UPS[0] as (typeof OPEN_FOLLOW_UPS)[number]),
      id: `rebind-${at}`,
      subject: `app-${at}`,
    }));
    const view: RunView = {
      ...VIEWS.outcome,
      followUps,
      objectives: OBJECTIVES,
      outcome: {
        ...VIEWS.outcome.outcome,
        title: 'orders is restored',
        remarks,
        groups: [{ title: 'what was done', facts: FACTS }],
      },
    };
    expect(screenOf(firstState(view, 0)).text).toMatch(/orders is restored\n\s+! skipped: key 0/u);
    const shown = paged(view);
    const said = [...remarks.map(({ text }) => text), ...FACTS.map(({ value }) => value)];
    for (const text of [...said, ...followUps.map(({ subject }) => subject)]) expect(shown).toContain(text);
  });

  it('of the answers is counted above and below the cursor', () => {
    const options = Array.from({ length: 30 }, (_, at) => ({
      event: `TAKE:${at}`,
      label: `backup ${at}`,
      recommended: false,
    }));
    const ui = drive({ ...VIEWS.choice, question: { kind: 'choice', prompt: 'which?', options } });
    expect(screenOf(ui.state()).text).toMatch(/\(\d+ more below\)/u);
    ui.press(...Array.from({ length: 15 }, () => 'down'));
    const { text } = screenOf(ui.state());
    expect(text).toMatch(/\(\d+ more above\)/u);
    expect(text).toMatch(/\(\d+ more below\)/u);
    expect(text).toContain('❯ backup 15');
    const shown = text.match(/backup \d+$/gmu)?.length ?? 0;
    const hidden = [...text.matchAll(/\((\d+) more/gu)].reduce((sum, [, count]) => sum + Number(count), 0);
    expect(shown + hidden).toBe(30);
  });

  it('beside a field does not hide the prompt, however long: the prompt then stands above the field', () => {
    const prompt = 'why is it gone on without a backup of the present state, and who has agreed?';
    const options = CHOICE.options.map((option) =>
      option.needs === undefined ? option : { ...option, needs: { what: 'reason' as const, prompt } },
    );
    const ui = drive({ ...VIEWS.choice, question: { ...CHOICE, options } });
    ui.press('down', 'enter', ...'nobody');
    const { text } = screenOf(ui.state());
    expect(text.replace(/\s+/gu, ' ')).toContain(prompt);
    expect(text).toMatch(/^\s+nobody/mu);
  });

  it('in a row of a follow-up is never what must be done', () => {
    const { text } = screenOf(firstState(VIEWS.openFollowUps, 0));
    for (const { what } of OPEN_FOLLOW_UPS) expect(text).toContain(what);
  });

  it('of a confirmation makes it wait for a window in which its stakes can be read', () => {
    const ui = drive({ ...VIEWS.typedName, objectives: OBJECTIVES });
    ui.press(...'orders', 'enter');
    const { text } = screenOf(ui.state(), 40, 12);
    expect(text.replace(/\s+/gu, ' ')).toMatch(/enlarge this window to at least \d+ x \d+/u);
    expect(text).not.toContain('❯ orders');
  });

  it.each([
    [60, 20],
    [60, 16],
  ])('of a confirmation is never the name that has to be typed, at %i x %i', (columns, rows) => {
    const ui = drive({ ...VIEWS.typedName, objectives: OBJECTIVES });
    ui.press(...'orders', 'enter');
    const { text } = screenOf(ui.state(), columns, rows);
    expect(text).toMatch(/type orders-dr and then\s+Enter/u);
    expect(text).toContain('❯ orders');
  });

  it.each([
    [40, 20],
    [80, 24],
    [160, 50],
  ])('of a row of the log is shown in full when the whole log is open, at %i x %i', (columns, rows) => {
    const text = `sending createBackup: ${'(intent proof-1 is on disk) '.repeat(4)}end`;
    const log = [{ at: '00:00:00', text, tone: 'plain' as const }];
    const state = { ...firstState({ ...VIEWS.task, log }, 0), overlay: 'log' as const };
    // A pane may stand to the left of it.
    expect(screenOf(state, columns, rows).text.replace(/\s+/gu, ' ')).toContain(text);
  });

  it.each([
    [40, 12],
    [40, 20],
  ])('of an announcement is shown at the end of the text, at %i x %i', (columns, rows) => {
    const hints = [
      'the dashboard may show what holds it up',
      'waiting again sends nothing at all, and it ends',
    ];
    const text = 'waiting for the backup of the instance for more than 4 min: the last took 1.3 s';
    const view: RunView = { ...VIEWS.paused, banner: { tone: 'warn', text, hints } };
    const seen = paged(view, columns, rows);
    for (const row of bannerLines(view.banner, columns, look)) expect(seen).toContain(textOf(row));
  });

  it('of a question, its refusal and its hints is shown at the end of the text', () => {
    const hints = ['give them the file '.repeat(4), 'they sign it, and then it is here'];
    const prompt = `type the name ${'of the instance that is meant '.repeat(6)}to go on`;
    const view: RunView = { ...VIEWS.typedName, question: { ...TYPED_NAME, prompt } };
    const state = firstState(view, 0);
    if (state.question === undefined) throw new Error('nothing is asked');
    const refused = { ...state, question: { ...state.question, problem: { text: 'not yet', hints } } };
    const rows = pagedFrom(refused, 40, 20).split('\n');
    for (const line of saidLines(view.question ?? TYPED_NAME, refused.question, 40, look))
      expect(rows).toContain(textOf(line));
  });

  it('of the sentence of a step is not its time', () => {
    const activity = { title: 'waiting until the instance is available again', seconds: 3_725 };
    const { text } = screenOf(firstState({ ...VIEWS.task, activity }, 0), 40, 20);
    expect(text.replace(/\s+/gu, ' ')).toContain(`${activity.title} 1:02:05`);
  });

  it('names the runbook where a long title of the run has no room', () => {
    const view = { ...VIEWS.choice, title: 'a title that takes more than there is room for '.repeat(2) };
    expect(screenOf(firstState(view, 0)).text.split('\n')[0]).toContain('rotate-key');
  });
});

describe('the keys in the footer', () => {
  const footer = (state: UiState) => screenOf(state).text.split('\n').at(-1);

  it('do not offer to leave the field of a reason with the arrows, which is not possible', () => {
    const ui = drive(VIEWS.choice);
    ui.press('down', 'enter');
    const before = ui.shown();
    expect(footer(ui.state())).not.toContain('other answers');
    ui.press('down');
    expect(ui.shown()).toEqual(before);
  });

  it.each(Object.keys(VIEWS) as ViewName[])('always show the way out, in the view %s too', (name) => {
    const last = (state: UiState) => screenOf(state, 40, 12).text.split('\n').at(-1);
    expect(last(firstState(VIEWS[name], 0))).toMatch(/ (leave|back|close) /u);
    expect(last({ ...firstState(VIEWS[name], 0), overlay: 'leave' })).toContain('Esc stay');
  });

  it('say that Enter only reads the text typed for a point in time', () => {
    const ui = drive(VIEWS.time);
    ui.press(...'14:32');
    expect(footer(ui.state())).toContain('Enter read it');
    expect(footer(ui.state())).not.toContain('confirm');
  });
});

describe('commands on the screen', () => {
  const long = `cf bind-service orders-api orders-dr -c '{"role":  "readwrite"}' --binding-name a-name-that-was-there-before`;
  const open = OPEN_FOLLOW_UPS.map((one) => ({ ...one, commands: [long] }));

  it('are continued as a shell continues them, so that a copied row is never half a command', () => {
    const ui = drive({ ...VIEWS.openFollowUps, question: { ...FOLLOW_UPS, open } });
    ui.press('enter');
    expect(screenOf(ui.state(), 60, 24).text).toMatch(/^cf bind-service .*\\$/mu);
  });

  it('of the fallback script are continued too, and its comments stay comments', () => {
    const fallback = `# ${'a comment that is long '.repeat(6)}\n${long}\n`;
    const state: UiState = { ...firstState(VIEWS.choice, 0), overlay: 'fallback', fallback };
    const rows = screenOf(state, 60, 30).text.split('\n');
    const comment = rows.filter((row) => row.includes('comment'));
    expect(comment.length).toBeGreaterThan(2);
    for (const row of comment) expect(row).toMatch(/^#/u);
    expect(rows.find((row) => row.startsWith('cf bind-service'))).toMatch(/\\$/u);
  });
});
