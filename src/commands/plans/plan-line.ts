import { formatTime } from '../../base/format.ts';
import type { Evaluation, PlanEvaluation } from '../../plans/evaluation-schema.ts';
import { VERDICT_WORDS } from '../../view/app/status-cells.ts';

/** `plan west: NOT READY: db-3: there is no backup (2 PROVEN, 1 NOT READY)`. */
export function planLine({ plan, verdict, since, reason, counts }: PlanEvaluation): string {
  const instances = Object.entries(VERDICT_WORDS)
    .flatMap(([of, word]) => {
      const count = counts[of as keyof typeof counts];
      return count === 0 ? [] : [`${count} ${word}`];
    })
    .join(', ');
  return `plan ${plan}: ${verdictSince({ verdict, since })}: ${reason}${instances === '' ? '' : ` (${instances})`}`;
}

/** `READY since 2026-03-01 10:00:00 UTC`. */
export function verdictSince({ verdict, since }: Pick<Evaluation, 'verdict' | 'since'>): string {
  return `${VERDICT_WORDS[verdict]}${since === undefined ? '' : ` since ${formatTime(since)} UTC`}`;
}
