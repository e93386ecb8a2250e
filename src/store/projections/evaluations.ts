import * as z from 'zod';
import { CHECK_IDS, PLAN_CHECK_IDS } from '../../base/check-id.ts';
import { lazily } from '../../base/lazily.ts';
import type { Entry, JournalReader, Json, NewEntry, ProjectedRow } from '../journal.ts';
import { instanceOf } from './follow-ups.ts';
import type { FoldedRow, Projection } from './projection.ts';

/*
 * The evaluations on record: if an instance could be recovered, and the findings. An entry is written when
 * something changed, and weekly if nothing did.
 */

export const Finding = z.object({
  check: z.enum([...CHECK_IDS, ...PLAN_CHECK_IDS]),
  state: z.enum(['red', 'unknown']),
  reason: z.string(),
  /** From the config. */
  owner: z.string().optional(),
  /** RFC 3339. `due`: when it should be gone. */
  firstSeen: z.string(),
  due: z.string(),
  /** Until when it is ignored. */
  waivedUntil: z.string().optional(),
});
/** A check that is not green. The next evaluation without it closes it. */
export type Finding = Readonly<z.infer<typeof Finding>>;

const Shape = z.object({ plan: z.string().optional(), service: z.string().optional() });
/** By the service: a restore that was proven on another shape proves less. */
export type Shape = Readonly<z.infer<typeof Shape>>;

const made = lazily(() =>
  z.object({
    verdict: z.enum(['proven', 'ready', 'not-ready', 'unknown', 'empty']),
    reason: z.string(),
    findings: z.array(Finding),
    shape: Shape.optional(),
  }),
);
/** In the ledger of the instance. */
export type EvaluationMade = z.infer<ReturnType<typeof made>>;

export const EVALUATED = 'evaluation.made';

export function evaluationEntry(instance: string, body: EvaluationMade): NewEntry {
  return { stream: `instance/${instance}`, type: EVALUATED, body: made().parse(body) as Json };
}

/** The newest evaluation on record. RFC 3339, by the clock that stamps entries. */
export interface Evaluated extends Readonly<EvaluationMade> {
  readonly at: string;
  /** The verdict's. */
  readonly since: string;
  /** Of plan or service; missing if they never changed. */
  readonly changedAt?: string;
  /** Newest first; at most 20. */
  readonly closed: readonly (Finding & { readonly closedAt: string })[];
}

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

/** Undefined if it cannot be read. */
export function evaluationIn(body: Json): EvaluationMade | undefined {
  return made().safeParse(body).data;
}

/** By name: of every instance and plan, or of these. */
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

/** From a ledger's entries alone. Pure. */
export function newestEvaluationIn(entries: readonly Entry[]): Evaluated | undefined {
  return entries.reduce<Evaluated | undefined>((before, entry) => {
    const read = entry.type === EVALUATED ? evaluationIn(entry.body) : undefined;
    return read === undefined ? before : nextEvaluated(before, read, entry);
  }, undefined);
}

/** Undefined if it cannot be read. */
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

/** Instance names contain no slash: no key is a prefix of another. */
function keyOf(instance: string): string {
  return `${instance}/`;
}

function evaluatedIn(row: ProjectedRow): Evaluated {
  return row.value as unknown as Evaluated;
}
