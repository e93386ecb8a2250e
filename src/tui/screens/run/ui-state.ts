import { questionKey } from '../../../view/question-words.ts';
import type { OutcomeView, RailStep, RunView } from '../../../view/run-view.ts';
import type { Page } from '../../bands.ts';
import type { AppEffect } from '../../live-screen.ts';
import { EMPTY_FIELD, edited, type FieldIntent, inserted } from '../../parts/field.ts';
import { answerQuestion, leadOn, stopAndLead, typeText } from './answering.ts';
import type { Intent, Mode } from './key-binding.ts';
import { withMoment } from './parts/moment.ts';
import { LEAVE_CHOICES } from './parts/overlays.ts';
import {
  type Action,
  commandsAt,
  freshQuestion,
  inputOf,
  isMeant,
  type Step,
  type UiState,
  withKey,
  withNewToRead,
} from './screen-state.ts';

const TYPES: ReadonlySet<Mode> = new Set<Mode>(['input', 'reason', 'reading', 'picker']);

export function firstState(view: RunView, now: number): UiState {
  const state: UiState = {
    view,
    overlay: 'none',
    leaveRow: 0,
    filter: EMPTY_FIELD,
    isFiltering: false,
    stepRow: 0,
    scroll: 0,
    given: [],
    keyboard: { quietSince: now },
  };
  return view.question === undefined ? state : { ...state, question: freshQuestion(view.question) };
}

export function modeOf(state: UiState): Mode {
  if (state.overlay === 'log' && state.isFiltering) return 'log-filter';
  if (state.overlay === 'lead') return 'leave';
  if (state.overlay !== 'none') return state.overlay;
  if (state.view.outcome !== undefined) return 'over';
  if (state.view.watched !== undefined) return 'looking';
  const { question } = state.view;
  if (question === undefined || state.question === undefined || state.question.sending) return 'watch';
  return inputOf(question, state.question);
}

/** The next state and its effects. Pure: time comes in with the action. */
export function update(state: UiState, action: Action): Step {
  // Ctrl-C answers nothing, so it is never held back: pressed twice it leaves, however fast, and the run
  // stays open.
  const counts = !('key' in action) || action.key === 'ctrl+c' || isMeant(state.keyboard, action);
  const pressed = 'key' in action ? { ...state, keyboard: withKey(state.keyboard, action) } : state;
  const [next, ...effects] = act(pressed, action, counts);
  if (!isNewToRead(pressed, next)) return [next, ...effects];
  return [{ ...next, keyboard: withNewToRead(next.keyboard, action.now) }, ...effects];
}

function act(state: UiState, action: Action, counts: boolean): Step {
  switch (action.type) {
    case 'view':
      return [withView(state, action.view)];
    case 'answered':
      return [withFreshQuestion(state)];
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
    case 'fallback':
      // The overlay may have been closed while the script was fetched.
      return [state.overlay === 'fallback' ? { ...state, fallback: action.text } : state];
    case 'moment': {
      const { question } = state;
      if (question === undefined) return [state];
      return [{ ...state, question: withMoment(question, action.text, action.moment) }];
    }
    case 'text':
      // A filter answers nothing, so it needs no wait.
      if (modeOf(state) === 'log-filter') return [typeFilter(state, action.text)];
      return counts && TYPES.has(modeOf(state)) ? typeText(state, action.text) : [state];
    case 'key':
      return [state];
    case 'intent':
      return counts || isLooking(modeOf(state), action.intent)
        ? onIntent(state, action.intent, action.page)
        : [state];
  }
}

/** Answers nothing, so it needs no wait. */
function isLooking(mode: Mode, intent: Intent): boolean {
  return mode === 'watch' || mode === 'log-filter' || LOOKS.has(intent);
}

const LOOKS: ReadonlySet<Intent> = new Set<Intent>([
  'help',
  'close-help',
  'fallback',
  'close-fallback',
  'line-down',
  'line-up',
  'page-down',
  'page-up',
  'log',
  'close-look',
  'filter',
  'keep-filter',
  'drop-filter',
  'text-first',
  'text-last',
  'enlarge',
  'step-before',
  'step-after',
  'ask-leave',
  'suspend',
  'copy',
]);

/** Whether something that a key could answer has just appeared. */
function isNewToRead(before: UiState, after: UiState): boolean {
  const [asked, asks] = [before.question, after.question];
  return (
    before.overlay !== after.overlay ||
    (before.view.outcome === undefined && after.view.outcome !== undefined) ||
    asked?.key !== asks?.key ||
    asked?.opened !== asks?.opened ||
    // The question is back: its answer was refused, or led to the same question.
    (asked?.sending === true && asks?.sending === false) ||
    // The picker now shows the typed moment.
    (asked?.picker?.reading !== undefined && asks?.picker?.reading === undefined && asks?.text === '')
  );
}

function withView(state: UiState, view: RunView): UiState {
  // An overlay keeps its scroll position, whatever the run does below it.
  const isCovered = state.overlay !== 'none' || view.prose.title === state.view.prose.title;
  const scroll = isCovered ? state.scroll : 0;
  const next = withoutOldProblem({ ...state, view, scroll }, state.view);
  const sameQuestion = questionKey(view.question) === (state.question?.key ?? '');
  if (!sameQuestion) return withFreshQuestion(next);
  const isNewOutcome = view.outcome !== undefined && state.view.outcome === undefined;
  return isNewOutcome ? { ...next, scroll: 0 } : next;
}

/** Drops the message about a missing approval once the state of the approval has changed. */
function withoutOldProblem(state: UiState, before: RunView): UiState {
  const approval = ({ question }: RunView) =>
    question?.kind === 'typed-name' ? question.approval?.state : undefined;
  if (state.question === undefined || approval(before) === approval(state.view)) return state;
  const { problem: _, ...question } = state.question;
  return { ...state, question };
}

function withFreshQuestion(state: UiState): UiState {
  const { question: _, ...rest } = state;
  const { question } = state.view;
  return question === undefined ? rest : { ...rest, question: freshQuestion(question) };
}

function onIntent(state: UiState, intent: Intent, page: Page): Step {
  const looked = lookAround(state, intent);
  if (looked !== undefined) return [looked];
  switch (intent) {
    case 'help':
      return [{ ...state, overlay: 'help', scroll: 0 }];
    case 'close-help':
      return [{ ...state, overlay: 'none', scroll: 0 }];
    case 'fallback':
      return [{ ...state, overlay: 'fallback', scroll: 0 }, { type: 'fallback' }];
    case 'close-fallback': {
      const { fallback: _, ...rest } = state;
      return [{ ...rest, overlay: 'none', scroll: 0 }];
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
    case 'leave-drill':
      return [state, { type: state.view.chapter === undefined ? 'close' : 'leave' }];
    case 'take-over': {
      const { runId } = state.view;
      const effect = { type: 'instead', effect: { type: 'resume', runId } } as const;
      return [state, { type: 'app', effect }];
    }
    case 'wake':
      return [state, { type: 'wake' }];
    case 'report':
    case 'copy-command':
    case 'copy-anchor':
      return onEnd(state, intent);
    case 'copy': {
      const found = commandsAt(state.view.question, state.question);
      return found === undefined ? [state] : [state, { type: 'app', effect: { type: 'copy', ...found } }];
    }
    case 'lead-on':
      return leadOn(state);
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
      return modeOf(state) === 'leave' ? inLeaveDialogue(state, intent) : answerQuestion(state, intent);
    default:
      return answerQuestion(state, intent);
  }
}

function onEnd(state: UiState, intent: 'report' | 'copy-command' | 'copy-anchor'): Step {
  const { runId, outcome } = state.view;
  if (outcome === undefined) return [state];
  const effect: AppEffect =
    intent === 'report'
      ? { type: 'open', screen: { name: 'report', runId } }
      : intent === 'copy-command'
        ? { type: 'copy', text: outcome.report.command, what: 'the command that writes the report' }
        : { type: 'copy', ...forTheTicket(runId, outcome) };
  return [state, { type: 'app', effect }];
}

function forTheTicket(
  runId: string,
  { anchor }: OutcomeView,
): { readonly text: string; readonly what: string } {
  return anchor === undefined
    ? { text: runId, what: 'the id of the run; its anchor is not known' }
    : { text: `run ${runId}, anchor ${anchor}`, what: 'the id of the run and its anchor' };
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
  if (state.overlay === 'lead') return LEAVE_CHOICES[state.leaveRow] === 'leave' ? stopAndLead(next) : [next];
  return LEAVE_CHOICES[state.leaveRow] === 'leave' ? [next, { type: 'leave' }] : [next];
}

/** Scrolled to the end; the layout reduces it to the real number of rows. */
const END = Number.MAX_SAFE_INTEGER;

/** Applies a key of the log or of a step; undefined if it is not one. */
function lookAround(state: UiState, intent: Intent): UiState | undefined {
  switch (intent) {
    case 'log':
      return { ...state, overlay: 'log', scroll: END, filter: EMPTY_FIELD, isFiltering: false };
    case 'close-look':
      return { ...state, overlay: 'none', scroll: 0 };
    case 'filter':
      return { ...state, isFiltering: true };
    case 'keep-filter':
      return { ...state, isFiltering: false };
    case 'drop-filter':
      return { ...state, isFiltering: false, filter: EMPTY_FIELD, scroll: END };
    case 'text-first':
      return { ...state, scroll: 0 };
    case 'text-last':
      return { ...state, scroll: END };
    case 'enlarge':
      return lookAtStep(state, 0);
    case 'step-before':
      return lookAtStep(state, -1);
    case 'step-after':
      return lookAtStep(state, 1);
    default:
      return state.isFiltering && state.overlay === 'log' && isEditing(intent)
        ? { ...state, filter: edited(state.filter, intent), scroll: END }
        : undefined;
  }
}

/** Adds text to the filter and scrolls to the newest match. */
function typeFilter(state: UiState, text: string): UiState {
  const line = text.replace(/\p{Cc}+/gu, ' ');
  return { ...state, filter: inserted(state.filter, line.slice(0, 200)), scroll: END };
}

/** Moves from the step that is shown, or from the current one. */
function lookAtStep(state: UiState, by: -1 | 0 | 1): UiState {
  const { rail } = state.view;
  if (rail.length === 0) return state;
  const isLooking = state.overlay === 'step';
  const here = rail.findIndex(isHere);
  const from = isLooking ? state.stepRow : here === -1 ? rail.length : here;
  const stepRow = Math.max(0, Math.min(rail.length - 1, from + by));
  return { ...state, overlay: 'step', stepRow, scroll: 0 };
}

export function isHere({ state }: Pick<RailStep, 'state'>): boolean {
  return state === 'current' || state === 'failed';
}

const EDITING: ReadonlySet<Intent> = new Set<FieldIntent>([
  'erase',
  'erase-next',
  'erase-word',
  'clear',
  'left',
  'right',
  'word-left',
  'word-right',
  'begin',
  'end',
]);

function isEditing(intent: Intent): intent is FieldIntent {
  return EDITING.has(intent);
}
