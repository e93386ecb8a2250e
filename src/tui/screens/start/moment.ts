import { isoOf } from '../../../base/date.ts';
import { msOf } from '../../../base/instant.ts';
import type { BackupRow } from '../../../view/app/backup-list.ts';
import type { TypedMoment } from '../../../view/app/sources.ts';
import type { TimeQuestion } from '../../../view/moment-reader.ts';
import { formatUtc } from '../../../view/zone.ts';
import type { Around } from '../../live-screen.ts';
import { edgesOf } from '../run/picking.ts';
import type { Picker } from '../run/question-state.ts';
import type { State } from './state.ts';

/** So long before the mistake a restore stands by itself. */
const BEFORE_INCIDENT_MS = 60_000;
/** So long before the newest moment where nobody said when the mistake was made: never on now. */
const BEFORE_LATEST_MS = 3_600_000;

/** The question of the step, as the picker of a run takes it; undefined as long as no range is known. */
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

/** Where the picker stands. */
export function pickerOf(question: TimeQuestion, { picker }: State): Picker {
  return picker ?? { at: msOf(question.suggested), unit: 'minute' };
}

/**
 * Why the moment where the picker stands cannot be taken yet: where nobody knows when it happened, it stands
 * anywhere, and Enter alone must not take that. Undefined where it can.
 */
export function notChosenYet({ picker, answers }: State): string | undefined {
  if (picker !== undefined || typeof answers.incident === 'string') return undefined;
  return 'no moment is chosen yet: move it, or type the last moment at which the data was right';
}

/** Why no moment can be chosen here; undefined while that is still asked. */
export function noWindowOf(state: State, around: Pick<Around, 'facts'>): string | undefined {
  const fact = listOf(state, around);
  if (fact.part.state === 'failed') return fact.part.why;
  return fact.last?.value.noWindow;
}

/** What the field of a step means now. */
export function typedMoment(
  { field }: Pick<State, 'field'>,
  { facts }: Pick<Around, 'facts'>,
): TypedMoment | undefined {
  return facts.get('moment', field.text.trim()).last?.value;
}

/** Why what is typed cannot be taken; `question` limits it. Undefined where it can. */
export function momentProblem(typed: TypedMoment | undefined, question?: TimeQuestion): string | undefined {
  if (typed === undefined) return 'it is being read';
  if ('problem' in typed) return typed.problem;
  if (question === undefined) return undefined;
  const { earliest, latest } = edgesOf(question);
  const at = msOf(typed.time);
  if (at >= earliest && at <= latest) return undefined;
  return `${formatUtc(at)} cannot be reached: from ${formatUtc(earliest)} to ${formatUtc(latest)}`;
}

/** What is known of the backups of the instance that was chosen. */
export function listOf({ answers }: Pick<State, 'answers'>, { facts }: Pick<Around, 'facts'>) {
  return facts.get('backups', answers.instance ?? '');
}

/** The backup that was chosen, as it is listed; undefined where none was, or it is not listed any more. */
export function chosenBackup(state: State, around: Pick<Around, 'facts'>): BackupRow | undefined {
  const { backup } = state.answers;
  const rows = listOf(state, around).last?.value.rows ?? [];
  return rows.find(({ id, backupId }) => backup === backupId || backup === String(id));
}

/** The backup that was chosen by the number that its list shows, which is shorter than its id. */
export function backupName(state: State, around: Pick<Around, 'facts'>): string {
  return String(chosenBackup(state, around)?.id ?? state.answers.backup ?? '');
}
