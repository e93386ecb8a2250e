import { instantOf } from '../base/instant.ts';
import { show } from '../base/text.ts';
import type { Answer } from '../service/client.ts';
import type { UnreadRow } from '../service/rows.ts';
import type { Backup, Restore } from '../service/schemas.ts';
import { type ActivityContext, type ActivityOf, type ActivityResult, no, ok } from './activity.ts';
import { factsOfBackup, factsOfRestore, type TaskTimes, withAhead } from './baseline.ts';
import { beyondSent, isOpen, toBeside, withUnread } from './beside.ts';
import { clockOf, type Skew } from './clocks.ts';
import type { ActivityDeps } from './deps.ts';
import { LIST_LAG_MS, type Task } from './evaluate-tasks.ts';
import { poll } from './poll.ts';
import { type Timed, watchdog } from './watchdog.ts';

export interface Awaited<Row extends Task & Timed, Facts extends TaskTimes> {
  readonly kind: 'backup' | 'restore';
  readonly id: number;
  /** The side of the run. */
  readonly on?: 'target' | undefined;
  readonly look: () => Promise<{ readonly value: Row; readonly skew?: Skew | undefined }>;
  /** Of the instance, for the same kind. */
  readonly listed: (signal: AbortSignal) => Promise<{
    readonly value: readonly (Task & Timed)[];
    readonly unread?: readonly UnreadRow[] | undefined;
  }>;
  /** If the task is part of the recovery. Milliseconds. */
  readonly rtoMs?: number | undefined;
  readonly facts: (task: Row) => Facts;
  /** The service has said that it is simulated. */
  readonly isSimulated: () => boolean;
  /** What is safe to do after a failure. */
  readonly hints: readonly string[];
}

/** Half an hour without progress is long for any task of an instance that fits on one machine. */
const DEFAULT_SECONDS = 1_800;

/**
 * Polls until the task is done, and no restore is under way that was not sent. Fails with `<kind>.failed` or
 * `<kind>.deleted` if the service says so, with `<kind>.gone` if the service does not know it for as long as
 * `poll` waits, with `doubt.unlisted` if its list lacks it a minute after its end, and as `poll` does if the
 * service cannot be asked: the task itself continues. An unknown status counts as under way and is shown.
 */
function waitForTask<Row extends Task & Timed, Facts extends TaskTimes>(
  { kind, id, on, look, facts, isSimulated, hints, listed, rtoMs }: Awaited<Row, Facts>,
  context: ActivityContext,
): Promise<ActivityResult<Facts>> {
  const over = new AbortController();
  const signal = AbortSignal.any([context.signal, over.signal]);
  const expected = {
    what: `${kind}s`,
    earlier: async () => (await listed(signal)).value,
    rtoMs,
    defaultSeconds: DEFAULT_SECONDS,
  };
  const watch = watchdog(expected, context);
  let unlistedSince: number | undefined;
  const waited = poll(`${kind} ${id}`, context, async () => {
    const { value: task, skew } = await look();
    const status: string = task.status;
    if (status === 'done') {
      const { value, unread } = await listed(signal);
      const all = withUnread(value, unread);
      const isThere = all.some((other) => other.id === id);
      unlistedSince = isThere ? undefined : (unlistedSince ?? context.now().getTime());
      if (unlistedSince !== undefined) {
        const isLate = context.now().getTime() - unlistedSince > LIST_LAG_MS;
        const shown = `done, but not in the list of ${kind}s`;
        return isLate ? { status: shown, result: unlisted(kind, id) } : { status: shown };
      }
      const others = beyondSent(all, id, { what: kind, on, sent: context.sent });
      // Its data may be overwritten again, so nothing may build on it before the other restore is over.
      const open = kind === 'restore' ? others.find(isOpen) : undefined;
      if (open !== undefined)
        return { status: `done, and ${kind} ${open.id}, which was not sent, is ${open.status}` };
      const beside = others.length === 0 ? {} : { beside: others.map(toBeside) };
      const clockMs = clockOf(context.now(), skew);
      const simulated = isSimulated() ? { simulated: true as const } : {};
      return { status, result: ok({ ...withAhead(facts(task), clockMs), ...beside, ...simulated }) };
    }
    if (status !== 'failed' && status !== 'deleted') {
      const stage = status === 'queued' ? 'queued' : 'running';
      return { status, overdue: watch(stage, beginOf(task, stage, skew)) };
    }
    const message = `${kind} ${id} is ${status}; the service gives no reason`;
    return { status, result: no(`${kind}.${status}`, message, { hints }) };
  });
  return waited.then((result) => (isGone(result) ? gone(kind, id) : result)).finally(() => over.abort());
}

/** It may belong to another instance. */
function unlisted(kind: 'backup' | 'restore', id: number): ActivityResult<never> {
  return no(
    'doubt.unlisted',
    `the service says that ${kind} ${id} is done, and its list of ${kind}s does not have it`,
    {
      hints: [
        `it may be a ${kind} of another instance: look in the dashboard before you rely on it`,
        'trying again looks at the same one, and sends nothing',
      ],
    },
  );
}

function isGone(result: ActivityResult<unknown>): boolean {
  return !result.ok && result.failure.code === 'service.not-found';
}

/** The service's own error is about a URL, and does not help a person. */
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

/** By this machine's clock; undefined if the service or its clock does not tell. */
function beginOf(
  { triggered_at, started_at }: Task & Timed,
  stage: 'queued' | 'running',
  skew: Skew | undefined,
): number | undefined {
  const reported = instantOf(stage === 'queued' ? triggered_at : (started_at ?? triggered_at));
  return reported === undefined || skew === undefined ? undefined : reported - skew.skewMs;
}

/** See `waitForTask` for how it fails. */
export function waitForBackup(deps: Pick<ActivityDeps, 'service'>): ActivityOf<'waitForBackup'> {
  return {
    kind: 'read',
    async run({ id, on, mustOpen }, context) {
      const waited = await waitForTask(
        {
          kind: 'backup',
          id,
          on,
          look: () => look(deps, id, context.signal),
          listed: (signal) => deps.service.backups(signal),
          facts: factsOfBackup,
          isSimulated: deps.service.isSimulated,
          hints: [
            'another backup may be asked for',
            'look at disk space and the state of the instance first',
          ],
        },
        context,
      );
      const isClosed = mustOpen === true && waited.ok && waited.output.downloadable === false;
      return isClosed ? unopenable(id, context.instance) : waited;
    },
  };
}

/** Made without a key that a person has. */
function unopenable(id: number, instance: string): ActivityResult<never> {
  return no(
    'backup.unopenable',
    `backup ${id} is done, and the service does not offer it for download: no key may have been set before it`,
    {
      hints: [
        `set a key, then ask for another backup: lifeboat backup-config set --instance ${show(instance, 80)} --new-key`,
      ],
    },
  );
}

/** Revision 62 returns the `backup_id` only in the list (service-api.md section 2.1). */
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
 * However the restore was requested; see `waitForTask` for how it fails. If the service does not say when the
 * work began, seeing it begin separates the queue from the work. A later process may not have seen it.
 */
export function waitForRestore(
  deps: Pick<ActivityDeps, 'service' | 'objectives'>,
): ActivityOf<'waitForRestore'> {
  return {
    kind: 'read',
    run({ id, on }, context) {
      let wasQueued = false;
      let seenRunningAt: string | undefined;
      return waitForTask(
        {
          kind: 'restore',
          id,
          on,
          look: async () => {
            const { value, skew } = await deps.service.restore(id, context.signal);
            wasQueued ||= value.status === 'queued';
            if (wasQueued && value.status === 'running') seenRunningAt ??= context.now().toISOString();
            return { value: timed(value), skew };
          },
          listed: async (signal) => {
            const { value, unread } = await deps.service.restores(signal);
            return { value: value.map(timed), unread };
          },
          rtoMs: deps.objectives.rtoMs,
          isSimulated: deps.service.isSimulated,
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

/** Revision 61 reports `started_at` (service-api.md section 3); the schema does not include it. */
function timed(restore: Restore) {
  const { started_at } = restore;
  return { ...restore, started_at: typeof started_at === 'string' ? started_at : undefined };
}
