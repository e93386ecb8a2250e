import { fitOf, type LastSeen, type ProvenBackup } from '../../machines/parts/recovery-data.ts';
import type { BackupFacts, Baseline, RestoreFacts } from '../../machines/parts/task-data.ts';
import { failureOf } from '../base/errors.ts';
import { futureSeconds, instantOf } from '../base/instant.ts';
import { show } from '../base/text.ts';
import type { ServiceClient } from '../service/client.ts';
import { type UnreadRow, unreadWords } from '../service/rows.ts';
import type { Backup, BackupsConfig, InstanceOverview, Restore } from '../service/schemas.ts';
import type { Ledger } from '../store/projections/ledgers.ts';
import { type ActivityOf, ok, readVerb } from './activity.ts';
import { clockOf } from './clocks.ts';
import type { ActivityDeps } from './deps.ts';
import { updateLines } from './doubt-action.ts';

/** If the service states none: service-api.md section 2.3 has no default, 8 is the documented one. */
const MIN_KEY_LENGTH = 8;

/**
 * Three GETs, one after another; with `restores` a fourth. Leaves out data for which the interface has no
 * call (service-api.md section 4.4: V0 has neither overview nor configuration). Rejects with the first
 * failure, except for a list of restores that the token may not read or the service does not have: it is then
 * unknown what is under way.
 */
export async function readInstance(
  service: ServiceClient,
  signal: AbortSignal,
  { restores = false }: { readonly restores?: boolean | undefined } = {},
) {
  const overview = service.supports('overview') ? await service.overview(signal) : undefined;
  const config = service.supports('backupsConfig') ? await service.backupsConfig(signal) : undefined;
  const backups = await service.backups(signal);
  return {
    overview: overview?.value,
    config: config?.value,
    backups: backups.value,
    skew: backups.skew,
    ...(restores ? await restoresOf(service, signal) : { restores: undefined, oddRestores: undefined }),
    oddBackups: oddRows('backup', backups.value, backups.unread),
  };
}

/** No permission, or no such list: asking again gives the same answer. */
const WITHOUT_LIST: ReadonlySet<unknown> = new Set([403, 404, 405, 410, 501]);

async function restoresOf(
  service: ServiceClient,
  signal: AbortSignal,
): Promise<{
  readonly restores: readonly Restore[] | 'not reported';
  readonly oddRestores?: readonly string[] | undefined;
}> {
  try {
    const { value, unread } = await service.restores(signal);
    return { restores: value, oddRestores: oddRows('restore', value, unread) };
  } catch (thrown) {
    const { code, evidence } = failureOf(thrown);
    if (WITHOUT_LIST.has(evidence['status']) || code === 'service.unsupported')
      return { restores: 'not reported' };
    throw thrown;
  }
}

export function instanceBaseline(
  overview: InstanceOverview | undefined,
  config: BackupsConfig | undefined,
  backups: readonly Backup[],
  restores?: readonly Restore[] | 'not reported' | undefined,
): Baseline {
  const newest = newestOf(backups);
  return {
    ...(overview?.id === undefined ? {} : { serviceId: String(overview.id) }),
    ...(overview?.state === undefined ? {} : { state: overview.state }),
    ...(overview?.updated_at === undefined ? {} : { updatedAt: overview.updated_at }),
    ...(overview?.available_updates === undefined ? {} : { updates: updateLines(overview) ?? [] }),
    ...(config === undefined ? {} : { minKeyLength: config.min_encryption_key_length ?? MIN_KEY_LENGTH }),
    ...(newest === undefined ? {} : { newestBackup: newest.id }),
    runningTasks: backups.filter(isUnderWay).map((backup) => backup.id),
    ...(restores === undefined || restores === 'not reported' ? {} : restoresOn(restores)),
  };
}

function restoresOn(restores: readonly Restore[]): Pick<Baseline, 'runningRestores' | 'newestRestore'> {
  const newest = restores.toSorted((a, b) => time(b) - time(a) || b.id - a.id)[0];
  return {
    runningRestores: restores.filter(isUnderWay).map(({ id }) => id),
    ...(newest === undefined ? {} : { newestRestore: newest.id }),
  };
}

/** Triggered last; by id if times are missing or equal. */
export function newestOf(backups: readonly Backup[]): Backup | undefined {
  return doneBackups(backups)[0];
}

/** Last triggered first; by id if times are missing or equal. */
export function doneBackups(backups: readonly Backup[]): readonly Backup[] {
  return backups
    .filter((backup) => backup.status === 'done')
    .toSorted((a, b) => time(b) - time(a) || b.id - a.id);
}

/**
 * False for an unknown status (service-api.md section 3): that counts as open only after a call (`isOpen`);
 * `oddRows` reports earlier ones.
 */
export function isUnderWay({ status }: { readonly status: string }): boolean {
  return status === 'queued' || status === 'running';
}

/** Service-api.md section 3; with another status, the end is unknown. */
const KNOWN: ReadonlySet<string> = new Set(['queued', 'running', 'done', 'failed', 'deleted']);
const MAX_NAMED = 5;

/**
 * Rows that cannot be judged: unreadable ones, and tasks with an undocumented status. They stop nothing,
 * since a newer service may show old tasks with a new status.
 */
export function oddRows(
  what: 'backup' | 'restore',
  tasks: readonly { readonly id: number; readonly status: string }[],
  unread: readonly UnreadRow[] | undefined,
): readonly string[] {
  const unknown = tasks.filter(({ status }) => !KNOWN.has(status));
  const named = unknown.slice(0, MAX_NAMED).map(({ id, status }) => `${id} (${show(status, 40)})`);
  const more = unknown.length > named.length ? ` and ${unknown.length - named.length} more` : '';
  const word = `${what}${unknown.length === 1 ? '' : 's'}`;
  const words = `the status of ${word} ${named.join(', ')}${more} is not known: it may be under way`;
  return [...unreadWords(what, unread), ...(unknown.length === 0 ? [] : [words])];
}

export function restoreWords({ id, status }: Restore, instance: string): string {
  return `restore ${id} of ${instance} is ${show(status, 40)}`;
}

/** Missing fields stay missing. */
export function factsOfBackup(backup: Backup): BackupFacts {
  return {
    id: backup.id,
    status: backup.status,
    ...(backup.backup_id === undefined ? {} : { backupId: backup.backup_id }),
    ...(backup.size === undefined ? {} : { size: backup.size }),
    ...(backup.triggered_at === undefined ? {} : { triggeredAt: backup.triggered_at }),
    ...(backup.started_at === undefined ? {} : { startedAt: backup.started_at }),
    ...(backup.finished_at === undefined ? {} : { finishedAt: backup.finished_at }),
    ...(backup.downloadable === undefined ? {} : { downloadable: backup.downloadable }),
  };
}

export type TaskTimes = Pick<BackupFacts, 'triggeredAt' | 'finishedAt'>;

/** Adds how far the times lie in the future of the service's clock, which shows `clockMs`. */
export function withAhead<Facts extends TaskTimes>(
  facts: Facts,
  clockMs: number,
): Facts & { readonly aheadSeconds?: number } {
  const { triggeredAt, finishedAt } = facts;
  const aheadSeconds = futureSeconds(finishedAt, clockMs) ?? futureSeconds(triggeredAt, clockMs);
  return aheadSeconds === undefined ? facts : { ...facts, aheadSeconds };
}

export function factsOfRestore(restore: Restore): RestoreFacts {
  const from = restore.metadata?.restored_from;
  return {
    id: restore.id,
    status: restore.status,
    ...(restore.backup_id === undefined ? {} : { backup: restore.backup_id }),
    ...(from === undefined ? {} : { restoredFrom: from }),
    ...(restore.triggered_at === undefined ? {} : { triggeredAt: restore.triggered_at }),
    // Service-api.md section 2.2 does not list it for restores; used if a service returns it, as for backups.
    ...(typeof restore['started_at'] === 'string' ? { startedAt: restore['started_at'] } : {}),
    ...(restore.finished_at === undefined ? {} : { finishedAt: restore.finished_at }),
  };
}

function time(task: Backup | Restore): number {
  return instantOf(task.triggered_at ?? task.finished_at) ?? 0;
}

/** Right before the change. Only GETs. */
export function recheck(deps: ActivityDeps): ActivityOf<'recheck'> {
  return readVerb(async (_, { signal }) => {
    const seen = await readInstance(deps.service, signal, { restores: true });
    const { overview, config, backups, restores } = seen;
    return ok(instanceBaseline(overview, config, backups, restores));
  });
}

/** Enough to choose from, small enough for the journal. */
const MAX = 50;

/** The newest 50, newest first (service-api.md endpoint 1). */
export function listBackups(deps: ActivityDeps): ActivityOf<'listBackups'> {
  return readVerb(async (_, { signal, now }) => {
    const { value, skew } = await deps.service.backups(signal);
    const done = doneBackups(value);
    const clockMs = clockOf(now(), skew);
    const ledger = await deps.ledger();
    const seen = deps.lastSeen();
    const newest = done.slice(0, MAX).map((backup) => {
      const facts = withAhead(factsOfBackup(backup), clockMs);
      const opens = opensOf(facts, ledger, seen);
      return opens === undefined ? facts : { ...facts, opens };
    });
    return ok({ newest, total: done.length });
  });
}

/** By the record, and by the first blocks that were tried last. */
function opensOf(
  backup: BackupFacts,
  { proven, unopened = [] }: Ledger,
  seen: LastSeen | undefined,
): BackupFacts['opens'] {
  const at = backup.triggeredAt ?? backup.startedAt ?? backup.finishedAt;
  const isIt = (one: Pick<ProvenBackup, 'id' | 'backupId' | 'triggeredAt'>) =>
    one.id === backup.id && one.backupId === backup.backupId && one.triggeredAt === at;
  const proof = proven.find(isIt);
  if (proof !== undefined) return { how: 'verified', key: proof.fingerprint };
  const fit = fitOf(seen, backup);
  const isRefused = unopened.some((one) => one.code === 'backup.wrong-key' && isIt(one));
  return fit ?? (isRefused ? { how: 'none' } : undefined);
}
