import { type Situation, type StartStep, situationOf } from '../../../view/app/situations.ts';
import { instanceChoices, type KnownInstances } from '../../../view/app/start-choices.ts';
import type { StartWish } from '../../../view/app/start-wish.ts';
import type { Around } from '../../live-screen.ts';
import { EMPTY_FIELD, type Field } from '../../parts/field.ts';
import { FRESH_LIST, type ListState } from '../../parts/list.ts';
import type { Picker } from '../run/question-state.ts';
import type { Keyboard } from '../run/screen-state.ts';

/** What was chosen so far. */
export interface Answers {
  readonly situation?: string;
  readonly instance?: string;
  readonly target?: string;
  /** What the run is given; null where the run is to ask itself. */
  readonly backup?: string | null;
  /** RFC 3339; null where nobody knows. */
  readonly incident?: string | null;
  /** RFC 3339; null where the run is to ask itself. */
  readonly moment?: string | null;
}

/** Where somebody was, to go back there. */
interface Past {
  readonly step: StartStep;
  readonly answers: Answers;
}

/** Everything the screen depends on besides what it knows. */
export interface State {
  readonly step: StartStep;
  readonly answers: Answers;
  readonly past: readonly Past[];
  readonly list: ListState;
  readonly field: Field;
  /** Once it was moved; it stands where `suggestedMoment` says before. */
  readonly picker?: Picker;
  readonly scroll: number;
  readonly keyboard: Keyboard;
  /** What was shown to stand in the way when Enter was pressed last; Enter starts nevertheless. */
  readonly warned?: string;
  readonly isStarted: boolean;
}

/** The screen when it opens. The key that opened it may still be held down. */
export function openedState(given: Answers, nowMs: number): State {
  const opening = { key: 'choose', at: nowMs };
  return {
    step: nextStep(given),
    answers: given,
    past: [],
    ...UNTOUCHED,
    keyboard: { last: opening, before: opening, quietSince: nowMs },
    isStarted: false,
  };
}

/** What belongs to one step alone. */
const UNTOUCHED = { list: FRESH_LIST, field: EMPTY_FIELD, scroll: 0 } as const;

/** The steps that this choice of a situation takes. */
export function stepsFor({ situation }: Answers): readonly StartStep[] {
  return ['situation', ...(situationOf(situation)?.steps ?? [])];
}

/** The first step that has no answer. */
function nextStep(answers: Answers): StartStep {
  const open = stepsFor(answers).find((step) => step === 'check' || answers[step] === undefined);
  return open ?? 'situation';
}

/** The screen with these answers, at the next step that is not determined. */
export function advanced(state: State, answers: Answers, around: Pick<Around, 'facts'>): State {
  const { picker: _, warned: __, ...rest } = state;
  let next: State = {
    ...rest,
    ...UNTOUCHED,
    answers,
    step: nextStep(answers),
    past: [...state.past, { step: state.step, answers: state.answers }],
  };
  const only = next.step === 'instance' ? onlyInstance(answers, around) : undefined;
  if (only !== undefined) next = advanced(next, { ...answers, instance: only }, around);
  return next;
}

/** One step back, with the cursor where it was; undefined at the first. */
export function steppedBack({ past, picker: _, warned: __, ...rest }: State): State | undefined {
  const last = past.at(-1);
  if (last === undefined) return undefined;
  return { ...rest, ...UNTOUCHED, ...last, past: past.slice(0, -1), list: { ...FRESH_LIST } };
}

/** The only source of the config, where it can be chosen. */
function onlyInstance({ situation }: Answers, around: Pick<Around, 'facts'>): string | undefined {
  const chosen = situationOf(situation);
  if (chosen === undefined) return undefined;
  const sources = instanceChoices(chosen, knownInstances(around)).filter(({ role }) => role === 'source');
  const [first] = sources;
  return sources.length === 1 && first?.disabled === undefined ? first?.name : undefined;
}

/** The instances as far as they are known now. */
export function knownInstances({ facts }: Pick<Around, 'facts'>): KnownInstances {
  return {
    home: facts.get('home', null).last?.value.instances ?? [],
    fleet: facts.get('fleet', null).last?.value.instances ?? [],
  };
}

/** The situation that was chosen. */
export function chosenSituation({ answers }: Pick<State, 'answers'>): Situation | undefined {
  return situationOf(answers.situation);
}

/** The run that these answers mean; undefined as long as one of them is missing. */
export function wishOf({ answers }: Pick<State, 'answers'>): StartWish | undefined {
  const { instance, target, backup, incident, moment } = answers;
  const situation = situationOf(answers.situation);
  if (situation === undefined || instance === undefined) return undefined;
  const asks = (step: StartStep) => situation.steps.includes(step);
  return {
    ...situation.wish,
    instance,
    ...(asks('target') && target !== undefined ? { target } : {}),
    ...(asks('backup') && typeof backup === 'string' ? { backup } : {}),
    ...(asks('moment') && typeof moment === 'string' ? { to: moment } : {}),
    ...(asks('incident') && typeof incident === 'string' ? { incident } : {}),
  };
}
