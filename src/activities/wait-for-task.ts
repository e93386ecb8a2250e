import type { ActivityContext, ActivityResult } from './activity.ts';
import type { Task } from './doubt.ts';
import { poll } from './poll.ts';
import { no, ok } from './results.ts';

/** A task that is waited for, and how its end is told. */
export interface Awaited<Row extends Task, Facts> {
  readonly kind: 'backup' | 'restore';
  readonly id: number;
  readonly look: () => Promise<Row>;
  readonly facts: (task: Row) => Facts;
  /** What is safe to do when it has failed. */
  readonly hints: readonly string[];
}

/**
 * Polls a task until it is done. Fails with `<kind>.failed` or `<kind>.deleted` when the service says so, and as `poll` does when it
 * cannot be asked: the task itself goes on meanwhile. A status that is not known counts as under way and is shown.
 */
export function waitForTask<Row extends Task, Facts>(
  { kind, id, look, facts, hints }: Awaited<Row, Facts>,
  context: ActivityContext,
): Promise<ActivityResult<Facts>> {
  return poll(`${kind} ${id}`, context, async () => {
    const task = await look();
    const status: string = task.status;
    if (status === 'done') return { status, result: ok(facts(task)) };
    if (status !== 'failed' && status !== 'deleted') return { status };
    const message = `${kind} ${id} is ${status}; the service gives no reason`;
    return { status, result: no(`${kind}.${status}`, message, { hints }) };
  });
}
