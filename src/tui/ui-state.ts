import type { RunView } from '../view/run-view.ts';
import { answerQuestion, typeText } from './answering.ts';
import type { Intent, Mode } from './keymap.ts';
import { LEAVE_CHOICES } from './parts/leave.ts';
import { freshQuestion, isTyping, questionKey } from './question-state.ts';
import type { Action, Page, Step, UiState } from './screen-state.ts';

/**
 * How long a question that has just appeared ignores the keyboard: keys pressed before it could be read were meant for
 * something else. Longer than a frame at 15 a second, shorter than anybody reads.
 */
export const SETTLE_MS = 150;

/** The state before anything was pressed. */
export function firstState(view: RunView, now: number): UiState {
  const state: UiState = {
    view,
    overlay: 'none',
    leaveRow: 0,
    logGrown: false,
    scroll: 0,
    appeared: now,
  };
  return view.question === undefined ? state : { ...state, question: freshQuestion(view.question) };
}

/** What the keyboard talks to. */
export function modeOf(state: UiState): Mode {
  if (state.overlay !== 'none') return state.overlay;
  if (state.view.outcome !== undefined) return 'over';
  const { question } = state.view;
  if (question === undefined || state.question === undefined || state.question.sending) return 'watch';
  return isTyping(question, state.question) ? 'input' : 'choice';
}

/** The next state, and what has to be done. Pure: time comes in with the action. */
export function update(state: UiState, action: Action): Step {
  switch (action.type) {
    case 'view':
      return [withView(state, action.view, action.now)];
    case 'answered':
      return [withFreshQuestion(state, action.now)];
    case 'rejected': {
      if (state.question === undefined) return [state];
      const { first: _, ...kept } = state.question;
      const secret = state.view.question?.kind === 'secret' && kept.option === undefined;
      const problem = { text: action.text, hints: action.hints };
      return [
        {
          ...state,
          question: {
            ...kept,
            text: secret ? '' : kept.text,
            problem,
            sending: false,
          },
        },
      ];
    }
    case 'text':
      if (modeOf(state) !== 'input' || isUnsettled(state, action.now)) return [state];
      return typeText(state, action.text);
    case 'intent':
      return onIntent(state, action.intent, action.page, action.now);
  }
}

function withView(state: UiState, view: RunView, now: number): UiState {
  const scroll = view.prose.title === state.view.prose.title ? state.scroll : 0;
  const next = { ...state, view, scroll };
  const sameQuestion = questionKey(view.question) === (state.question?.key ?? '');
  if (!sameQuestion) return withFreshQuestion(next, now);
  const isNewOutcome = view.outcome !== undefined && state.view.outcome === undefined;
  return isNewOutcome ? { ...next, appeared: now } : next;
}

function withFreshQuestion(state: UiState, now: number): UiState {
  const { question: _, ...rest } = state;
  const { question } = state.view;
  return question === undefined
    ? { ...rest, appeared: now }
    : { ...rest, appeared: now, question: freshQuestion(question) };
}

function isUnsettled(state: UiState, now: number): boolean {
  return now - state.appeared < SETTLE_MS;
}

function onIntent(state: UiState, intent: Intent, page: Page, now: number): Step {
  const mode = modeOf(state);
  const asks = mode === 'choice' || mode === 'input' || mode === 'over';
  if (asks && isUnsettled(state, now) && intent !== 'ask-leave') return [state];

  switch (intent) {
    case 'help':
      return [{ ...state, overlay: 'help', scroll: 0 }];
    case 'close-help':
      return [{ ...state, overlay: 'none', scroll: 0 }];
    case 'ask-leave':
      return [{ ...state, overlay: 'leave', leaveRow: 0 }];
    case 'stay':
      return [{ ...state, overlay: 'none' }];
    case 'leave-now':
      return [state, { type: 'leave' }];
    case 'close':
      return [state, { type: 'close' }];
    case 'wake':
      return [state, { type: 'wake' }];
    case 'grow-log':
      return [{ ...state, logGrown: !state.logGrown }];
    case 'page-down':
      return [
        {
          ...state,
          scroll: state.scroll >= page.last ? 0 : Math.min(page.last, state.scroll + page.height),
        },
      ];
    case 'page-up':
      return [
        {
          ...state,
          scroll: Math.max(0, Math.min(state.scroll, page.last) - page.height),
        },
      ];
    case 'up':
    case 'down':
    case 'choose':
      return mode === 'leave' ? inLeaveDialogue(state, intent) : answerQuestion(state, intent);
    default:
      return answerQuestion(state, intent);
  }
}

function inLeaveDialogue(state: UiState, intent: 'up' | 'down' | 'choose'): Step {
  if (intent !== 'choose') {
    const leaveRow = Math.min(
      LEAVE_CHOICES.length - 1,
      Math.max(0, state.leaveRow + (intent === 'up' ? -1 : 1)),
    );
    return [{ ...state, leaveRow }];
  }
  const next: UiState = { ...state, overlay: 'none' };
  return LEAVE_CHOICES[state.leaveRow] === 'leave' ? [next, { type: 'leave' }] : [next];
}
