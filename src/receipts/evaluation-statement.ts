import { hash } from 'node:crypto';
import * as z from 'zod';
import type { CheckId } from '../base/check-id.ts';
import { msOf } from '../base/instant.ts';
import { planOf } from '../base/plan-subject.ts';
import { Finding } from '../store/projections/evaluations.ts';
import { Statement } from './statement.ts';

/** An in-toto Simple Verification Result (in-toto/attestation, spec/predicates/svr.md). */
export const SVR = 'https://in-toto.io/attestation/svr/v0.2';
/** The name of its only subject. */
export const EVALUATION_FILE = 'evaluation.json';

export const EvaluationStatement = z.object({
  ...Statement.pick({ _type: true, subject: true }).shape,
  predicateType: z.literal(SVR),
  predicate: z.object({
    verifier: z.object({ id: z.string(), policies: z.array(z.unknown()) }),
    timeCreated: z.string(),
    properties: z.array(z.string()),
  }),
});
export type EvaluationStatement = z.infer<typeof EvaluationStatement>;

/** The newest evaluation of an instance or a plan on record. */
const Recorded = z.object({
  /** The instance, or `plan.NAME`. */
  name: z.string(),
  verdict: z.enum(['proven', 'ready', 'not-ready', 'unknown', 'empty']),
  reason: z.string(),
  /** When it was evaluated last by the record, and since when the verdict is this one. RFC 3339. */
  at: z.string(),
  since: z.string(),
  findings: z.array(Finding),
  /** The newest proven run that brought its data back, or data into it, and when it was closed. */
  restored: z.object({ runId: z.string(), at: z.string() }).optional(),
});
export type RecordedEvaluation = Readonly<z.infer<typeof Recorded>>;

export const EvaluationRecord = z.object({
  schema: z.literal('lifeboat.evaluation-record/1'),
  evaluations: z.array(Recorded).min(1),
});

const DAY_MS = 24 * 60 * 60_000;
const RESTORED_WITHIN_MS = 90 * DAY_MS;

/** Whether none of these checks has a finding; undefined for a plan, of which they are not made. */
const areGreen = ({ name, findings }: RecordedEvaluation, ...checks: readonly CheckId[]) =>
  planOf(name) === undefined
    ? findings.every(({ check }) => !checks.some((one) => one === check))
    : undefined;

/** A property of evaluations, with the condition for one to have it; undefined if it is not of its kind. */
const PROPERTIES: readonly (readonly [string, (of: RecordedEvaluation) => boolean | undefined])[] = [
  ['LIFEBOAT_RECOVERABLE', ({ verdict }) => verdict === 'proven' || verdict === 'ready'],
  ['LIFEBOAT_PROVEN', ({ verdict }) => verdict === 'proven'],
  [
    'LIFEBOAT_KEY_FITS',
    // Without a backup there is nothing that a key could fit.
    (of) => of.verdict !== 'empty' && areGreen(of, 'newest-backup', 'key-opens'),
  ],
  [
    'LIFEBOAT_RESTORED_90D',
    (of) => {
      const isUnchanged = areGreen(of, 'restored');
      const ageMs = msOf(of.at) - msOf(of.restored?.at);
      return isUnchanged && ageMs >= 0 && ageMs <= RESTORED_WITHIN_MS;
    },
  ],
  ['LIFEBOAT_NO_FINDINGS', ({ findings }) => findings.length === 0],
  ['LIFEBOAT_NO_WAIVERS', ({ findings }) => findings.every(({ waivedUntil }) => waivedUntil === undefined)],
];

/** The names of all properties, in the order of a statement. */
export const ALL_PROPERTIES: readonly string[] = PROPERTIES.map(([name]) => name);

/**
 * What holds by evaluations on record, at least one: a property is named only if each of them has it. The
 * time is that of the oldest of them, since nothing later is on record of it. `text` is the exact text of
 * `evaluation.json`; `installation` (16 hex digits) is the one that signs. Pure.
 */
export function evaluationStatementOf(
  evaluations: readonly RecordedEvaluation[],
  text: string,
  installation: string,
): EvaluationStatement {
  const properties = PROPERTIES.flatMap(([name, has]) => {
    const held = evaluations.flatMap((one) => has(one) ?? []);
    return held.length > 0 && held.every(Boolean) ? [name] : [];
  });
  const [oldest = ''] = evaluations.map(({ at }) => at).toSorted();
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{ name: EVALUATION_FILE, digest: { sha256: hash('sha256', text) } }],
    predicateType: SVR,
    predicate: {
      // The checks and their periods are those of the config, which is no file that others have.
      verifier: { id: `urn:lifeboat:installation:${installation}`, policies: [] },
      timeCreated: oldest,
      properties,
    },
  };
}
