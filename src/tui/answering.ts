import { Secret } from '../secret.ts';
import type { RunAnswer } from '../view/run-port.ts';
import type { QuestionOption, QuestionView } from '../view/run-view.ts';
import { takeText } from './entry.ts';
import type { Intent } from './keymap.ts';
import { isTyping, type QuestionState, rowsOf } from './question-state.ts';
import type { Step, UiState } from './screen-state.ts';

/** Adds text to the field, in whatever pieces it comes. It never submits. */
export function typeText(state: UiState, raw: string): Step {
  const { question } = state;
  if (question === undefined) return [state];
  const isReason = question.option !== undefined;
  const entry = takeText(raw, question.text, isReason ? 'reason' : 'exact');
  if ('problem' in entry) return refuse(state, question, entry.problem);
  const { problem: _, ...rest } = question;
  return [{ ...state, question: { ...rest, text: entry.text } }];
}

/** What an intent does to the question on the screen, and the answer it gives. */
export function answerQuestion(state: UiState, intent: Intent): Step {
  const { question } = state;
  const view = state.view.question;
  if (question === undefined || view === undefined || question.sending) return [state];
  switch (intent) {
    case 'up':
      return [moveTo(state, question, view, question.row - 1)];
    case 'down':
      return [moveTo(state, question, view, question.row + 1)];
    case 'choose': {
      const row = rowsOf(view)[question.row];
      return row?.kind === 'option' ? choose(state, question, row.option) : [state];
    }
    case 'submit':
      return isTyping(view, question) ? submit(state, question, view) : [state];
    case 'erase':
      return [
        {
          ...state,
          question: { ...question, text: withoutLast(question.text) },
        },
      ];
    case 'clear':
      return [{ ...state, question: { ...question, text: '' } }];
    case 'back':
      return [goBack(state, question)];
    default:
      return [state];
  }
}

/** Out of an option's field to the options; out of a filled field to the empty one; then towards the exit. */
function goBack(state: UiState, question: QuestionState): UiState {
  const { option, first, problem: _, ...rest } = question;
  if (option === undefined && first === undefined && question.text === '') {
    return { ...state, overlay: 'leave', leaveRow: 0 };
  }
  return { ...state, question: { ...rest, text: '' } };
}

function moveTo(state: UiState, question: QuestionState, view: QuestionView, row: number): UiState {
  if (question.option !== undefined || row < 0 || row >= rowsOf(view).length) return state;
  const { problem: _, ...rest } = question;
  return { ...state, question: { ...rest, row } };
}

function choose(state: UiState, question: QuestionState, option: QuestionOption): Step {
  if (option.disabled !== undefined) return refuse(state, question, `not now: ${option.disabled}`);
  if (option.needs !== undefined) {
    const { problem: _, first: __, ...rest } = question;
    return [{ ...state, question: { ...rest, option, text: '' } }];
  }
  return send(state, question, { event: option.event });
}

function submit(state: UiState, question: QuestionState, view: QuestionView): Step {
  const { option, text } = question;
  if (option?.needs !== undefined) {
    const given = text.trim();
    if (given === '')
      return refuse(
        state,
        question,
        `type ${option.needs.what === 'reason' ? 'a reason' : 'the evidence'} first, or go back with Esc`,
      );
    return send(state, question, { event: option.event, text: given });
  }
  if (view.kind === 'typed-name') {
    if (text === '') return refuse(state, question, 'nothing was typed, so nothing happens');
    // The real characters are compared, not what is shown of them.
    if (text !== view.expected) return refuse(state, question, 'that is not the name: nothing happens');
    return send(state, question, { event: view.event, typed: text });
  }
  if (view.kind === 'secret') return submitSecret(state, question, view);
  return [state];
}

function submitSecret(
  state: UiState,
  question: QuestionState,
  view: QuestionView & { kind: 'secret' },
): Step {
  const { text, first } = question;
  const { first: _, ...rest } = question;
  if (text === '') return refuse(state, question, 'nothing was typed, so nothing happens');
  if (text.length < view.minLength) {
    return refuse(state, question, `too short: at least ${view.minLength} characters are needed`);
  }
  if (!view.twice)
    return send(state, question, {
      event: view.event,
      secret: new Secret(text),
    });
  if (first === undefined) {
    const { problem: __, ...kept } = rest;
    return [{ ...state, question: { ...kept, first: text, text: '' } }];
  }
  if (first !== text) return refuse(state, { ...rest, text: '' }, 'the two entries differ: start again');
  return send(state, rest, { event: view.event, secret: new Secret(text) });
}

function send(state: UiState, question: QuestionState, answer: RunAnswer): Step {
  const { problem: _, ...rest } = question;
  // A secret leaves the state with its answer.
  const text = answer.secret === undefined ? question.text : '';
  return [
    { ...state, question: { ...rest, text, sending: true } },
    { type: 'answer', answer },
  ];
}

function refuse(state: UiState, question: QuestionState, text: string): Step {
  return [{ ...state, question: { ...question, problem: { text, hints: [] } } }];
}

function withoutLast(text: string): string {
  const last = [...new Intl.Segmenter().segment(text)].at(-1);
  return last === undefined ? '' : text.slice(0, last.index);
}
