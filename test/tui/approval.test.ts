import { describe, expect, it } from 'vitest';
import { layOut } from '../../src/tui/screens/run/layout.ts';
import type { UiState } from '../../src/tui/screens/run/screen-state.ts';
import { firstState, modeOf, update } from '../../src/tui/screens/run/ui-state.ts';
import { BREAK_GLASS } from '../../src/view/question-words.ts';
import type { ApprovalView, RunView } from '../../src/view/run-view.ts';
import { withApproval } from '../../src/view/view-outcome.ts';
import { TYPED_NAME, VIEWS } from './fake-views.ts';
import { look, textIn } from './shown.ts';

const APPROVAL: ApprovalView = {
  state: 'needed',
  challenge: '00112233445566aa',
  file: '/srv/robin/.local/state/lifeboat/approvals/01KAJ8V7Q2M4X9T3R5W6Y8Z0BC/00112233445566aa.txt',
  command: 'ssh-keygen -Y sign -n lifeboat-approval -f ~/.ssh/id_ed25519 00112233445566aa.txt',
  expiresAt: '2026-11-21 04:00:00',
};

const page = { height: 10, last: 0 };

function viewWith(approval: Partial<ApprovalView> = {}): RunView {
  return withApproval({ ...VIEWS.checking, question: TYPED_NAME } as RunView, { ...APPROVAL, ...approval });
}

function textOf(state: UiState, columns: number, rows: number): string {
  return textIn(layOut(state, { columns, rows }, look));
}

/** Without what breaks lines, so that a sentence is found wherever it was wrapped. */
const flat = (text: string) => text.replace(/\s+/g, '');

describe.each([
  [40, 20],
  [80, 24],
  [160, 50],
] as const)('at %i x %i', (columns, rows) => {
  it.each([
    ['needed', 'not approved yet'],
    ['given', 'approved by ada@example.com'],
    ['expired', 'the request for an approval has expired'],
    ['withdrawn', 'the approval was withdrawn'],
    ['bypassed', 'BREAK-GLASS, without a second person'],
  ] as const)('%s stands above the name that is to be typed', (state, sentence) => {
    const view = viewWith(state === 'needed' ? {} : { state, by: 'ada@example.com' });
    const text = flat(textOf(firstState(view, 0), columns, rows));
    expect(text).toContain(flat(sentence));
    expect(text.indexOf(flat(sentence))).toBeLessThan(text.indexOf(flat('to confirm, type orders-dr')));
  });
});

describe('the approval on the screen', () => {
  it('withdraws a refusal for want of an approval as soon as the approval changes', () => {
    const refused = { text: 'a second person has to approve it', hints: [] };
    const now = { page, now: 5_000 };
    const [typed] = update(firstState(viewWith(), 0), {
      type: 'text',
      text: 'orders-dr',
      key: 'paste',
      ...now,
    });
    const [before] = update(typed, { type: 'rejected', ...refused, ...now });
    expect(textOf(before, 100, 40)).toContain(`! ${refused.text}`);
    const [after] = update(before, { type: 'view', view: viewWith({ state: 'given', by: 'ada' }), ...now });
    expect(textOf(after, 100, 40)).not.toContain(`! ${refused.text}`);
    expect(after.question?.text).toBe('orders-dr');
  });

  it('shows file and command where there is room', () => {
    const text = flat(textOf(firstState(viewWith(), 0), 100, 40));
    expect(text).toContain(flat(APPROVAL.command));
    expect(text).toContain(flat(APPROVAL.file));
  });

  it('keeps what was typed when it arrives', () => {
    let state = firstState(viewWith(), 0);
    [state] = update(state, { type: 'text', text: 'orders', key: 'paste', now: 1000 });
    [state] = update(state, { type: 'view', view: viewWith({ state: 'given', by: 'ada' }), now: 2000 });
    expect(state.question?.text).toBe('orders');
  });

  it('break-glass sends nothing by itself: it takes a reason, then the name, and Esc cancels it', () => {
    const view = viewWith();
    let state = firstState(view, 0);
    const press = (intent: 'down' | 'choose' | 'submit' | 'back') => {
      const [next, effect] = update(state, { type: 'intent', intent, key: intent, page, now: 1000 });
      state = next;
      return effect;
    };
    const type = (text: string) => {
      [state] = update(state, { type: 'text', text, key: 'paste', now: 1000 });
    };
    for (const _ of TYPED_NAME.options) press('down');
    press('down');
    expect(press('choose')).toBeUndefined();
    expect(modeOf(state)).toBe('reason');
    expect(press('submit')).toBeUndefined();
    type('nobody there');
    expect(press('submit')).toBeUndefined();
    expect(textOf(state, 100, 40)).toContain('BREAK-GLASS, without a second person: nobody there');
    expect(press('submit')).toBeUndefined();
    press('back');
    expect(textOf(state, 100, 40)).not.toContain('BREAK-GLASS');

    for (const _ of TYPED_NAME.options) press('down');
    press('down');
    press('choose');
    type('nobody there');
    press('submit');
    type('orders-dr');
    expect(press('submit')).toEqual({
      type: 'answer',
      answer: { event: 'CONFIRM', typed: 'orders-dr', breakGlass: 'nobody there' },
    });
  });

  it('no text in it acts on a terminal', () => {
    const hostile = '\u001b[2J\u009b31m\u202eada\u200b';
    const view = viewWith({ state: 'given', by: hostile, file: hostile, command: hostile });
    expect(textOf(firstState(view, 0), 100, 40)).not.toMatch(/[\u001b\u009b\u202e\u200b]/u);
  });

  it('is not shown for a question that needs none', () => {
    const plain = { ...VIEWS.checking, question: TYPED_NAME } as RunView;
    expect(withApproval(plain, undefined)).toBe(plain);
    expect(textOf(firstState(plain, 0), 100, 40)).not.toContain(BREAK_GLASS.label);
  });
});
