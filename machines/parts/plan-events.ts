import type { ApprovalExpired } from './approval-question.ts';

/*
 * The events of a plan's run. Those without `operator.` come from the process that drives it: they say what
 * it has seen of the children, and are on record before anything follows from them. The others are decisions
 * of people.
 */

export type HeldWhy = 'stop-rule' | 'failed' | 'promotion' | 'person';

/** As the machine names them. */
export type GroupState = 'waiting' | 'running' | 'held' | 'stopping' | 'done' | 'stopped' | 'notRun';

export type GroupEvent =
  | { readonly type: 'group.begun'; readonly group: string }
  | { readonly type: 'wave.begun'; readonly group: string; readonly wave: number }
  | {
      readonly type: 'group.held';
      readonly group: string;
      readonly why: Exclude<HeldWhy, 'person'>;
      readonly lanes: readonly string[];
    }
  | { readonly type: 'group.stopping'; readonly group: string; readonly lanes: readonly string[] }
  | { readonly type: 'group.ended'; readonly group: string; readonly how: 'done' | 'stopped' | 'not-run' };

export interface LaneFacts {
  readonly group: string;
  readonly lane: string;
  /** Known about the target; compared before it is overwritten. */
  readonly seen?: string | undefined;
  /** One sentence. */
  readonly problem?: string | undefined;
}

/** A lane counts as not run if it never began, or did not come to its end. */
export interface GroupResult {
  readonly group: string;
  readonly done: number;
  readonly failed: number;
  readonly notRun: number;
  /** How many of its steps ran on a simulated service; missing where none did. */
  readonly simulated?: number | undefined;
}

export type GroupDecision =
  | { readonly type: 'operator.pauseGroup'; readonly group: string; readonly text: string }
  | { readonly type: 'operator.resumeGroup'; readonly group: string }
  | { readonly type: 'operator.stopGroup'; readonly group: string; readonly text: string }
  | LaneDecision;

type LaneDecision = { readonly group: string; readonly lane: string } & (
  | { readonly type: 'operator.takeOut'; readonly text: string }
  | { readonly type: 'operator.takeUp' }
  | { readonly type: 'operator.tryAgain'; readonly step: string }
  | { readonly type: 'operator.skipStep'; readonly step: string; readonly text: string }
  | { readonly type: 'operator.doneOutside'; readonly step: string; readonly text: string }
);

export type PlanEvent =
  | GroupEvent
  | GroupDecision
  /** Some lanes of an evaluation, from number `from` on; more follow, because an entry has a size limit. */
  | { readonly type: 'plan.looked'; readonly from: number; readonly lanes: readonly LaneFacts[] }
  | { readonly type: 'plan.evaluated'; readonly from?: number; readonly lanes: readonly LaneFacts[] }
  | ApprovalExpired
  | { readonly type: 'plan.recorded'; readonly results: readonly GroupResult[] }
  | { readonly type: 'operator.evaluateAgain' }
  | { readonly type: 'operator.leaveOut'; readonly text: string }
  | { readonly type: 'operator.goOnRegardless'; readonly text: string }
  | { readonly type: 'operator.confirm'; readonly typed: string }
  | { readonly type: 'operator.setSource'; readonly source: 'up' | 'down' }
  | { readonly type: 'operator.stop'; readonly text?: string };

export interface GroupData {
  readonly waves: number;
  readonly promoted: number;
  /** Lanes that a person took out, with the reason. */
  readonly out: Readonly<Record<string, string>>;
  /** Steps that a person passed, by `lane/step`. */
  readonly passed: Readonly<
    Record<string, { readonly how: 'skipped' | 'done-outside'; readonly text: string }>
  >;
  /** The attempt that counts, by `lane/step`; 1 where nothing is said. */
  readonly attempts: Readonly<Record<string, number>>;
  /** Failed lanes without which a person lets the group continue. */
  readonly accepted: readonly string[];
  readonly ended?: 'done' | 'stopped' | 'not-run' | undefined;
  readonly held?:
    | { readonly why: HeldWhy; readonly lanes: readonly string[]; readonly text?: string }
    | undefined;
}

export const NEW_GROUP: GroupData = {
  waves: 0,
  promoted: 0,
  out: {},
  passed: {},
  attempts: {},
  accepted: [],
};

export function afterEvent(data: GroupData, event: PlanEvent): GroupData {
  switch (event.type) {
    case 'wave.begun':
      return { ...data, waves: event.wave };
    case 'group.held':
      return { ...data, held: { why: event.why, lanes: event.lanes } };
    case 'group.ended':
      return { ...data, ended: event.how };
    case 'operator.pauseGroup':
      return { ...data, held: { why: 'person', lanes: [], text: event.text } };
    case 'operator.resumeGroup':
      return resumed(data);
    case 'operator.takeOut':
      return { ...data, out: { ...data.out, [event.lane]: event.text } };
    case 'operator.takeUp': {
      const { [event.lane]: _, ...out } = data.out;
      return { ...data, out };
    }
    case 'operator.tryAgain': {
      const key = `${event.lane}/${event.step}`;
      const attempts = { ...data.attempts, [key]: (data.attempts[key] ?? 1) + 1 };
      return { ...data, attempts, accepted: data.accepted.filter((lane) => lane !== event.lane) };
    }
    case 'operator.skipStep':
    case 'operator.doneOutside': {
      const how = event.type === 'operator.skipStep' ? 'skipped' : 'done-outside';
      return {
        ...data,
        passed: { ...data.passed, [`${event.lane}/${event.step}`]: { how, text: event.text } },
      };
    }
    default:
      return data;
  }
}

/** Without the lanes that held it, or with the wave that a person lets begin. */
function resumed({ held, ...data }: GroupData): GroupData {
  if (held?.why === 'promotion') return { ...data, promoted: data.waves + 1 };
  return { ...data, accepted: [...new Set([...data.accepted, ...(held?.lanes ?? [])])] };
}
