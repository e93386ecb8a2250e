import { instantOf } from '../base/instant.ts';
import type { Answer } from '../service/client.ts';
import type { Backup, Restore } from '../service/schemas.ts';
import type { ActivityContext, ActivityOf, ActivityResult } from './activity.ts';
import { factsOfBackup, factsOfRestore } from './baseline.ts';
import type { Skew } from './clocks.ts';
import type { ActivityDeps } from './deps.ts';
import type { Task } from './evaluate-tasks.ts';
import { poll } from './poll.ts';
import { no, ok } from './results.ts';
import { type Timed, watchdog } from './watchdog.ts';

/** A task that is waited for, and how to read its end. */
export interface Awaited<Row extends Task & Timed, Facts> {
  readonly kind: 'backup' | 'restore';
  readonly id: number;
  readonly look: () => Promise<{ readonly value: Row; readonly skew?: Skew | undefined }>;
  /** Tasks of the same kind, for how long they took. */
  readonly earlier: (signal: AbortSignal) => Promise<readonly Timed[]>;
  /** The recovery time that was promised, where the task is a part of it. Milliseconds. */
  readonly rtoMs?: number | undefined;
  readonly facts: (task: Row) => Facts;
  /** What is safe to do when it has failed. */
  readonly hints: readonly string[];
}

/** Half an hour without a word is long for any task of an instance that fits on one machine. */
const DEFAULT_SECONDS = 1_800;

/**
 * Polls a task until it is done. Fails with `<kind>.failed` or `<kind>.deleted` when the service says so,
 * with `<kind>.gone` when it does not know it for as long as `poll` is patient, and as `poll` does when it
 * cannot be asked: the task itself goes on meanwhile. A status that is not known counts as under way and is
 * shown.
 */
function waitForTask<Row extends Task & Timed, Facts>(
  { kind, id, look, facts, hints, earlier, rtoMs }: Awaited<Row, Facts>,
  context: ActivityContext,
): Promise<ActivityResult<Facts>> {
  const over = new AbortController();
  const signal = AbortSignal.any([context.signal, over.signal]);
  const expected = {
    what: `${kind}s`,
    earlier: () => earlier(signal),
    rtoMs,
    defaultSeconds: DEFAULT_SECONDS,
  };
  const watch = watchdog(expected, context);
  const waited = poll(`${kind} ${id}`, context, async () => {
    const { value: task, skew } = await look();
    const status: string = task.status;
    if (status === 'done') return { status, result: ok(facts(task)) };
    if (status !== 'failed' && status !== 'deleted') {
      const stage = status === 'queued' ? 'queued' : 'running';
      return { status, overdue: watch(stage, beginOf(task, stage, skew)) };
    }
    const message = `${kind} ${id} is ${status}; the service gives no reason`;
    return { status, result: no(`${kind}.${status}`, message, { hints }) };
  });
  return waited.then((result) => (isGone(result) ? gone(kind, id) : result)).finally(() => over.abort());
}

function isGone(result: ActivityResult<unknown>): boolean {
  return !result.ok && result.failure.code === 'service.not-found';
}

/** The service's own words for it speak of a url, and of nothing that a person could do. */
function gone(kind: 'backup' | 'restore', id: number): ActivityResult<never> {
  return no(
    `${kind}.gone`,
    `the service no longer knows ${kind} ${id}, which it accepted: its outcome is unknown`,
    {
      hints: [
        `look in the dashboard for the ${kind} before another one is asked for`,
        'trying again looks for the same one, and sends nothing',
      ],
    },
  );
}

/** When the stage began, by this machine's clock; unknown where the service or its clock does not tell. */
function beginOf(
  { triggered_at, started_at }: Task & Timed,
  stage: 'queued' | 'running',
  skew: Skew | undefined,
): number | undefined {
  const reported = instantOf(stage === 'queued' ? triggered_at : (started_at ?? triggered_at));
  return reported === undefined || skew === undefined ? undefined : reported - skew.skewMs;
}

/** Polls a backup until it is done; see `waitForTask` for how it fails. */
export function waitForBackup(deps: Pick<ActivityDeps, 'service'>): ActivityOf<'waitForBackup'> {
  return {
    kind: 'read',
    run: ({ id }, context) =>
      waitForTask(
        {
          kind: 'backup',
          id,
          look: () => look(deps, id, context.signal),
          earlier: async (signal) => (await deps.service.backups(signal)).value,
          facts: factsOfBackup,
          hints: [
            'another backup may be asked for',
            'look at disk space and the state of the instance first',
          ],
        },
        context,
      ),
  };
}

/** The backup with its `backup_id`, which revision 62 gives in the list only (service-api.md section 2.1). */
async function look(
  deps: Pick<ActivityDeps, 'service'>,
  id: number,
  signal: AbortSignal,
): Promise<Pick<Answer<Backup>, 'value' | 'skew'>> {
  const { value, skew } = await deps.service.backup(id, signal);
  if (value.status !== 'done' || value.backup_id !== undefined) return { value, skew };
  const list = await deps.service.backups(signal);
  const backup_id = list.value.find((other) => other.id === id)?.backup_id;
  return { value: { ...value, backup_id }, skew };
}

/**
 * Polls a restore until it is done, whichever way it was asked for; see `waitForTask` for how it fails. Where
 * the service does not tell when the work began, that it was seen to begin tells the queue from the work. A
 * process that comes later may not have seen it.
 */
export function waitForRestore(
  deps: Pick<ActivityDeps, 'service' | 'objectives'>,
): ActivityOf<'waitForRestore'> {
  return {
    kind: 'read',
    run({ id }, context) {
      let wasQueued = false;
      let seenRunningAt: string | undefined;
      return waitForTask(
        {
          kind: 'restore',
          id,
          look: async () => {
            const { value, skew } = await deps.service.restore(id, context.signal);
            wasQueued ||= value.status === 'queued';
            if (wasQueued && value.status === 'running') seenRunningAt ??= context.now().toISOString();
            return { value: timed(value), skew };
          },
          earlier: async (signal) => (await deps.service.restores(signal)).value.map(timed),
          rtoMs: deps.objectives.rtoMs,
          facts: (restore) => ({
            ...factsOfRestore(restore),
            ...(seenRunningAt === undefined ? {} : { seenRunningAt }),
          }),
          hints: [
            'a wrong key or a damaged backup can be the cause: check both before another restore',
            'what the instance holds now is not known: look at it before anything is bound to it',
          ],
        },
        context,
      );
    },
  };
}

/** Revision 61 tells when a restore was begun (service-api.md section 3); the schema does not name it. */
function timed(restore: Restore) {
  const { started_at } = restore;
  return { ...restore, started_at: typeof started_at === 'string' ? started_at : undefined };
}
