import type { AnyMachineSnapshot } from 'xstate';
import { metaAt } from '../../../machines/parts/states.ts';
import type { PlanContext } from '../../../machines/plan.ts';
import { msOf } from '../../base/instant.ts';
import { metaOf, questionOf } from '../../runner/answer.ts';
import { type Entry, fieldsOf, type JournalReader } from '../../store/journal.ts';
import { isEnd } from '../../store/run-entries.ts';
import { planView } from '../../view/plan/build-plan-view.ts';
import type { PlanOutcome, PlanPort } from '../../view/plan/plan-view.ts';
import { recordOf } from '../../view/run-record.ts';
import type { LogLine } from '../../view/run-view.ts';
import type { DrivenPlan } from './drive-plan.ts';

const NEWEST = 50;

/** For the screen of a plan's run that this process drives. `driving`: the result of `conductor.run`. */
export function planPortOf(
  { run, conductor }: DrivenPlan,
  journal: Pick<JournalReader, 'read'>,
  driving: Promise<void>,
): PlanPort {
  return {
    view: () => {
      const { runId, snapshot, entries } = run.state();
      return planView({
        runId,
        snapshot,
        title: titleOf(snapshot),
        question: questionOf(snapshot),
        children: conductor.children(),
        startedMs: msOf((snapshot.context as PlanContext).input.incidentAt ?? entries[0]?.at),
        outcome: outcomeOf(entries),
        nowMs: Date.now(),
        whom: 'you',
      });
    },
    subscribe: (listener) => conductor.subscribe(listener),
    answerPlan: (answer) => run.answer(answer),
    answer: (runId, answer) => conductor.answer(runId, answer),
    decide: (event, order) => conductor.decide(event, order),
    wake: (runId) => conductor.wake(runId),
    newest: (runId) => newestOf(journal, runId),
    leave: async (why = '') => conductor.leave(why),
    ended: driving.then(() => run.ended),
  };
}

/** The newest lines of a run on record, the newest last. */
export async function newestOf(
  journal: Pick<JournalReader, 'read'>,
  runId: string,
): Promise<readonly LogLine[]> {
  return recordOf(await journal.read(`run/${runId}`)).log.slice(-NEWEST);
}

/** The title of its phase: while several groups are at work, no single state has one. */
export function titleOf(snapshot: AnyMachineSnapshot): string {
  const value: unknown = snapshot.value;
  const [phase] = typeof value === 'object' && value !== null ? Object.keys(value) : [];
  const stepped = ['groups', 'healthy', 'finally'].find((one) => one === phase);
  const meta = stepped === undefined ? metaOf(snapshot) : metaAt(snapshot.machine, stepped);
  return meta?.title ?? '';
}

/** How the run of a plan ended, from its record; undefined while it is open. */
export function outcomeOf(entries: readonly Entry[]): PlanOutcome | undefined {
  const closing = entries.find(isEnd);
  if (closing === undefined) return undefined;
  const { title, outcome, reason } = fieldsOf(closing.body);
  return {
    title: typeof title === 'string' ? title : typeof reason === 'string' ? `abandoned: ${reason}` : 'over',
    tone: outcome === 'done' ? 'good' : 'warn',
    endedMs: msOf(closing.at),
  };
}
