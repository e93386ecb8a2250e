import { questionKey } from '../view/question-key.ts';
import type { RunView } from '../view/run-view.ts';
import { answerQuestion, typeText } from './answering.ts';
import type { Intent, Mode } from './key-binding.ts';
import { LEAVE_CHOICES } from './parts/leave.ts';
import { withMoment } from './picking.ts';
import { freshQuestion, inputOf } from './question-state.ts';
import type { Action, Page, Step, UiState } from './screen-state.ts';

/**
 * How long a question that has just appeared ignores the keyboard: keys pressed before it could be read were meant for
 * something else. Longer than a frame at 15 a second, shorter than anybody reads.
 */
export const SETTLE_MS = 150;

/** Where text can be typed. */
const TYPES: ReadonlySet<Mode> = new Set<Mode>(['input', 'reason', 'reading', 'picker']);

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
  return inputOf(question, state.question);
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
    case 'paper':
      // Closed before it came.
      return [state.overlay === 'paper' ? { ...state, paper: action.text } : state];
    case 'moment': {
      const { question } = state;
      if (question === undefined) return [state];
      const next = { ...state, question: withMoment(question, action.text, action.moment) };
      // When the picker shows another moment, keys pressed before it could be read do not answer with it.
      return ['time' in action.moment ? { ...next, appeared: action.now } : next];
    }
    case 'text': {
      const mode = modeOf(state);
      if (!TYPES.has(mode) || isUnsettled(state, action.now)) return [state];
      return typeText(state, action.text);
    }
    case 'intent':
      return onIntent(state, action.intent, action.page, action.now);
  }
}

function withView(state: UiState, view: RunView, now: number): UiState {
  // A text laid over the prose keeps its place, whatever the run does below it.
  const isCovered = state.overlay !== 'none' || view.prose.title === state.view.prose.title;
  const scroll = isCovered ? state.scroll : 0;
  const next = withoutOldProblem({ ...state, view, scroll }, state.view);
  const sameQuestion = questionKey(view.question) === (state.question?.key ?? '');
  if (!sameQuestion) return withFreshQuestion(next, now);
  const isNewOutcome = view.outcome !== undefined && state.view.outcome === undefined;
  return isNewOutcome ? { ...next, scroll: 0, appeared: now } : next;
}

/** What was refused for want of an approval is not wrong any more once the approval stands otherwise. */
function withoutOldProblem(state: UiState, before: RunView): UiState {
  const approval = ({ question }: RunView) =>
    question?.kind === 'typed-name' ? question.approval?.state : undefined;
  if (state.question === undefined || approval(before) === approval(state.view)) return state;
  const { problem: _, ...question } = state.question;
  return { ...state, question };
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
  const asks = mode !== 'watch' && mode !== 'leave' && mode !== 'help' && mode !== 'paper';
  if (asks && isUnsettled(state, now) && intent !== 'ask-leave' && intent !== 'suspend') return [state];

  switch (intent) {
    case 'help':
      return [{ ...state, overlay: 'help', scroll: 0 }];
    case 'close-help':
      return [{ ...state, overlay: 'none', scroll: 0 }];
    case 'paper':
      return [{ ...state, overlay: 'paper', scroll: 0 }, { type: 'paper' }];
    case 'close-paper': {
      const { paper: _, ...rest } = state;
      // What was below it can be read only now.
      return [{ ...rest, overlay: 'none', scroll: 0, appeared: now }];
    }
    case 'line-down':
      return [{ ...state, scroll: Math.min(page.last, state.scroll + 1) }];
    case 'line-up':
      return [{ ...state, scroll: Math.max(0, Math.min(state.scroll, page.last) - 1) }];
    case 'ask-leave':
      return [{ ...state, overlay: 'leave', leaveRow: 0 }];
    case 'stay':
      return [{ ...state, overlay: 'none' }];
    case 'suspend':
      return [state, { type: 'suspend' }];
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
