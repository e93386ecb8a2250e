import { type Check, NO_INSTANCE, type Step } from '../../../machines/parts/plan.ts';
import { formatSeconds } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { Start } from '../../plans/schedule.ts';

export function stepInWords(step: Step): string {
  switch (step.kind) {
    case 'runbook': {
      const { phase, action } = step.with;
      return [step.runbook, phase, action].filter((word) => word !== undefined).join(' ');
    }
    case 'check':
      return `check ${checkInWords(step.check)}`;
    case 'manual':
      return `by hand${step.manual.owner === undefined ? '' : ` (${step.manual.owner})`}: ${step.manual.do}`;
    case 'approve':
      return `approval by ${step.approve.quorum} within ${formatSeconds(step.approve.within / 1000)}`;
    case 'command':
      return `${step.command.kind === 'once' ? 'command, sent once' : 'command'}: ${step.command.argv.join(' ')}`;
    case 'notify':
      return `tell ${step.notify.to ?? 'all targets'}`;
    case 'wait':
      return `wait ${formatSeconds(step.wait / 1000)}`;
  }
}

function checkInWords({ http, sql, tcp, command }: Check): string {
  return (
    http ??
    (sql === undefined ? undefined : `by psql: ${sql}`) ??
    tcp ??
    command?.join(' ') ??
    'the data (reconcile)'
  );
}

export function leftWords(
  { group, lane, step }: Pick<Start, 'group' | 'lane' | 'step'>,
  { runId, asks }: { readonly runId: string; readonly asks?: string | undefined },
): string {
  const place = lane === NO_INSTANCE ? `${group}/${step}` : `${group}/${lane}/${step}`;
  return `${show(place, 200)}, run ${runId}${asks === undefined ? '' : `, asks: ${show(asks, 200)}`}`;
}
