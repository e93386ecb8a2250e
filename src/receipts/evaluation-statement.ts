import { hash } from 'node:crypto';
import * as z from 'zod';
import { Finding } from '../store/projections/evaluations.ts';
import { Statement } from './statement.ts';

/** The type of the statement about evaluations: an in-toto Simple Verification Result. */
export const SVR = 'https://in-toto.io/attestation/svr/v0.1';
/** The name of its only subject. */
export const EVALUATION_FILE = 'evaluation.json';

export const EvaluationStatement = z.object({
  ...Statement.pick({ _type: true, subject: true }).shape,
  predicateType: z.literal(SVR),
  predicate: z.object({
    verifier: z.object({ id: z.string() }),
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
});
export type RecordedEvaluation = Readonly<z.infer<typeof Recorded>>;

/** The file that a receipt of evaluations is about. */
export const EvaluationRecord = z.object({
  schema: z.literal('lifeboat.evaluation-record/1'),
  evaluations: z.array(Recorded).min(1),
});

/** A property of evaluations, with the condition under which one of them has it. */
const PROPERTIES: readonly (readonly [string, (of: RecordedEvaluation) => boolean])[] = [
  ['LIFEBOAT_RECOVERABLE', ({ verdict }) => verdict === 'proven' || verdict === 'ready'],
  ['LIFEBOAT_PROVEN', ({ verdict }) => verdict === 'proven'],
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
  const properties = PROPERTIES.filter(([, has]) => evaluations.every(has)).map(([name]) => name);
  const [oldest = ''] = evaluations.map(({ at }) => at).toSorted();
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{ name: EVALUATION_FILE, digest: { sha256: hash('sha256', text) } }],
    predicateType: SVR,
    predicate: {
      verifier: { id: `urn:lifeboat:installation:${installation}` },
      timeCreated: oldest,
      properties: evaluations.length === 0 ? [] : properties,
    },
  };
}
