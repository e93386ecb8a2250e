import { stillOwed } from '../parts/obligation.ts';
import type { Closing } from '../parts/runbook.ts';
import type { RecoveryContext } from './context.ts';
import { factsOf } from './facts.ts';
import { isRestored, restoredElsewhen, restoredName } from './weigh.ts';

/** What a finished restore says of itself. Only what the service said of it in this run makes it proven. */
export function closingOfRestore(context: RecoveryContext, finalState: string): Closing {
  const base = { summary: factsOf(context), deviations: deviationsOf(context) };
  if (finalState === 'stopped')
    return { outcome: 'stopped', proven: false, title: stoppedTitle(context), ...base };
  const proven = finalState === 'done' && isRestored(context) && stillOwed(context.obligations).length === 0;
  if (proven) {
    const isUncounted = context.afterwards?.failure !== undefined;
    const title = `${restoredName(context)} is restored, and nothing is owed`;
    return {
      outcome: 'done',
      proven,
      title: isUncounted ? `${title}; the restored data could not be asked` : title,
      ...base,
    };
  }
  return { outcome: 'done-unproven', proven: false, title: unprovenTitle(context), ...base };
}

/** Everything that went otherwise than the runbook would have it, with the reason. */
function deviationsOf(context: RecoveryContext): { step: string; reason: string }[] {
  const elsewhen = restoredElsewhen(context);
  const { restore, act, afterwards } = context;
  return [
    ...context.skipped,
    ...(restore.outside === undefined
      ? []
      : [{ step: 'restore', reason: `done outside: ${restore.outside}` }]),
    ...(act.outside === undefined ? [] : [{ step: 'act', reason: `done outside: ${act.outside}` }]),
    ...(elsewhen === undefined ? [] : [{ step: 'restore', reason: elsewhen }]),
    ...(afterwards?.failure === undefined
      ? []
      : [{ step: 'count', reason: afterwards.failure.shortMessage }]),
  ];
}

/** What a recovery owes or has owed, for whoever shows the run. */
export function obligationsOf(context: RecoveryContext) {
  return context.obligations;
}

function stoppedTitle(context: RecoveryContext): string {
  const { landed, outside } = context.restore;
  const name = restoredName(context);
  if (landed !== undefined || outside !== undefined)
    return `stopped after a restore was begun; what ${name} holds is not known`;
  if (context.failure?.code.startsWith('doubt.'))
    return `stopped in doubt: whether a restore of ${name} was begun is not known`;
  return `stopped before anything was restored into ${name}`;
}

function unprovenTitle(context: RecoveryContext): string {
  const name = restoredName(context);
  if (context.ready === undefined) return `closed without proof: ${name} is not shown to be available`;
  return `closed without proof: the restore of ${name} is not shown to be done`;
}

/** A closing for a run that restores nothing. */
export function plainClosing(
  context: RecoveryContext,
  finalState: string,
  titles: { readonly done: string; readonly unproven: string; readonly stopped: string },
  isProven: boolean,
): Closing {
  const base = { summary: factsOf(context), deviations: deviationsOf(context) };
  if (finalState === 'stopped') return { outcome: 'stopped', proven: false, title: titles.stopped, ...base };
  if (isProven) return { outcome: 'done', proven: true, title: titles.done, ...base };
  return { outcome: 'done-unproven', proven: false, title: titles.unproven, ...base };
}
