import { isoOf } from '../../../base/date.ts';
import { msOf } from '../../../base/instant.ts';
import { type Badge, badgeOf, type Need } from '../../../view/app/sources.ts';
import { commandOf } from '../../../view/app/start-wish.ts';
import type { AppEffect, Around, Input, ScreenRequest } from '../../live-screen.ts';
import { type OpenScreen, screen } from '../../module-screen.ts';
import { EMPTY_FIELD, edited, type FieldIntent, typed } from '../../parts/field.ts';
import { isListIntent, moved, placed, typedInto } from '../../parts/list.ts';
import { movePicker } from '../run/parts/moment.ts';
import { isMeant, withKey, withNewToRead } from '../run/screen-state.ts';
import { obstacleOf } from './check.ts';
import { chosenRow, type Intent, isTyping, keysOf, type PickIntent, shownRows } from './keys.ts';
import { layOut } from './pages.ts';
import { planEffectOf } from './plan-rows.ts';
import { LEFT_TO_RUN } from './rows.ts';
import {
  type Answers,
  advanced,
  chosenSituation,
  knownInstances,
  momentQuestion,
  openedState,
  pickerOf,
  type State,
  steppedBack,
  stepsFor,
  typedMoment,
  wishOf,
} from './state.ts';

/** Starts a run: what happened, on which instance, with what data, then a check of what it will do. */
export function startScreen({
  situation,
  instance,
  target,
  backup,
}: ScreenRequest & { readonly name: 'start' }): OpenScreen {
  return (options) => {
    const given = {
      ...(chosenSituation({ answers: { ...(situation === undefined ? {} : { situation }) } }) === undefined
        ? {}
        : { situation: situation ?? '' }),
      ...(instance === undefined ? {} : { instance }),
      ...(target === undefined ? {} : { target }),
      ...(backup === undefined ? {} : { backup }),
    };
    return screen<State, Intent>({
      init: openedState(given, options.now().getTime()),
      subject: ({ answers: { instance, target } }) =>
        target === undefined ? (instance ?? '') : `${instance ?? ''} into ${target}`,
      title: () => 'start',
      badge,
      isTyping,
      keys: keysOf,
      needs,
      reduce,
      shown,
      layOut,
    })(options);
  };
}

/** The instance that the run would change; until it is known, all candidates. */
function badge({ answers: { instance, target } }: State, around: Around): Badge | undefined {
  const { home } = knownInstances(around);
  const changed = home.filter(({ name }) => name === (target ?? instance));
  return badgeOf(changed.length === 0 ? home : changed);
}

/** The selected row is fixed when drawn: Enter chooses what was seen even if the list changes. */
function shown(state: State, around: Around): State {
  const choice = chosenRow(state, around);
  if (choice === undefined || choice.disabled !== undefined) return state;
  const { rows, list } = shownRows(state, around);
  const keys = rows.map(({ key }) => key);
  return { ...state, list: placed(list, keys) };
}

/** Backups are requested as early as possible, to be there when they are shown. */
function needs(state: State): readonly Need[] {
  const { answers, step, field } = state;
  const { instance } = answers;
  const steps = stepsFor(answers);
  const wish = step === 'check' ? wishOf(state) : undefined;
  const typed = field.text.trim();
  const wantsBackups = steps.includes('backup') || steps.includes('moment');
  return [
    { source: 'fleet', of: null },
    ...(step === 'situation' ? [{ source: 'runs', of: null } as const] : []),
    ...(instance !== undefined && wantsBackups ? [{ source: 'backups', of: instance } as const] : []),
    ...(typed === '' ? [] : [{ source: 'moment', of: typed } as const]),
    ...(wish === undefined ? [] : [{ source: 'dryRun', of: wish } as const]),
  ];
}

function reduce(before: State, input: Input<Intent>, around: Around): readonly [State, ...AppEffect[]] {
  const now = around.now.getTime();
  const key = input.type === 'text' ? 'text' : isEnter(input.intent) ? 'choose' : input.intent;
  // If the clock was set back, restart the wait, which could otherwise last for hours.
  const { keyboard } = (before.keyboard.quietSince ?? 0) > now ? { keyboard: {} } : before;
  const meant = isMeant(keyboard, { key, now });
  const state: State = { ...before, keyboard: withKey(keyboard, { key, now }) };
  if (input.type === 'text') return [withText(state, input.text)];
  // A held Enter answers one question, but not the next one too.
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
      if (state.step === 'situation') {
        const effect = planEffectOf(key, around);
        return effect === undefined ? to({ situation: key }) : [{ ...state, isStarted: true }, effect];
      }
      if (state.step === 'backup') return to({ backup: key === LEFT_TO_RUN ? null : key });
      return to({ [state.step]: key });
    }
  }
}

/** Starts the run. If something is in its way, the first Enter shows that and only the second one begins. */
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
