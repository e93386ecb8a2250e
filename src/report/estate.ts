import * as z from 'zod';
import type { FollowUp } from '../../machines/parts/follow-up.ts';
import { isOverdue } from '../../machines/parts/unfinished.ts';
import { msOf } from '../base/instant.ts';
import type { Ledger } from '../store/projections/ledgers.ts';
import type { Report } from './model/model.ts';

const seconds = z.number();
const Objective = z.object({
  measuredSeconds: seconds.optional(),
  limitSeconds: seconds.optional(),
  result: z.string(),
});

const EstateRun = z.object({
  run: z.string(),
  runbook: z.string(),
  target: z.string().optional(),
  mode: z.string(),
  by: z.string().optional(),
  startedAt: z.string(),
  result: z.enum(['proven', 'not proven', 'open', 'abandoned']),
  /** Only for a run that recovers. */
  rto: Objective.optional(),
  rpo: Objective.optional(),
  deviations: z.int(),
});

const EstateInstance = z.object({
  name: z.string(),
  /** Whether the config names it; the journal may know others. */
  isConfigured: z.boolean(),
  /** The backup that was last opened and read to its end, at any time. */
  proven: z.object({ backup: z.number(), at: z.string(), key: z.string() }).optional(),
  /** The key recorded as being in force. */
  key: z.object({ fingerprint: z.string(), since: z.string().optional() }).optional(),
  /** When the recovery card was made; without one, a lost instance cannot be recovered elsewhere. */
  cardAt: z.string().optional(),
  followUps: z.object({ open: z.int(), overdue: z.int() }),
  /** The runs of the period, oldest first. */
  runs: z.array(EstateRun),
});

/** All instances over a period, from the journal alone. Times RFC 3339, durations in seconds. */
export const Estate = z.object({
  schema: z.literal('lifeboat.estate/1'),
  generatedAt: z.string(),
  since: z.string(),
  instances: z.array(EstateInstance),
});
export type Estate = z.infer<typeof Estate>;
export type EstateInstance = Estate['instances'][number];
export type EstateRun = EstateInstance['runs'][number];

export interface EstateRecord {
  readonly name: string;
  readonly isConfigured: boolean;
  readonly ledger: Pick<Ledger, 'epochs' | 'card' | 'proven'>;
  readonly followUps: readonly FollowUp[];
}

/** The instances in the given order, each with its runs since a moment. Pure. */
export function estateOf(
  records: readonly EstateRecord[],
  reports: readonly Report[],
  { since, now }: { readonly since: Date; readonly now: Date },
): Estate {
  return {
    schema: 'lifeboat.estate/1',
    generatedAt: now.toISOString(),
    since: since.toISOString(),
    instances: records.map(({ name, isConfigured, ledger, followUps }) => {
      const [proven] = ledger.proven;
      const inForce = ledger.epochs.findLast(
        ({ endedAt, state }) => endedAt === undefined && (state === 'set' || state === 'proven'),
      );
      const open = followUps.filter(({ closed }) => closed === undefined);
      return {
        name,
        isConfigured,
        ...(proven && {
          proven: {
            backup: proven.id,
            at: proven.provenAt,
            key: proven.fingerprint,
          },
        }),
        ...(inForce && {
          key: {
            fingerprint: inForce.fingerprint,
            ...(inForce.setAt === undefined ? {} : { since: inForce.setAt }),
          },
        }),
        ...(ledger.card && { cardAt: ledger.card.preparedAt }),
        followUps: { open: open.length, overdue: open.filter((one) => isOverdue(one, now.getTime())).length },
        runs: reports
          .filter(({ run }) => run.instance === name || run.target === name)
          .filter(({ run }) => msOf(run.startedAt) >= since.getTime())
          .toSorted((one, other) => msOf(one.run.startedAt) - msOf(other.run.startedAt))
          .map(runOf),
      };
    }),
  };
}

function runOf({ run, outcome, measured, deviations }: Report): EstateRun {
  const objective = ({ measuredSeconds, limitSeconds, result }: NonNullable<Report['measured']>['rto']) => ({
    ...(measuredSeconds === undefined ? {} : { measuredSeconds }),
    ...(limitSeconds === undefined ? {} : { limitSeconds }),
    result,
  });
  return {
    run: run.id,
    runbook: run.runbook ?? 'unknown',
    ...(run.target === undefined ? {} : { target: run.target }),
    mode: run.mode ?? 'unknown',
    ...(run.operator === undefined ? {} : { by: run.operator }),
    startedAt: run.startedAt ?? 'unknown',
    result: resultOf(outcome),
    ...(measured && { rto: objective(measured.rto), rpo: objective(measured.rpo) }),
    deviations: deviations.length,
  };
}

function resultOf({ status, proven }: Report['outcome']): EstateRun['result'] {
  if (status !== 'closed') return status;
  return proven === true ? 'proven' : 'not proven';
}
