import { type Entry, fieldsOf } from '../../store/journal.ts';
import { readRunEntry } from '../../store/run-entries.ts';
import type { PlanDeviation } from './plan-report.ts';

/** Something that happened to a plan's run, with the person or process that made it happen. */
export interface PlanMoment {
  readonly at: string;
  readonly by: string;
  readonly type: string;
  readonly event: Readonly<Record<string, unknown>>;
}

/**
 * The events of a plan's run in order. A decision of another process counts as that of its writer: `wishes`
 * are the entries of `plan/RUN`. Pure.
 */
export function planMoments(entries: readonly Entry[], wishes: readonly Entry[]): readonly PlanMoment[] {
  const writers = new Map(wishes.map(({ seq, by }) => [seq, by]));
  let wish: unknown;
  return entries.flatMap((entry) => {
    if (entry.type === 'answer') {
      wish = fieldsOf(entry.body)['wish'];
      return [];
    }
    const read = readRunEntry(entry);
    if (read?.type !== 'event') return [];
    const { event } = read.body;
    const by = typeof wish === 'number' ? (writers.get(wish) ?? entry.by) : entry.by;
    wish = undefined;
    return [{ at: entry.at, by, type: event.type, event }];
  });
}

export function wordIn({ event }: Pick<PlanMoment, 'event'>, field: string): string {
  const value = event[field];
  return typeof value === 'string' ? value : '';
}

/** Whether an entry continues the lanes of the evaluation before it. */
export function isContinued({ event }: PlanMoment): boolean {
  return typeof event['from'] === 'number' && event['from'] > 0;
}

/** The lanes that an event names; of an evaluation, those with a problem, each as `group/lane`. */
export function lanesIn({ event }: Pick<PlanMoment, 'event'>): readonly string[] {
  const { lanes } = event;
  if (!Array.isArray(lanes)) return [];
  return lanes.flatMap((lane: unknown) => {
    if (typeof lane === 'string') return [lane];
    const { group, lane: name, problem } = fieldsOf(lane);
    return problem === undefined ? [] : [`${String(group)}/${String(name)}`];
  });
}

/** Decisions of people against the plan, or beside it. Pure. */
export function planDeviations(moments: readonly PlanMoment[]): readonly PlanDeviation[] {
  let problems: readonly string[] = [];
  const held = new Map<string, PlanMoment>();
  return moments.flatMap((moment): PlanDeviation[] => {
    const { at, by, type } = moment;
    const [group, lane, step, reason] = ['group', 'lane', 'step', 'text'].map((field) =>
      wordIn(moment, field),
    );
    const say = (kind: PlanDeviation['kind'], what: string, because = reason ?? ''): PlanDeviation => ({
      at,
      by,
      kind,
      what,
      reason: because,
    });
    const place = `${group}/${lane}`;
    switch (type) {
      case 'plan.looked':
      case 'plan.evaluated':
        problems = isContinued(moment) ? [...problems, ...lanesIn(moment)] : lanesIn(moment);
        return [];
      case 'operator.leaveOut':
        return problems.map((one) => say('taken out', one));
      case 'operator.goOnRegardless':
        return problems.map((one) => say('went on regardless', one));
      case 'operator.takeOut':
        return [say('taken out', place)];
      case 'operator.takeUp':
        return [say('taken up again', place)];
      case 'operator.skipStep':
        return [say('skipped', `${place}/${step}`)];
      case 'operator.doneOutside':
        return [say('done outside', `${place}/${step}`)];
      case 'operator.tryAgain':
        return [say('tried again', `${place}/${step}`)];
      case 'group.held':
        held.set(group ?? '', moment);
        return [];
      case 'operator.pauseGroup':
        held.delete(group ?? '');
        return [say('paused', group ?? '')];
      case 'operator.resumeGroup': {
        const before = held.get(group ?? '');
        held.delete(group ?? '');
        if (before === undefined || wordIn(before, 'why') === 'promotion') return [];
        return lanesIn(before).map((one) =>
          say('continued without', `${group}/${one}`, 'it failed, and the group continued without it'),
        );
      }
      case 'operator.stopGroup':
        return [say('stopped', group ?? '')];
      case 'operator.stop':
        return [say('stopped', 'the plan')];
      case 'operator.setSource':
        return [say('source changed', `the source is ${wordIn(moment, 'source')}`)];
      default:
        return [];
    }
  });
}
