import type { Measured, Report } from '../model/model.ts';

/**
 * What the report of a plan takes from that of a run it started: of ten thousand runs no more is in memory at
 * once.
 */
export interface ChildReport
  extends Pick<Report, 'alarms' | 'approvals' | 'deviations' | 'checks' | 'reconciliation'> {
  readonly operator: string | undefined;
  /** The time of its newest entry. */
  readonly lastAt: string | undefined;
  readonly followUps: readonly Pick<Report['followUps'][number], 'what' | 'owner' | 'closed'>[];
  readonly measured: Pick<Measured, 'restores' | 'rpo' | 'point'> | undefined;
}

export function childReport(report: Report): ChildReport {
  const { alarms, approvals, deviations, checks, reconciliation, measured, run } = report;
  return {
    ...{ alarms, approvals, deviations, checks, reconciliation },
    operator: run.operator,
    lastAt: report.entries.at(-1)?.at,
    followUps: report.followUps.map(({ what, owner, closed }) => ({ what, owner, closed })),
    measured: measured && { restores: measured.restores, rpo: measured.rpo, point: measured.point },
  };
}
