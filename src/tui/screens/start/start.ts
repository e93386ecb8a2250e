import type { Badge } from '../../../view/app/home.ts';
import { badgeOf } from '../../../view/app/home.ts';
import type { Need } from '../../../view/app/sources.ts';
import type { Around, ScreenRequest } from '../../live-screen.ts';
import { type OpenScreen, screen } from '../../module-screen.ts';
import { placed } from '../../parts/list.ts';
import { reduce } from './answering.ts';
import { chosenRow, type Intent, isTyping, keysOf, shownRows } from './keys.ts';
import { layOut } from './pages.ts';
import { chosenSituation, knownInstances, openedState, type State, stepsFor, wishOf } from './state.ts';

/** Start a run: by what has happened, then on which instance, with what, and after a look at what it does. */
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

/** What the run would change; before that is known, everything that it could be about. */
function badge({ answers: { instance, target } }: State, around: Around): Badge | undefined {
  const { home } = knownInstances(around);
  const changed = home.filter(({ name }) => name === (target ?? instance));
  return badgeOf(changed.length === 0 ? home : changed);
}

/** The row that could be chosen when it was shown is the one that Enter chooses, whatever becomes known. */
function shown(state: State, around: Around): State {
  const choice = chosenRow(state, around);
  if (choice === undefined || choice.disabled !== undefined) return state;
  const { rows, list } = shownRows(state, around);
  const keys = rows.map(({ key }) => key);
  return { ...state, list: placed(list, keys) };
}

/** The backups are asked for as soon as they can be, so that they are there when they are shown. */
function needs(state: State): readonly Need[] {
  const { answers, step, field } = state;
  const { instance } = answers;
  const steps = stepsFor(answers);
  const wish = step === 'check' ? wishOf(state) : undefined;
  const typed = field.text.trim();
  const wantsBackups = steps.includes('backup') || steps.includes('moment');
  return [
    { source: 'fleet', of: null },
    ...(instance !== undefined && wantsBackups ? [{ source: 'backups', of: instance } as const] : []),
    ...(typed === '' ? [] : [{ source: 'moment', of: typed } as const]),
    ...(wish === undefined ? [] : [{ source: 'dryRun', of: wish } as const]),
  ];
}
