import * as z from 'zod';
import { CHECK_IDS, PLAN_CHECK_IDS } from '../../base/check-id.ts';
import { lazily } from '../../base/lazily.ts';
import type { Entry, JournalReader, Json, NewEntry, ProjectedRow } from '../journal.ts';
import { instanceOf } from './follow-ups.ts';
import type { FoldedRow, Projection } from './projection.ts';

/*
 * The evaluations on record: whether an instance could be recovered, and what was found. An entry is written
 * when something changed, and once a week by an evaluation that finds nothing new.
 */

export const Finding = z.object({
  check: z.enum([...CHECK_IDS, ...PLAN_CHECK_IDS]),
  state: z.enum(['red', 'unknown']),
  reason: z.string(),
  /** Who is to see to it, where the config says so. */
  owner: z.string().optional(),
  /** When it was found first, and until when it should be gone. RFC 3339. */
  firstSeen: z.string(),
  due: z.string(),
  /** Until when it counts for nothing. */
  waivedUntil: z.string().optional(),
});
/** A check that is not green. It is closed by the next evaluation without it. */
export type Finding = Readonly<z.infer<typeof Finding>>;

const Shape = z.object({ plan: z.string().optional(), service: z.string().optional() });
/** What the instance is by the service: a restore that was proven on another one proves less. */
export type Shape = Readonly<z.infer<typeof Shape>>;

const made = lazily(() =>
  z.object({
    verdict: z.enum(['proven', 'ready', 'not-ready', 'unknown', 'empty']),
    reason: z.string(),
    findings: z.array(Finding),
    shape: Shape.optional(),
  }),
);
/** The body of `evaluation.made`, an entry in the ledger of the instance. */
export type EvaluationMade = z.infer<ReturnType<typeof made>>;

export const EVALUATED = 'evaluation.made';

/** An entry for the ledger of an instance. */
export function evaluationEntry(instance: string, body: EvaluationMade): NewEntry {
  return { stream: `instance/${instance}`, type: EVALUATED, body: made().parse(body) as Json };
}

/** The newest evaluation on record, and since when it says so. RFC 3339, by the clock that stamps entries. */
export interface Evaluated extends Readonly<EvaluationMade> {
  readonly at: string;
  /** Since when the verdict is this one. */
  readonly since: string;
  /** When plan or service changed last; missing if they never did. */
  readonly changedAt?: string;
  /** The findings that were closed last, newest first; at most 20. */
  readonly closed: readonly (Finding & { readonly closedAt: string })[];
}

/** One row for each instance that was evaluated. */
export const evaluations: Projection = {
  name: 'evaluations',
  version: 1,
  keysOf: (entry) => {
    const instance = instanceOf(entry);
    return instance !== undefined && entry.type === EVALUATED ? [keyOf(instance)] : [];
  },
  fold: (row, entry) => {
    const read = evaluationIn(entry.body);
    if (read === undefined) return row;
    const after = nextEvaluated(row?.value as unknown as Evaluated | undefined, read, entry);
    return rowOf(after, entry);
  },
};

/** What an entry of an evaluation says; undefined if it cannot be read. */
export function evaluationIn(body: Json): EvaluationMade | undefined {
  return made().safeParse(body).data;
}

/** The newest evaluation of every instance and plan, or of these, by its name. */
export async function readEvaluations(
  journal: Pick<JournalReader, 'rows'>,
  subjects?: readonly string[],
): Promise<ReadonlyMap<string, Evaluated>> {
  const rows = await journal.rows(
    evaluations.name,
    subjects === undefined ? {} : { keys: subjects.map(keyOf) },
  );
  return new Map(rows.map((row) => [row.key.slice(0, -1), evaluatedIn(row)]));
}

/** The newest evaluation in the entries of a ledger, by the entries alone; undefined without one. Pure. */
export function newestEvaluationIn(entries: readonly Entry[]): Evaluated | undefined {
  return entries.reduce<Evaluated | undefined>((before, entry) => {
    const read = entry.type === EVALUATED ? evaluationIn(entry.body) : undefined;
    return read === undefined ? before : nextEvaluated(before, read, entry);
  }, undefined);
}

/** What an entry of an evaluation says in words; undefined if it cannot be read. */
export function evaluationSentence(
  body: Json,
): { readonly text: string; readonly isGood: boolean } | undefined {
  const read = evaluationIn(body);
  if (read === undefined) return undefined;
  const { verdict, reason, findings } = read;
  const open = findings.length === 0 ? '' : `; findings: ${findings.map(({ check }) => check).join(', ')}`;
  return {
    text: `evaluated: ${VERDICTS[verdict]}: ${reason}${open}`,
    isGood: verdict === 'proven' || verdict === 'ready',
  };
}

const VERDICTS: Readonly<Record<EvaluationMade['verdict'], string>> = {
  proven: 'PROVEN',
  ready: 'READY',
  'not-ready': 'NOT READY',
  unknown: 'UNKNOWN',
  empty: 'empty',
};

/** Enough to see what came and went. */
const MAX_CLOSED = 20;

function nextEvaluated(
  before: Evaluated | undefined,
  body: EvaluationMade,
  { at }: Pick<Entry, 'at'>,
): Evaluated {
  const isOpen = (one: Finding) => body.findings.some(({ check }) => check === one.check);
  const closed = (before?.findings ?? [])
    .filter((one) => !isOpen(one))
    .map((one) => ({ ...one, closedAt: at }));
  const shape = { ...before?.shape, ...body.shape };
  const isOther =
    before?.shape !== undefined &&
    (['plan', 'service'] as const).some(
      (name) => before.shape?.[name] !== undefined && before.shape[name] !== shape[name],
    );
  const changedAt = isOther ? at : before?.changedAt;
  return {
    ...body,
    ...(Object.keys(shape).length === 0 ? {} : { shape }),
    at,
    since: before?.verdict === body.verdict ? before.since : at,
    ...(changedAt === undefined ? {} : { changedAt }),
    closed: [...closed, ...(before?.closed ?? [])].slice(0, MAX_CLOSED),
  };
}

function rowOf(evaluated: Evaluated, { stream }: Entry): FoldedRow {
  return { group: evaluated.verdict, sort: stream, value: evaluated as unknown as Json };
}

/** Instance names contain no slash, so the key of one is never a prefix of another's. */
function keyOf(instance: string): string {
  return `${instance}/`;
}

function evaluatedIn(row: ProjectedRow): Evaluated {
  return row.value as unknown as Evaluated;
}
