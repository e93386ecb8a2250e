import * as z from 'zod';
import type { Failure } from '../../src/base/failure.ts';
import type { OperatorEvent, QuestionOption } from './question.ts';

const GRADES = {
  certain: 'certainly ours',
  likely: 'likely ours',
  possible: 'possibly ours',
  unlikely: 'unlikely to be ours',
} as const;

/** One answer for each task that the service shows: the surest first, then the nearest to the request. */
export function adoptions<Event extends OperatorEvent>(
  failure: Failure | undefined,
  what: string,
): readonly QuestionOption<Event>[] {
  const shown = failure?.evidence['candidates'];
  if (!Array.isArray(shown)) return [];
  const candidates = shown.flatMap((one) => Candidate.safeParse(one).data ?? []);
  return candidates
    .toSorted((one, other) => rankOf(one) - rankOf(other) || farOf(one) - farOf(other))
    .map(({ id, triggeredAt, status, certainty, why, fromRequest }) => {
      const when = `triggered at ${triggeredAt ?? 'an unknown time'}, ${status ?? 'status unknown'}`;
      const grade = certainty === undefined ? undefined : GRADES[certainty];
      return {
        event: { type: 'operator.adopt' as const, id },
        label: `adopt ${what} ${id}${fromRequest === undefined ? '' : `, triggered ${fromRequest}`}`,
        hint: [when, grade, why].filter((words) => words !== undefined).join('; '),
      };
    }) as readonly QuestionOption[] as readonly QuestionOption<never>[];
}

/** Its texts are already cleaned. */
const Candidate = z.object({
  id: z.number(),
  triggeredAt: z.string().nullish(),
  status: z.string().nullish(),
  certainty: z.enum(['certain', 'likely', 'possible', 'unlikely']).optional(),
  why: z.string().optional(),
  /** Time from the request to the task; negative if the task came first. */
  secondsFromRequest: z.number().optional(),
  /** `3 s after the request`. */
  fromRequest: z.string().optional(),
});

function rankOf({ certainty }: z.infer<typeof Candidate>): number {
  const rank = certainty === undefined ? -1 : Object.keys(GRADES).indexOf(certainty);
  return rank < 0 ? Object.keys(GRADES).length : rank;
}

/** Without a distance it comes last. */
function farOf({ secondsFromRequest }: z.infer<typeof Candidate>): number {
  return secondsFromRequest === undefined ? Number.MAX_VALUE : Math.abs(secondsFromRequest);
}

/** `list` is, for example, `its list of backups`. */
export function lookAgain<Event extends OperatorEvent>(list: string): QuestionOption<Event> {
  return {
    event: { type: 'operator.lookAgain' },
    label: 'wait and look again',
    hint: `asks the service for ${list}; nothing is sent`,
  } as QuestionOption<never>;
}

/** `hint` says what a second request does, and whether the name is asked for again. */
export function sendAgain<Event extends OperatorEvent>(hint: string): QuestionOption<Event> {
  return {
    event: { type: 'operator.sendAgain' },
    label: 'it never happened: send it again',
    hint,
  } as QuestionOption<never>;
}
