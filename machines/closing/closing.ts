import type { RunContext } from '../context.ts';
import type { FollowUp } from '../parts/follow-up.ts';
import type { Closing } from '../parts/runbook.ts';
import { landedOf } from '../parts/task-data.ts';
import { replacesData } from '../parts/touches.ts';
import { leftUnbound, stillOpen, unboundWords } from '../parts/unfinished.ts';
import { sentOf } from '../phases/once.ts';
import { withBound } from '../phases/open-follow-ups.ts';
import {
  besideNotes,
  hasActed,
  isRecovered,
  isReplaced,
  isRestored,
  restoredName,
  restoredToAnotherTime,
  touchesOfRun,
} from './evaluate.ts';
import { factGroupsOf } from './facts.ts';

/** Proven only by what the service said in this run, and only if nothing that used the data lacks it now. */
export function closingOfRestore(context: RunContext, finalState: string): Closing {
  const base = { summary: factGroupsOf(context), deviations: deviationsOf(context) };
  if (finalState === 'stopped') {
    const unknown = sentOf(context.restore) === undefined ? {} : { unknown: restoredName(context) };
    return { outcome: 'stopped', proven: false, title: stoppedTitle(context), ...base, ...unknown };
  }
  const proven =
    finalState === 'done' && isRecovered(context) && stillOpen(context.followUps.list).length === 0;
  if (proven) {
    const isUncounted = context.count.counted?.failure !== undefined;
    const title = `${restoredName(context)} is restored, and ${noneOpen(context)}`;
    return {
      outcome: 'done',
      proven,
      title: isUncounted ? `${title}; the restored data could not be queried` : title,
      ...base,
    };
  }
  return { outcome: 'done-unproven', proven: false, title: unprovenTitle(context), ...base };
}

function noneOpen({ followUps: { list } }: RunContext): string {
  const skipped = list.filter(({ closed }) => closed?.how === 'skipped').length;
  return skipped === 0 ? 'no follow-up is open' : `no follow-up is open (${skipped} skipped)`;
}

export function deviationsOf(context: RunContext): { step: string; reason: string }[] {
  const otherTime = restoredToAnotherTime(context);
  const { restore, act, updates } = context;
  const failed = context.count.counted?.failure;
  return [
    // An update setting that the service does not offer is no deviation.
    ...context.skipped.filter(({ step }) => step !== 'freeze' || updates.changeable?.changeable !== false),
    ...(restore.outside === undefined
      ? []
      : [{ step: 'restore', reason: `done outside: ${restore.outside}` }]),
    ...(act.outside === undefined ? [] : [{ step: 'act', reason: `done outside: ${act.outside}` }]),
    ...besideNotes(context),
    ...(otherTime === undefined ? [] : [{ step: 'restore', reason: otherTime }]),
    ...(failed === undefined ? [] : [{ step: 'count', reason: failed.shortMessage }]),
  ];
}

/** While a restore may be under way, includes the follow-ups that it will leave. */
export function followUpsOf(context: RunContext, mayBeSent: boolean): readonly FollowUp[] {
  if (!mayBeSent || context.followUps.isOpened) return context.followUps.list;
  const followUps = withBound(context);
  if (context.restore.restore?.finishedAt !== undefined) return followUps;
  return followUps.map(({ since: _, ...followUp }) => followUp);
}

/** Counts all sends of the run: a later one does not undo what an earlier one may have done. */
function stoppedTitle(context: RunContext): string {
  const name = restoredName(context);
  const sent = sentOf(context.restore);
  if (sent === 'accepted') return `stopped after a restore was started; what ${name} holds is not known`;
  if (sent === 'in-doubt') return `stopped in doubt: a restore of ${name} may have started`;
  return `stopped before anything was restored into ${name}`;
}

function unprovenTitle(context: RunContext): string {
  const name = restoredName(context);
  if (context.available.ready === undefined)
    return `closed without proof: ${name} is not shown to be available`;
  const unbound = leftUnbound(context.followUps.list);
  if (isRestored(context) && unbound.length > 0)
    return `closed without proof: ${name} is restored, but ${unboundWords(unbound)}`;
  if (isRestored(context) && isReplaced(context))
    return `closed without proof: another restore of ${name} came beside the one that was sent`;
  return `closed without proof: the restore of ${name} is not shown to be done`;
}

function plainClosing(
  context: RunContext,
  finalState: string,
  titles: { readonly done: string; readonly unproven: string; readonly stopped: string },
  isProven: boolean,
): Closing {
  const base = { summary: factGroupsOf(context), deviations: deviationsOf(context) };
  if (finalState === 'stopped') return { outcome: 'stopped', proven: false, title: titles.stopped, ...base };
  if (isProven) return { outcome: 'done', proven: true, title: titles.done, ...base };
  return { outcome: 'done-unproven', proven: false, title: titles.unproven, ...base };
}

export function closingOfRecovery(context: RunContext, finalState: string): Closing {
  if (replacesData(touchesOfRun(context))) return closingOfRestore(context, finalState);
  const { instance } = context.run;
  const titles = {
    done: `${instance} has a recovery card with a proven backup`,
    unproven: `${instance} has a recovery card; no backup of it is proven`,
    stopped:
      context.key.setting === undefined
        ? 'stopped; no card was made'
        : 'stopped after the key was changed; no card was made',
  };
  const isProven = finalState !== 'stopped' && context.card.card?.proven !== undefined;
  return plainClosing(context, finalState, titles, isProven);
}

export function closingOfBackup(context: RunContext, finalState: string): Closing {
  const landed = landedOf(context.backup);
  const titles = {
    done: `backup ${landed?.id} is proven`,
    unproven: `closed without proof: backup ${landed?.id} is not shown to be good`,
    stopped: stoppedBackupTitle(context),
  };
  const isProven = finalState === 'done' && context.proof.verification !== undefined;
  return plainClosing(context, finalState, titles, isProven);
}

function stoppedBackupTitle({ backup, run }: RunContext): string {
  const sent = sentOf(backup);
  if (sent === 'in-doubt') return `stopped in doubt: a backup of ${run.instance} may have been taken`;
  return sent === undefined ? 'stopped; no backup was taken' : 'stopped; the backup is unproven';
}

export function closingOfAction(context: RunContext, finalState: string): Closing {
  const { run, available } = context;
  const { instance, action } = run;
  const { reason: evidence } = available.ready ?? {};
  const because = evidence === undefined ? '' : `: ${evidence}`;
  const titles = {
    done: `the ${action} of ${instance} is done${because}`,
    unproven: `closed without proof: the ${action} of ${instance} is not shown to be done`,
    stopped: stoppedActionTitle(context),
  };
  return plainClosing(context, finalState, titles, finalState === 'done' && hasActed(context));
}

function stoppedActionTitle({ act, run }: RunContext): string {
  const what = `the ${run.action} of ${run.instance}`;
  const sent = sentOf(act);
  if (sent === 'in-doubt') return `stopped in doubt: ${what} may have started`;
  return sent === undefined ? `stopped before ${what}` : `stopped after ${what} was started`;
}

/** Whether the service said that it is simulated: there is no data behind it. */
function isSimulated({ preflight, backup, restore, available }: RunContext): boolean {
  const facts = [preflight.facts, backup.backup, restore.restore, available.ready];
  return facts.some((fact) => fact?.simulated === true);
}

/** A run on a simulated service proves nothing. */
export function unlessSimulated(context: RunContext, closing: Closing): Closing {
  if (!isSimulated(context)) return closing;
  if (!closing.proven) return { ...closing, simulated: true };
  const title = 'came to its end on a simulated service, so nothing is proven';
  return { ...closing, proven: false, title, simulated: true };
}
