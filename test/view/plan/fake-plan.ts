import type { PlanInput } from '../../../machines/parts/plan.ts';
import { type GroupData, type GroupState, NEW_GROUP } from '../../../machines/parts/plan-events.ts';
import type { Question } from '../../../machines/parts/question.ts';
import type { PlanContext } from '../../../machines/plan.ts';
import type { ShownChild } from '../../../src/plans/conductor-port.ts';
import { readPlan } from '../../../src/plans/plan-file.ts';
import { resolvePlan } from '../../../src/plans/resolve.ts';
import { type PlanFold, planView } from '../../../src/view/plan/build-plan-view.ts';
import { surroundingsWith } from '../../plans/surroundings.ts';

export const NOW_MS = Date.parse('2026-03-10T12:00:00Z');

const PLAN = `plan: west
objectives: { rto: 30m }
groups:
  - id: data
    for: { name: "db-*", role: source, target: "{name}-dr" }
    waves: [2, 4]
    stopWhen: { failed: 2 }
    steps:
      - { id: recover, runbook: disaster-recovery, undo: none; the source stays }
      - { id: look, manual: { do: look at the application }, undo: none; only reading }
  - id: notice
    after: [data]
    steps:
      - { id: tell, manual: { do: tell the customers }, undo: none; it is said }
healthy: [{ tcp: "127.0.0.1:5432" }]
`;

function inputOf(instances: number, due: string): PlanInput {
  const given = PLAN.replace('do: look at the application', `do: look at the application, due: ${due}`);
  const { plan, text, sha256 } = readPlan(given, 'plans/west.yaml');
  const { groups } = resolvePlan(plan, surroundingsWith(instances));
  const { groups: _, ...rest } = plan;
  return { plan: rest, groups, text, sha256, rehearsal: true, source: 'up' };
}

/**
 * The run of a plan in which the group `data` recovers this many instances, two of them in its first wave.
 */
export function foldOf(
  given: {
    readonly instances?: number;
    /** The time that a person has for the step `look`. */
    readonly due?: string;
    readonly state?: GroupState;
    readonly data?: Partial<GroupData>;
    readonly children?: readonly ShownChild[];
    readonly question?: Question;
  } & Partial<PlanFold> = {},
): PlanFold {
  const { instances = 6, due = '1d', state = 'running', data, children = [], question, ...more } = given;
  const context: PlanContext = {
    input: inputOf(instances, due),
    source: 'up',
    lanes: [],
    approved: 0,
    confirmed: ['data'],
    groups: { data: { ...NEW_GROUP, waves: 1, ...data } },
    results: [],
  };
  return {
    runId: '01M8FW8BVJPAPS4X6BB5E99XD4',
    snapshot: { value: { groups: { data: state, notice: 'waiting' } }, context },
    title: 'recover group by group',
    question,
    children,
    startedMs: NOW_MS - 600_000,
    outcome: undefined,
    nowMs: NOW_MS,
    whom: 'you',
    ...more,
  };
}

export const viewOf = (given: Parameters<typeof foldOf>[0] = {}) => planView(foldOf(given));

/** The run of a step on an instance; `recover` on db-1 at work by default. */
export function childOf(lane: string, given: Partial<ShownChild> = {}): ShownChild {
  return {
    group: 'data',
    step: 'recover',
    lane,
    attempt: 1,
    state: 'at-work',
    runId: `RUN-${lane}-${given.step ?? 'recover'}`,
    where: 'restoring the backup',
    sinceMs: NOW_MS - 240_000,
    question: undefined,
    isAnswered: false,
    problem: undefined,
    isPaused: false,
    isInDoubt: false,
    isLeft: false,
    ...given,
  };
}

/** A failure of an instance, which asks what to do about it. */
export function failureOf(lane: string, why = 'no answer within 20 s'): ShownChild {
  const question: Question = {
    kind: 'choice',
    prompt: `the restore of ${lane}-dr failed: ${why}`,
    options: [
      { event: { type: 'operator.tryAgain' }, label: `restore ${lane}-dr again`, recommended: true },
      {
        event: { type: 'operator.stop' },
        label: 'stop here',
        needs: { what: 'reason', prompt: 'why is it stopped?' },
      },
    ],
  };
  return childOf(lane, { state: 'failing', question });
}
