import { isoOf } from '../../../base/date.ts';
import { msOf } from '../../../base/instant.ts';
import type { BackupRow } from '../../../view/app/backup-list.ts';
import { type Situation, type StartStep, situationOf } from '../../../view/app/situations.ts';
import type { TypedMoment } from '../../../view/app/sources.ts';
import { instanceChoices, type KnownInstances } from '../../../view/app/start-choices.ts';
import type { StartWish } from '../../../view/app/start-wish.ts';
import type { TimeQuestion } from '../../../view/moment-reader.ts';
import { formatUtc } from '../../../view/zone.ts';
import type { Around } from '../../live-screen.ts';
import { EMPTY_FIELD, type Field } from '../../parts/field.ts';
import { FRESH_LIST, type ListState } from '../../parts/list.ts';
import { edgesOf } from '../run/parts/moment.ts';
import type { Keyboard, Picker } from '../run/screen-state.ts';

export interface Answers {
  readonly situation?: string;
  readonly instance?: string;
  readonly target?: string;
  /** Null if the run is to choose the backup. */
  readonly backup?: string | null;
  /** RFC 3339; null if unknown. */
  readonly incident?: string | null;
  /** RFC 3339; null if the run is to ask for it. */
  readonly moment?: string | null;
}

interface Past {
  readonly step: StartStep;
  readonly answers: Answers;
}

/** Everything the screen depends on besides the facts. */
export interface State {
  readonly step: StartStep;
  readonly answers: Answers;
  readonly past: readonly Past[];
  readonly list: ListState;
  readonly field: Field;
  /** Set once it was moved; before that, the suggested moment applies. */
  readonly picker?: Picker;
  readonly scroll: number;
  readonly keyboard: Keyboard;
  /** The obstacle that the last Enter showed; the next Enter starts the run despite it. */
  readonly warned?: string;
  readonly isStarted: boolean;
}

/** The state when the screen opens. The key that opened it may still be held down. */
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

const UNTOUCHED = { list: FRESH_LIST, field: EMPTY_FIELD, scroll: 0 } as const;

export function stepsFor({ situation }: Answers): readonly StartStep[] {
  return ['situation', ...(situationOf(situation)?.steps ?? [])];
}

function nextStep(answers: Answers): StartStep {
  const open = stepsFor(answers).find((step) => step === 'check' || answers[step] === undefined);
  return open ?? 'situation';
}

/** The state with these answers, at the next step that still needs one. */
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

/** One step back, with the cursor where it was; undefined at the first step. */
export function steppedBack({ past, picker: _, warned: __, ...rest }: State): State | undefined {
  const last = past.at(-1);
  if (last === undefined) return undefined;
  return { ...rest, ...UNTOUCHED, ...last, past: past.slice(0, -1), list: { ...FRESH_LIST } };
}

/** The only possible source instance, if there is exactly one. */
function onlyInstance({ situation }: Answers, around: Pick<Around, 'facts'>): string | undefined {
  const chosen = situationOf(situation);
  if (chosen === undefined) return undefined;
  const sources = instanceChoices(chosen, knownInstances(around)).filter(({ role }) => role === 'source');
  const [first] = sources;
  return sources.length === 1 && first?.disabled === undefined ? first?.name : undefined;
}

export function knownInstances({ facts }: Pick<Around, 'facts'>): KnownInstances {
  return {
    home: facts.get('home', null).last?.value.instances ?? [],
    fleet: facts.get('fleet', null).last?.value.instances ?? [],
  };
}

export function chosenSituation({ answers }: Pick<State, 'answers'>): Situation | undefined {
  return situationOf(answers.situation);
}

/** The run that the answers describe; undefined while one is missing. */
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

/** The suggested restore point lies this long before the mistake. */
const BEFORE_INCIDENT_MS = 60_000;
/** Without a known time of the mistake: before the newest moment, as restoring to now restores nothing. */
const BEFORE_LATEST_MS = 3_600_000;

/** The step as a picker question; undefined until the range is known. */
export function momentQuestion(state: State, around: Pick<Around, 'facts'>): TimeQuestion | undefined {
  const window = listOf(state, around).last?.value.window;
  if (window === undefined) return undefined;
  const { earliest, latest } = window;
  const [first, last] = [msOf(earliest), msOf(latest)];
  if (!(first <= last)) return undefined;
  const { incident } = state.answers;
  const wanted = typeof incident === 'string' ? msOf(incident) - BEFORE_INCIDENT_MS : last - BEFORE_LATEST_MS;
  const suggested = isoOf(Math.min(last, Math.max(first, wanted)));
  const made = listOf(state, around).last?.value.rows.flatMap(({ triggeredAt }) => triggeredAt ?? []);
  const marks = { incident: typeof incident === 'string' ? incident : undefined, backups: made ?? [] };
  return { kind: 'time', prompt: '', event: '', earliest, latest, suggested, marks, options: [] };
}

export function pickerOf(question: TimeQuestion, { picker }: State): Picker {
  return picker ?? { at: msOf(question.suggested), unit: 'minute' };
}

/**
 * Why the shown moment cannot be taken yet: without a known incident it is arbitrary, so Enter alone must not
 * take it. Undefined if it can be taken.
 */
export function notChosenYet({ picker, answers }: State): string | undefined {
  if (picker !== undefined || typeof answers.incident === 'string') return undefined;
  return 'no moment is chosen yet: move it, or type the last moment at which the data was right';
}

/** Why no moment can be chosen at all; undefined while that is being read. */
export function noWindowOf(state: State, around: Pick<Around, 'facts'>): string | undefined {
  const fact = listOf(state, around);
  if (fact.part.state === 'failed') return fact.part.why;
  return fact.last?.value.noWindow;
}

export function typedMoment(
  { field }: Pick<State, 'field'>,
  { facts }: Pick<Around, 'facts'>,
): TypedMoment | undefined {
  return facts.get('moment', field.text.trim()).last?.value;
}

/** Why the typed moment cannot be taken, given the limits of `question`; undefined if it can. */
export function momentProblem(typed: TypedMoment | undefined, question?: TimeQuestion): string | undefined {
  if (typed === undefined) return 'it is being read';
  if ('problem' in typed) return typed.problem;
  if (question === undefined) return undefined;
  const { earliest, latest } = edgesOf(question);
  const at = msOf(typed.time);
  if (at >= earliest && at <= latest) return undefined;
  return `${formatUtc(at)} cannot be reached: from ${formatUtc(earliest)} to ${formatUtc(latest)}`;
}

export function listOf({ answers }: Pick<State, 'answers'>, { facts }: Pick<Around, 'facts'>) {
  return facts.get('backups', answers.instance ?? '');
}

/** The row of the chosen backup; undefined if none was chosen or it is no longer listed. */
export function chosenBackup(state: State, around: Pick<Around, 'facts'>): BackupRow | undefined {
  const { backup } = state.answers;
  const rows = listOf(state, around).last?.value.rows ?? [];
  return rows.find(({ id, backupId }) => backup === backupId || backup === String(id));
}

/** The chosen backup by its number in the list, which is shorter than its id. */
export function backupName(state: State, around: Pick<Around, 'facts'>): string {
  return String(chosenBackup(state, around)?.id ?? state.answers.backup ?? '');
}
