import type { Measured, Report } from '../model/model.ts';

/**
 * What the report of a plan takes from that of a run it started: of ten thousand runs no more is in memory at
 * once.
 */
export interface ChildReport extends Pick<Report, 'alarms' | 'approvals' | 'deviations' | 'reconciliation'> {
  readonly operator: string | undefined;
  /** The time of its newest entry. */
  readonly lastAt: string | undefined;
  readonly checks: readonly Pick<Report['checks'][number], 'at' | 'what' | 'verdict' | 'good'>[];
  readonly followUps: readonly Pick<Report['followUps'][number], 'what' | 'owner' | 'closed'>[];
  readonly measured: Pick<Measured, 'restores' | 'rpo' | 'point'> | undefined;
}

export function childReport(report: Report): ChildReport {
  const { alarms, approvals, deviations, checks, reconciliation, measured, run } = report;
  return {
    ...{ alarms, approvals, deviations, reconciliation },
    operator: run.operator,
    lastAt: report.entries.at(-1)?.at,
    // Of the details of a check the plan says nothing: they would take a fifth of its memory.
    checks: checks.map(({ at, what, verdict, good }) => ({ at, what, verdict, good })),
    followUps: report.followUps.map(({ what, owner, closed }) => ({ what, owner, closed })),
    measured: measured && { restores: measured.restores, rpo: measured.rpo, point: measured.point },
  };
}
