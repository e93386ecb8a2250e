import { isoOf } from '../../../base/date.ts';
import { isNoReason, noReasonWords } from '../../../base/reason.ts';
import { Secret } from '../../../base/secret.ts';
import { BREAK_GLASS, notTheName, SEVERAL_LINES } from '../../../view/question-words.ts';
import type { Answer } from '../../../view/run-port.ts';
import type { QuestionOption, QuestionView } from '../../../view/run-view.ts';
import { EMPTY_FIELD, edited, type Field, inserted } from '../../parts/field.ts';
import type { Intent } from './key-binding.ts';
import { isPickable, movePicker } from './parts/moment.ts';
import type { Step, UiState } from './screen-state.ts';
import { effectOf, inputOf, openedOf, type QuestionState, rowsOf, wayAt } from './screen-state.ts';

/** Adds text to the field, in any pieces. A line end in it never submits. */
export function typeText(state: UiState, raw: string): Step {
  const { question } = state;
  if (question === undefined) return [state];
  const isReason = question.option !== undefined;
  const entry = takeText(raw, question, isReason ? 'reason' : 'exact');
  if ('problem' in entry) return refuse(state, question, entry.problem);
  const isSecret = state.view.question?.kind === 'secret' && !isReason;
  const endsLine = isSecret && /[\r\n]$/u.test(raw) ? { lostLineEnd: true as const } : {};
  return [{ ...state, question: { ...withField(question, entry), ...endsLine } }];
}

/** Applies an intent to the question on the screen; the effect is the answer it gives, if any. */
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
      const row = rowsOf(view, question.opened)[question.row];
      if (row?.kind === 'followUp') return [openFollowUp(state, question, row.followUp.id)];
      return row?.kind === 'option' ? choose(state, question, row.option) : [state];
    }
    case 'submit': {
      const input = inputOf(view, question);
      return input === 'choice' || input === 'ways' ? [state] : submit(state, question, view);
    }
    case 'erase':
    case 'erase-next':
    case 'erase-word':
    case 'clear':
    case 'left':
    case 'right':
    case 'word-left':
    case 'word-right':
    case 'begin':
    case 'end':
      return [{ ...state, question: withField(question, edited(question, intent)) }];
    case 'older-text':
      return [recall(state, question, (question.recalled ?? -1) + 1)];
    case 'newer-text':
      return [recall(state, question, (question.recalled ?? -1) - 1)];
    case 'back':
      return [goBack(state, question, view)];
    default:
      return [pick(state, question, view, intent)];
  }
}

/** Changes the field. A text that is still being read is forgotten, so its result is ignored. */
function withField(question: QuestionState, { text, cursor }: Field): QuestionState {
  const { problem: _, picker, lostLineEnd, ...kept } = question;
  const rest = lostLineEnd === true && text !== '' ? { ...kept, lostLineEnd } : kept;
  if (picker === undefined) return { ...rest, text, cursor };
  const { reading: __, ...idle } = picker;
  return { ...rest, text, cursor, picker: idle };
}

/** Puts a text that was given earlier into the field; index -1, newer than all of them, empties it. */
function recall(state: UiState, question: QuestionState, at: number): UiState {
  const { recalled: _, ...rest } = question;
  const text = state.given[at];
  if (at >= 0 && text === undefined) return state;
  const field = inserted(EMPTY_FIELD, text ?? '');
  return {
    ...state,
    question: { ...withField(rest, field), ...(text === undefined ? {} : { recalled: at }) },
  };
}

/** Moves the picker; from the finest unit downwards the cursor goes on to the other answers. */
function pick(state: UiState, question: QuestionState, view: QuestionView, intent: Intent): UiState {
  const { picker } = question;
  if (view.kind !== 'time' || picker === undefined) return state;
  const moved = movePicker(view, picker, intent);
  if (moved !== undefined) {
    const { problem: _, ...rest } = question;
    return { ...state, question: { ...rest, picker: moved } };
  }
  return intent === 'finer' ? moveTo(state, question, view, question.row + 1) : state;
}

function openFollowUp(state: UiState, question: QuestionState, id: string): UiState {
  const { problem: _, ...rest } = question;
  return { ...state, scroll: 0, question: { ...rest, opened: id, row: 0 } };
}

/**
 * Goes back by one level: from an option's field to the options, from a filled field to the empty one, from
 * break-glass to the plain confirmation, from an opened follow-up to the list, then to the leave dialogue.
 */
function goBack(state: UiState, question: QuestionState, view: QuestionView): UiState {
  const { option, first, ...kept } = question;
  const hasField = option !== undefined || first !== undefined || question.text !== '';
  if (hasField) return { ...state, question: withField(kept, EMPTY_FIELD) };
  if (kept.breakGlass !== undefined) {
    const { breakGlass: _, ...whole } = kept;
    return { ...state, question: withField(whole, EMPTY_FIELD) };
  }
  const { opened, problem: _, ...rest } = kept;
  const followUp = openedOf(view, opened);
  if (followUp === undefined || view.kind !== 'followUps') return { ...state, overlay: 'leave', leaveRow: 0 };
  return { ...state, scroll: 0, question: { ...rest, row: view.open.indexOf(followUp) } };
}

function moveTo(state: UiState, question: QuestionState, view: QuestionView, row: number): UiState {
  if (question.option !== undefined || row < 0 || row >= rowsOf(view, question.opened).length) return state;
  const { problem: _, ...rest } = question;
  return { ...state, question: { ...rest, row } };
}

function choose(state: UiState, question: QuestionState, option: QuestionOption): Step {
  if (option.disabled !== undefined) return refuse(state, question, `not now: ${option.disabled}`);
  if (option.needs !== undefined) {
    const { problem: _, first: __, ...rest } = question;
    return [{ ...state, question: { ...rest, option, text: '' } }];
  }
  return send(state, question, { event: option.event, ...about(question) });
}

function about({ opened }: QuestionState): { readonly id?: string } {
  return opened === undefined ? {} : { id: opened };
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
    if (option.needs.what === 'reason' && isNoReason(given))
      return refuse(state, question, noReasonWords(given));
    if (view.kind === 'typed-name' && option.event === BREAK_GLASS.event) {
      const { option: _, problem: __, ...rest } = question;
      return [{ ...state, question: { ...rest, row: 0, text: '', breakGlass: given } }];
    }
    return send(state, question, { event: option.event, ...about(question), text: given });
  }
  if (view.kind === 'typed-name') {
    if (text === '') return refuse(state, question, 'nothing was typed, so nothing happens');
    // Compare the real characters: the screen may show a cleaned form of them.
    if (text !== view.expected) return refuse(state, question, notTheName(text, view.expected));
    const { breakGlass } = question;
    return send(state, question, {
      event: view.event,
      typed: text,
      ...(breakGlass === undefined ? {} : { breakGlass }),
    });
  }
  if (view.kind === 'secret') return submitSecret(state, question, view);
  if (view.kind === 'text') return submitWord(state, question, view);
  if (view.kind === 'time') return submitMoment(state, question, view);
  return [state];
}

function submitWord(state: UiState, question: QuestionState, view: QuestionView & { kind: 'text' }): Step {
  const text = question.text.trim();
  if (text === '') return refuse(state, question, 'nothing was typed, so nothing happens');
  const { pattern } = view;
  if (pattern !== undefined && !new RegExp(`^(?:${pattern.source})$`).test(text))
    return refuse(state, question, pattern.says);
  return send(state, question, { event: view.event, text });
}

/** Enter on a typed time reads it into the picker; Enter there answers: it is seen before it is given. */
function submitMoment(state: UiState, question: QuestionState, view: QuestionView & { kind: 'time' }): Step {
  const { picker, text, problem: _, ...rest } = question;
  if (picker === undefined) return [state];
  if (text.trim() !== '') {
    const asked = { ...state, question: { ...rest, text, picker: { ...picker, reading: text } } };
    return [asked, { type: 'read-moment', text }];
  }
  if (!isPickable(view, picker))
    return refuse(state, question, 'this moment cannot be reached: move it first');
  return send(state, question, { event: view.event, time: isoOf(picker.at) });
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

function send(state: UiState, question: QuestionState, answer: Answer): Step {
  const { problem: _, ...rest } = question;
  // Do not keep a secret in the state once its answer is sent.
  const text = answer.secret === undefined ? question.text : '';
  const { text: words } = answer;
  const given = words === undefined ? state.given : [words, ...state.given.filter((one) => one !== words)];
  return [
    { ...state, given: given.slice(0, MAX_GIVEN), question: { ...rest, text, sending: true } },
    { type: 'answer', answer },
  ];
}

/**
 * Follows a suggested way on. A key is entered beside the run; another run of the instance can begin only
 * when this one is over, so this asks whether to stop it, or says why it cannot be stopped.
 */
export function leadOn(state: UiState): Step {
  const { view, question } = state;
  const way = wayAt(view);
  if (way === undefined) return [state];
  const effect = effectOf(way);
  if (view.outcome !== undefined) return [state, { type: 'lead', effect }];
  if (way.kind === 'add-key') return [state, { type: 'app', effect }];
  const stop = view.question?.options.find(({ event }) => event === STOP);
  if (stop !== undefined && stop.disabled === undefined) return [{ ...state, overlay: 'lead', leaveRow: 0 }];
  if (question === undefined) return [state];
  const why = stop?.disabled ?? 'it cannot be stopped here';
  const hints = [
    `a run on ${way.instance} begins only when this one is over`,
    `leave it with q and abandon it: lifeboat resume ${view.runId} --abandon REASON`,
  ];
  return [{ ...state, question: { ...question, problem: { text: `not now: ${why}`, hints } } }];
}

export function stopAndLead(state: UiState): Step {
  const { view, question } = state;
  const way = wayAt(view);
  if (question === undefined || question.sending || way === undefined) return [state];
  const sending = { ...state, question: { ...question, sending: true } };
  const text = `stopped to go on with another run on ${way.instance}`;
  return [sending, { type: 'answer', answer: { event: STOP, text }, lead: effectOf(way) }];
}

const STOP = 'operator.stop';

function refuse(state: UiState, question: QuestionState, text: string): Step {
  return [{ ...state, question: { ...question, problem: { text, hints: [] } } }];
}

type Entry = Field | { readonly problem: string };

/** Keys and reasons are far shorter: a longer text is a file that was pasted by mistake. */
const ENTRY_LIMIT = 4096;

const MAX_GIVEN = 20;

/**
 * Adds text that came in one piece (a key, a paste, several keys over a slow line) to a one-line field. A
 * line break at its end is dropped and never submits. Line breaks inside become blanks in a reason; a name or
 * a secret with one is refused, because it has to be right to the character.
 */
function takeText(raw: string, before: Field, kind: 'exact' | 'reason'): Entry {
  const ended = raw.replace(/[\r\n]+$/u, '');
  const line = kind === 'exact' ? ended : ended.replace(/\s*[\r\n]+\s*|\t/gu, ' ');
  if (/\p{Cc}/u.test(line)) return { problem: SEVERAL_LINES };
  const field = inserted(before, line);
  return field.text.length > ENTRY_LIMIT
    ? { problem: `more than ${ENTRY_LIMIT} characters: nothing was taken` }
    : field;
}
