import { leftUnbound, type Obligation, stillOwed, unboundWords } from '../parts/obligation.ts';
import type { Closing } from '../parts/runbook.ts';
import type { RecoveryContext } from './context.ts';
import { factsOf } from './facts.ts';
import { withDuties } from './obligations.ts';
import { isRecovered, isRestored, restoredElsewhen, restoredName, restoredSide } from './weigh.ts';

/**
 * What a finished restore says of itself. Only what the service said of it in this run makes it proven, and only when nothing that used the
 * data before was left without it.
 */
export function closingOfRestore(context: RecoveryContext, finalState: string): Closing {
  const base = { summary: factsOf(context), deviations: deviationsOf(context) };
  if (finalState === 'stopped')
    return { outcome: 'stopped', proven: false, title: stoppedTitle(context), ...base };
  const proven = finalState === 'done' && isRecovered(context) && stillOwed(context.obligations).length === 0;
  if (proven) {
    const isUncounted = context.afterwards?.failure !== undefined;
    const title = `${restoredName(context)} is restored, and ${nothingOwed(context)}`;
    return {
      outcome: 'done',
      proven,
      title: isUncounted ? `${title}; the restored data could not be asked` : title,
      ...base,
    };
  }
  return { outcome: 'done-unproven', proven: false, title: unprovenTitle(context), ...base };
}

/** What was skipped is not owed any more, and was not done either. */
function nothingOwed({ obligations }: RecoveryContext): string {
  const skipped = obligations.filter(({ settled }) => settled?.how === 'skipped').length;
  return skipped === 0 ? 'nothing is owed' : `nothing is owed any more: ${skipped} skipped`;
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

/**
 * What a recovery owes or has owed. With the state that a run was left in, also what will be owed when the restore is done that it has, or may
 * have, asked for: whoever finds the run so, or gives it up, must not read that nothing is owed.
 */
export function obligationsOf(context: RecoveryContext, state?: string): readonly Obligation[] {
  const isOpened = context.obligations.some(({ kind }) => kind !== 'release-updates');
  // A target whose restore has failed is bound to nothing, and nothing shall be bound to it.
  const isVain = state === 'restoreBroken' && restoredSide(context) === 'target';
  if (isOpened || isVain || !RESTORE_MAY_RUN.includes(state ?? '')) return context.obligations;
  const { obligations = [] } = withDuties(context);
  if (context.restore.restore?.finishedAt !== undefined) return obligations;
  return obligations.map(({ since: _, ...obligation }) => obligation);
}

/** From the one send of a restore until what is owed after it is known. */
const RESTORE_MAY_RUN = [
  ...['restoring', 'restoreInDoubt', 'waitingForRestore', 'restoreWaitFailed', 'restoreBroken'],
  ...['waitingForInstance', 'instanceFailed', 'instanceUnsaid', 'countingAfter', 'countingAfterFailed'],
  ...['listingDuties', 'dutiesFailed'],
];

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
  const unbound = leftUnbound(context.obligations);
  if (isRestored(context) && unbound.length > 0)
    return `closed without proof: ${name} is restored, but ${unboundWords(unbound)}`;
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
