import type { GroupDecision } from '../../../machines/parts/plan-events.ts';
import type { Answer } from '../../../machines/parts/question.ts';
import type { RunEnd } from '../run-port.ts';
import type { LogLine } from '../run-view.ts';
import type { PlanView } from './plan-view.ts';

/** The run of a plan, as its screen sees it: look, listen, answer, decide, leave. */
export interface PlanPort {
  view(): PlanView;
  /** Calls back whenever `view()` would differ, not for the mere passing of time. Gives the unsubscribe. */
  subscribe(listener: () => void): () => void;
  /** Answers the plan's own question. Rejects with a LifeboatError, changing nothing, if it does not fit. */
  answerPlan(answer: Answer): Promise<void>;
  /** Answers the question of the run of a step; likewise. */
  answer(runId: string, answer: Answer): Promise<void>;
  /** A decision about a group or a lane; `order` is for the record. Likewise. */
  decide(event: GroupDecision, order: string): Promise<void>;
  /** Has the run of a step try again what waits for credentials. */
  wake(runId: string): void;
  /** The newest lines of a run on record, the newest last. */
  newest(runId: string): Promise<readonly LogLine[]>;
  /** Leaves the plan and everything under way, resumable. */
  leave(why?: string): Promise<void>;
  /** Rejects with what broke it. */
  readonly ended: Promise<RunEnd>;
}
