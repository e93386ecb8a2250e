import { describe, expect, it } from 'vitest';
import type { Layout } from '../../src/tui/bands.ts';
import { glyphsFor } from '../../src/tui/glyphs.ts';
import { lineWidth } from '../../src/tui/line.ts';
import { layOut } from '../../src/tui/screens/run/layout.ts';
import type { QuestionState, UiState } from '../../src/tui/screens/run/screen-state.ts';
import { firstState } from '../../src/tui/screens/run/ui-state.ts';
import type { Look } from '../../src/tui/span.ts';
import type { QuestionView, RunView } from '../../src/view/run-view.ts';
import { FOLLOW_UPS, OBJECTIVES, OPEN_FOLLOW_UPS, TEXT, TIME } from './fake-recovery.ts';
import { FALLBACK } from './fake-run.ts';
import { LOST, VIEWS, type ViewName } from './fake-views.ts';
import { textIn } from './shown.ts';

const SIZES = [
  [1, 1],
  [20, 5],
  [39, 11],
  [40, 12],
  [60, 20],
  [79, 24],
  [80, 24],
  [100, 30],
  [119, 16],
  [120, 40],
  [160, 50],
  [400, 100],
] as const;

const LOOKS: readonly Look[] = [
  { glyphs: glyphsFor({ LANG: 'C.UTF-8' }), colour: true },
  { glyphs: glyphsFor({ LANG: 'C' }), colour: false },
];

const STATES: Readonly<Record<string, (state: UiState) => UiState>> = {
  plain: (state) => state,
  scrolled: (state) => ({ ...state, scroll: 7 }),
  'with its whole log': (state) => ({ ...state, overlay: 'log', scroll: 1e9 }),
  'with a filtered log': (state) => ({
    ...state,
    overlay: 'log',
    isFiltering: true,
    filter: { text: 'entry '.repeat(30), cursor: 180 },
  }),
  'with a step to look at': (state) => ({ ...state, overlay: 'step', stepRow: 3 }),
  'with help': (state) => ({ ...state, overlay: 'help' }),
  'with the fallback script': (state) => ({ ...state, overlay: 'fallback', fallback: FALLBACK }),
  'with a fallback script that is not there yet': (state) => ({ ...state, overlay: 'fallback' }),
  'with a follow-up opened': (state) => withQuestion(state, { opened: 'rebind-orders-api' }),
  'with a moment being typed': (state) => withQuestion(state, { text: '10 minutes ago '.repeat(20) }),
  'about to leave': (state) => ({ ...state, overlay: 'leave', leaveRow: 1 }),
  'with a problem': (state) =>
    state.question === undefined
      ? state
      : {
          ...state,
          question: { ...state.question, problem: { text: 'no '.repeat(60), hints: ['do '.repeat(40)] } },
        },
};

function withQuestion(state: UiState, change: Partial<QuestionState>): UiState {
  return state.question === undefined ? state : { ...state, question: { ...state.question, ...change } };
}

/** Called hundreds of thousands of times: it asks for one expectation, and names all that does not fit. */
function expectFit(layout: Layout, columns: number, rows: number): void {
  const total = layout.bands.reduce((sum, { height }) => sum + height, 0);
  const misfits = total === rows ? [] : [`${total} rows instead of ${rows}`];
  for (const [at, { height, panes }] of layout.bands.entries()) {
    const wide = panes.reduce((sum, { width }) => sum + width, 0);
    if (!(wide <= columns)) misfits.push(`band ${at}: ${wide} columns of ${columns}`);
    for (const pane of panes) {
      if (pane.height !== height) misfits.push(`band ${at}: a pane of ${pane.height} rows in ${height}`);
      if (!(pane.lines.length <= height)) misfits.push(`band ${at}: ${pane.lines.length} lines in ${height}`);
      for (const line of pane.lines) {
        if (!(lineWidth(line) <= pane.width)) misfits.push(`band ${at}: ${lineWidth(line)} in ${pane.width}`);
      }
    }
  }
  expect(misfits).toEqual([]);
}

describe('the screen', () => {
  describe.each(SIZES)('at %i x %i', (columns, rows) => {
    it.each(Object.keys(VIEWS) as ViewName[])('holds the view %s in every state', (name) => {
      for (const change of Object.values(STATES)) {
        for (const look of LOOKS) {
          expectFit(layOut(change(firstState(VIEWS[name], 0)), { columns, rows }, look), columns, rows);
        }
      }
    });
  });

  it('holds texts of any length and width', () => {
    const long = '実行 '.repeat(400) + 'x'.repeat(3000);
    const view: RunView = {
      ...VIEWS.paused,
      instance: long,
      title: long,
      clock: long,
      rail: VIEWS.paused.rail.map((step) => ({ ...step, title: long, note: long })),
      prose: { title: long, markdown: `${long}\n\n- ${long}\n\n> ${long}\n\n\`\`\`\n${long}\n\`\`\`` },
      facts: [{ label: long, value: long, tone: 'bad' }],
      log: [{ at: '00:00:00', text: long, tone: 'plain' }],
      banner: { tone: 'bad', text: long, hints: [long, long] },
      activity: { title: long, seconds: 1e9, awaited: long, progress: { kind: 'task', status: long } },
      question: {
        kind: 'choice',
        prompt: long,
        options: [
          { event: 'A', label: long, hint: long, recommended: true, needs: { what: 'reason', prompt: long } },
        ],
      },
    };
    for (const [columns, rows] of SIZES) {
      for (const look of LOOKS)
        expectFit(layOut(firstState(view, 0), { columns, rows }, look), columns, rows);
    }
  });

  it('holds long texts in every part of the questions of a recovery, with any overlay', () => {
    const long = '実行 '.repeat(40) + 'x'.repeat(200);
    const option = { event: 'A', label: long, hint: long, recommended: false } as const;
    const common = { prompt: long, options: [option, { ...option, disabled: long }] };
    const open = OPEN_FOLLOW_UPS.map((one) => ({
      ...one,
      subject: long,
      what: long,
      owner: long,
      commands: [long],
    }));
    const questions: readonly QuestionView[] = [
      { ...TIME, ...common },
      { ...TEXT, ...common, pattern: { source: '.', says: long } },
      { ...FOLLOW_UPS, ...common, open },
    ];
    for (const question of questions) {
      const first = firstState(
        {
          ...VIEWS.paused,
          question,
          followUps: open,
          objectives: VIEWS.openFollowUps.objectives.map((one) => ({
            ...one,
            value: 1e9,
            limit: 1e9,
            detail: long,
          })),
        },
        0,
      );
      const opened = withQuestion(first, { opened: 'rebind-orders-api' });
      const fallback: UiState = { ...first, overlay: 'fallback', fallback: `${long}\n# ${long}` };
      for (const state of [first, opened, fallback]) {
        for (const [columns, rows] of SIZES) {
          for (const look of LOOKS) expectFit(layOut(state, { columns, rows }, look), columns, rows);
        }
      }
    }
  });

  const [look] = LOOKS as [Look];
  const screen = (name: ViewName, columns: number, rows: number) =>
    textIn(layOut(firstState(VIEWS[name], 0), { columns, rows }, look));

  it.each([
    [60, 20],
    [80, 24],
  ])('shows the whole question at %i x %i', (columns, rows) => {
    const text = screen('choice', columns, rows);
    for (const option of VIEWS.choice.question.options) expect(text).toContain(option.label);
    expect(text).toContain('Set the new key on orders now?');
    expect(text).toContain('the service says that its key has not changed');
    expect(screen('typedName', columns, rows)).toContain('to confirm, type orders-dr and then Enter');
  });

  it('keeps the answer under the cursor in sight when there are many', () => {
    const options = Array.from({ length: 40 }, (_, at) => ({
      event: `E${at}`,
      label: `restore backup ${at}`,
      recommended: at === 29,
    }));
    const view: RunView = { ...VIEWS.choice, question: { kind: 'choice', prompt: 'Which backup?', options } };
    const text = textIn(layOut(firstState(view, 0), { columns: 80, rows: 24 }, look));
    expect(text).toContain(`${look.glyphs.cursor} restore backup 29`);
    expect(text).toContain('Which backup?');
  });

  it('says in the smallest window how many answers there are, and does not cut the question', () => {
    const prompt = 'prepare the recovery of orders with a new key, or without?';
    const labels = [
      'without a new key: the key in force stays',
      'with a new key: this is a rotation',
      'stop',
    ];
    const options = labels.map((label, at) => ({
      event: `E${at}`,
      label,
      hint: 'asks for the guid of the backups and changes nothing',
      recommended: at === 0,
    }));
    const facts = [{ label: 'state', value: 'provisioned', tone: 'plain' as const }];
    const view: RunView = { ...VIEWS.choice, facts, question: { kind: 'choice', prompt, options } };
    const text = textIn(layOut(firstState(view, 0), { columns: 40, rows: 12 }, look));
    expect(text.replace(/\s+/gu, ' ')).toContain(prompt);
    expect(text).toContain('question: 1 of 3, up/down moves');
    expect(text).toContain('stays');
  });

  it('cuts the description of an answer in the smallest window, but never the answer', () => {
    const text = 'the router got no proper answer from the service (502)';
    const hints = ['try again in a moment'];
    const banner = { tone: 'bad' as const, text, hints };
    const question: QuestionView = { ...LOST, prompt: text };
    const view: RunView = { ...VIEWS.lost, banner, question, objectives: OBJECTIVES };
    const shown = textIn(layOut(firstState(view, 0), { columns: 40, rows: 12 }, look));
    expect(shown).toContain(`${look.glyphs.cursor} try again`);
    expect(shown).toContain('question: 1 of 2, up/down moves');
  });

  it.each([
    [20, 5],
    [39, 11],
    [30, 3],
  ])('says at %i x %i, which is too small, how large the window has to be', (columns, rows) => {
    const text = textIn(layOut(firstState(VIEWS.choice, 0), { columns, rows }, look));
    expect(text.replace(/\s+/gu, ' ')).toContain('this window is too small make it at least 40 x 12');
  });

  it('marks a step that was passed with open follow-ups as open, not as done', () => {
    const [first, ...rest] = VIEWS.choice.rail;
    if (first === undefined) throw new Error('the view has no steps');
    const rail = [{ ...first, title: 'bind the apps', state: 'open' as const }, ...rest];
    const text = textIn(layOut(firstState({ ...VIEWS.choice, rail }, 0), { columns: 100, rows: 30 }, look));
    expect(text).toContain('! bind the apps (open)');
  });

  it('shows a failure once where the question repeats the announcement', () => {
    const said = 'orders-report has its binding name taken';
    const banner = { tone: 'bad', text: said, hints: ['remove the old one', 'or bind it by hand'] } as const;
    const view: RunView = { ...VIEWS.choice, banner, question: { ...VIEWS.choice.question, prompt: said } };
    const watched: RunView = { ...view, watched: { driver: 'driven by ada', isFree: false } };
    for (const [columns, rows] of [
      [80, 24],
      [160, 50],
    ] as const) {
      const text = textIn(layOut(firstState(view, 0), { columns, rows }, look));
      expect(text.split(said)).toHaveLength(2);
      const beside = textIn(layOut(firstState(watched, 0), { columns, rows }, look));
      expect(beside.split(said)).toHaveLength(2);
      expect(beside).toContain('it asks there: what do you want to do about it?');
    }
  });

  it('lists open follow-ups once, and each task once where its row has room', () => {
    const view: RunView = { ...VIEWS.choice, question: FOLLOW_UPS, followUps: OPEN_FOLLOW_UPS };
    const text = textIn(layOut(firstState(view, 0), { columns: 160, rows: 50 }, look));
    expect(text.split('unbind, bind and restage orders-api')).toHaveLength(2);
    expect(text).not.toContain('follow-ups open');
  });

  it('shows in the help what the keys do now, each key once', () => {
    const state: UiState = { ...firstState(VIEWS.choice, 0), overlay: 'help' };
    const lines = textIn(layOut(state, { columns: 160, rows: 50 }, look)).split('\n');
    expect(lines.filter((line) => line.startsWith('Enter '))).toHaveLength(1);
    expect(lines.join('\n')).not.toContain('delete the word');
    expect(lines.join('\n')).toContain('up/down');
  });

  it('says LIVE in a frame of its own at the top and the bottom', () => {
    const lines = screen('typedName', 80, 24).split('\n');
    expect(lines[0]).toMatch(/^══ LIVE ══ orders/u);
    expect(lines.at(-1)).toMatch(/^══ /u);
    const calm = screen('choice', 80, 24).split('\n');
    expect(calm[0]).toMatch(/^── REHEARSAL ──/u);
  });

  it('has the steps in one row when it is narrow and in a column otherwise', () => {
    expect(screen('choice', 60, 20)).toContain('step 5/11 ▸ set the key');
    expect(screen('choice', 80, 24)).toContain('✓ generate the key');
  });

  it('draws with ASCII alone where the locale has no more', () => {
    const ascii = LOOKS[1] as Look;
    for (const name of Object.keys(VIEWS) as ViewName[]) {
      for (const overlay of ['none', 'help', 'leave'] as const) {
        const layout = layOut({ ...firstState(VIEWS[name], 0), overlay }, { columns: 80, rows: 24 }, ascii);
        expect(textIn(layout)).toMatch(/^[\n\u0020-\u007e]*$/u);
      }
    }
  });

  it('shows bytes with their rate and what is left, and the countdown of a wait', () => {
    expect(screen('bytes', 80, 24)).toContain('45 %  1.1 GiB of 2.5 GiB  32.4 MiB/s  44 s left');
    expect(screen('bytesOfUnknown', 80, 24)).toContain('1.2 MiB');
    expect(screen('wait', 80, 24)).toContain('looks again in 14 min 5 s');
    expect(screen('task', 80, 24)).toContain('status running');
  });
});
