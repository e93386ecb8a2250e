import { isoOf } from '../../../base/date.ts';
import { msOf } from '../../../base/instant.ts';
import { commandOf } from '../../../view/app/start-wish.ts';
import type { AppEffect, Around, Input } from '../../live-screen.ts';
import { EMPTY_FIELD, edited, type FieldIntent, typed } from '../../parts/field.ts';
import { isListIntent, moved, typedInto } from '../../parts/list.ts';
import { isMeant, withKey, withNewToRead } from '../run/keyboard.ts';
import { movePicker } from '../run/picking.ts';
import { obstacleOf } from './check.ts';
import { chosenRow, type Intent, type PickIntent, shownRows } from './keys.ts';
import { momentQuestion, pickerOf, typedMoment } from './moment.ts';
import { LEFT_TO_RUN } from './rows.ts';
import { type Answers, advanced, type State, steppedBack, wishOf } from './state.ts';

/** The state after a key, and what is to happen. */
export function reduce(
  before: State,
  input: Input<Intent>,
  around: Around,
): readonly [State, ...AppEffect[]] {
  const now = around.now.getTime();
  const key = input.type === 'text' ? 'text' : isEnter(input.intent) ? 'choose' : input.intent;
  // The clock of the machine may be set back; nobody waits until it is as late again.
  const { keyboard } = (before.keyboard.quietSince ?? 0) > now ? { keyboard: {} } : before;
  const meant = isMeant(keyboard, { key, now });
  const state: State = { ...before, keyboard: withKey(keyboard, { key, now }) };
  if (input.type === 'text') return [withText(state, input.text)];
  // A key that is held down answers one question, and not the one after it.
  if (isEnter(input.intent) && !meant) return [state];
  const [next, ...effects] = act(state, input, around);
  const isNew = next.step !== state.step || next.warned !== state.warned;
  return [isNew ? { ...next, keyboard: withNewToRead(next.keyboard, now) } : next, ...effects];
}

function isEnter(intent: Intent): boolean {
  return intent === 'choose' || intent === 'start';
}

function withText(state: State, text: string): State {
  if (state.list.isFiltering) return { ...state, list: typedInto(state.list, text) };
  return { ...state, field: typed(state.field, text) };
}

function act(
  state: State,
  { intent, page }: Input<Intent> & { readonly type: 'intent' },
  around: Around,
): readonly [State, ...AppEffect[]] {
  if (isListIntent(intent)) {
    const { rows, list } = shownRows(state, around);
    const keys = rows.map(({ key }) => key);
    return [{ ...state, list: moved(list, intent, keys, page.height) }];
  }
  if (intent.startsWith('edit:'))
    return [{ ...state, field: edited(state.field, intent.slice('edit:'.length) as FieldIntent) }];
  if (intent.startsWith('pick:')) {
    const question = momentQuestion(state, around);
    const picker =
      question && movePicker(question, pickerOf(question, state), intent.slice('pick:'.length) as PickIntent);
    return [picker === undefined ? state : { ...state, picker }];
  }
  const scrolledTo = (row: number): State => ({ ...state, scroll: Math.max(0, Math.min(page.last, row)) });
  switch (intent) {
    case 'choose':
      return choose(state, around);
    case 'step-back': {
      const back = steppedBack(state);
      return back === undefined ? [state, { type: 'back' }] : [back];
    }
    case 'start':
      return start(state, around);
    case 'copy': {
      const wish = wishOf(state);
      return wish === undefined
        ? [state]
        : [state, { type: 'copy', text: commandOf(wish), what: 'the command' }];
    }
    case 'page-on':
      return [state.scroll >= page.last ? scrolledTo(0) : scrolledTo(state.scroll + page.height)];
    case 'page-back':
      return [scrolledTo(state.scroll - page.height)];
    case 'scroll-down':
      return [scrolledTo(state.scroll + 1)];
    default:
      return [scrolledTo(state.scroll - 1)];
  }
}

function choose(state: State, around: Around): readonly [State, ...AppEffect[]] {
  const { answers, field } = state;
  const to = (more: Answers): readonly [State] => [advanced(state, { ...answers, ...more }, around)];
  switch (state.step) {
    case 'incident': {
      if (field.text.trim() === '') return to({ incident: null });
      const read = typedMoment(state, around);
      return read !== undefined && 'time' in read ? to({ incident: read.time }) : [state];
    }
    case 'moment': {
      const question = momentQuestion(state, around);
      if (question === undefined) return to({ moment: null });
      const picker = pickerOf(question, state);
      if (field.text.trim() === '') return to({ moment: isoOf(picker.at) });
      const read = typedMoment(state, around);
      if (read === undefined || !('time' in read)) return [state];
      return [{ ...state, field: EMPTY_FIELD, picker: { ...picker, at: msOf(read.time) } }];
    }
    default: {
      const key = chosenRow(state, around)?.key;
      if (key === undefined) return [state];
      if (state.step === 'situation') return to({ situation: key });
      if (state.step === 'backup') return to({ backup: key === LEFT_TO_RUN ? null : key });
      return to({ [state.step]: key });
    }
  }
}

/** What stands in the way is read before Enter counts: the first one shows it, the second one begins. */
function start(state: State, around: Around): readonly [State, ...AppEffect[]] {
  const wish = wishOf(state);
  if (wish === undefined) return [state];
  const obstacle = obstacleOf(state, around);
  if (obstacle !== undefined && state.warned !== obstacle) return [{ ...state, scroll: 0, warned: obstacle }];
  const { warned: _, ...rest } = state;
  return [
    { ...rest, isStarted: true },
    { type: 'start', wish },
  ];
}
