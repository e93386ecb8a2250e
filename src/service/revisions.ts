/** Service-api.md section 9; `v0` is the deprecated interface alone. */
export type Revision = 61 | 62 | 'v0';

/** Section 4.3. */
export type DownloadRoute = 'v1' | 'v0' | 'v0-post';

/** By the names of the client's methods. */
export type Operation =
  | 'overview'
  | 'backups'
  | 'backup'
  | 'restores'
  | 'restore'
  | 'backupsConfig'
  | 'metrics'
  | 'pitrRange'
  | 'download'
  | 'createBackup'
  | 'restoreBackup'
  | 'changeBackupsConfig'
  | 'prepareRecovery'
  | 'performRecovery'
  | 'recreate'
  | 'restart'
  | 'update'
  | 'changeUpdateSetting'
  | 'restoreToTime';

/** With a single call: a download has several ways. */
export type Callable = Exclude<Operation, 'download'>;

/** Of one revision. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH';
  /** The base address that `path` is appended to. */
  readonly base: 'v1' | 'v0';
  /** May contain `:id`. */
  readonly path: string;
  /** The documented ones; without a table, those that such calls return. */
  readonly success: readonly number[];
  /** The document shows no success body, so an empty one is valid. */
  readonly silent?: boolean;
}

interface Row {
  readonly method: Route['method'];
  readonly path: string;
  /** A missing revision does not have the call. */
  readonly success: Readonly<Partial<Record<Revision, readonly number[]>>>;
  readonly silent?: boolean;
  /** Follows "cannot". */
  readonly words: string;
  /** Facts that no other call reports. */
  readonly says?: readonly string[];
}

const DONE = [200];
const BOTH = [200, 202];
const TAKEN = [202];

/** Sections 4.1 and 4.2, items 2 to 6. */
const V1: Readonly<Record<Callable, Row>> = {
  overview: row('GET', '', { 61: BOTH, 62: DONE }, 'describe the instance', {
    says: ['the name, state, service, plan and updates of the instance'],
  }),
  backups: row('GET', '/backups', { 61: DONE, 62: DONE }, 'list backups'),
  backup: row('GET', '/backups/:id', { 61: BOTH, 62: DONE }, 'show a backup'),
  restores: row('GET', '/restores', { 61: DONE, 62: DONE }, 'list restores'),
  restore: row('GET', '/restores/:id', { 61: BOTH, 62: DONE }, 'show a restore'),
  backupsConfig: row(
    'GET',
    '/backups-config',
    { 61: BOTH, 62: DONE },
    'show the configuration of the backups',
    {
      says: ['the retention of backups and the minimum length of a key'],
    },
  ),
  metrics: row('GET', '/metrics', { 61: BOTH, 62: DONE }, 'give metrics'),
  pitrRange: row('GET', '/pitr', { 61: DONE, 62: TAKEN }, 'tell which points in time it can restore to'),
  createBackup: row('POST', '/backups', { 61: BOTH, 62: DONE }, 'create a backup'),
  restoreBackup: row('POST', '/backups/:id/restore', { 61: BOTH, 62: DONE }, 'restore a backup'),
  changeBackupsConfig: row(
    'PATCH',
    '/backups-config',
    { 61: DONE, 62: DONE },
    'change the configuration of the backups',
  ),
  prepareRecovery: row(
    'POST',
    '/disaster-recovery/prepare',
    { 61: BOTH, 62: DONE },
    'prepare a disaster recovery',
  ),
  performRecovery: row(
    'POST',
    '/disaster-recovery/perform',
    { 61: BOTH, 62: DONE },
    'perform a disaster recovery',
  ),
  recreate: row('PATCH', '/recreate', { 61: BOTH, 62: TAKEN }, 'recreate the instance', { silent: true }),
  restart: row('PATCH', '/restart', { 61: BOTH, 62: TAKEN }, 'restart the instance', { silent: true }),
  update: row('PATCH', '/updates', { 61: BOTH, 62: TAKEN }, 'update the instance', { silent: true }),
  changeUpdateSetting: row('PATCH', '/broker/edit', { 61: DONE }, 'allow or forbid maintenance updates'),
  restoreToTime: row('POST', '/pitr/restore', { 62: TAKEN }, 'restore to a point in time'),
};

function row(
  method: Row['method'],
  path: string,
  success: Row['success'],
  words: string,
  more: Pick<Row, 'silent' | 'says'> = {},
): Row {
  return { method, path, success, words, ...more };
}

/** Section 4.4. One listing answers all four reads. */
const V0: Readonly<Partial<Record<Operation, Route>>> = {
  backups: { method: 'GET', base: 'v0', path: '/backups', success: DONE },
  backup: { method: 'GET', base: 'v0', path: '/backups', success: DONE },
  restores: { method: 'GET', base: 'v0', path: '/backups', success: DONE },
  restore: { method: 'GET', base: 'v0', path: '/backups', success: DONE },
  createBackup: { method: 'POST', base: 'v0', path: '/backups', success: [201] },
  restoreBackup: { method: 'POST', base: 'v0', path: '/backups/restore', success: DONE },
};

/** Missing in V0's listing (section 2.9 compared with 2.1 and 2.2). */
const NOT_LISTED = ['the size of a backup', 'which backup a restore brings back'];

/** A person must know these of an older interface. */
export interface InterfaceLimits {
  /** `V0`. */
  readonly name: string;
  /** That it will be removed, and what to use instead (section 9, rules 1 and 4: there is no date). */
  readonly deprecation: string;
  /** Facts about an instance and its tasks that none of its calls reports, in words. */
  readonly unsaid: readonly string[];
}

/** Undefined for the revisions of V1. */
export function limitsOf(revision: Revision): InterfaceLimits | undefined {
  if (revision !== 'v0') return undefined;
  const reads = Object.entries(V1) as [Callable, Row][];
  const lacking = reads.filter(([operation]) => routeOf(operation, revision) === undefined);
  return {
    name: 'V0',
    deprecation:
      'V0 is deprecated and will be discontinued in a future release; ' +
      'use V1 where the service has it: revision: 62 (or auto)',
    unsaid: [...lacking.flatMap(([, { says = [] }]) => says), ...NOT_LISTED],
  };
}

/** Section 4.3. */
export const DOWNLOADS: Readonly<Record<DownloadRoute, Route>> = {
  v1: { method: 'GET', base: 'v1', path: '/backups/:id/download', success: DONE },
  v0: { method: 'GET', base: 'v0', path: '/backups/:id/download', success: DONE },
  'v0-post': { method: 'POST', base: 'v0', path: '/backups/:id/download', success: DONE },
};

/**
 * The documented way first (section 4.3): revision 61 has its own, which is unavailable in revision 62; the
 * earlier V0 reference has the V0 path with POST.
 */
export const DOWNLOAD_ORDER: Readonly<Record<Revision, readonly DownloadRoute[]>> = {
  61: ['v1', 'v0', 'v0-post'],
  62: ['v0', 'v1', 'v0-post'],
  v0: ['v0', 'v0-post', 'v1'],
};

/** Only some revisions return these, in the list and for a single backup (sections 2.1 and 4.2 item 1). */
export const BACKUP_FIELDS = {
  backup_id: { list: [61, 62], one: [61] },
  started_at: { list: [61], one: [61] },
} as const satisfies Readonly<Record<string, Readonly<Record<'list' | 'one', readonly Revision[]>>>>;

/** Undefined if the revision does not have the call. */
export function routeOf(operation: Callable, revision: Revision): Route | undefined {
  if (revision === 'v0') return V0[operation];
  const { success, words: _, says: __, ...row } = V1[operation];
  const expected = success[revision];
  return expected === undefined ? undefined : { ...row, base: 'v1', success: expected };
}

/** `words` follow "cannot". */
export function describeOperation(operation: Callable): {
  readonly words: string;
  readonly revisions: readonly Revision[];
} {
  const all: readonly Revision[] = [61, 62, 'v0'];
  return {
    words: V1[operation].words,
    revisions: all.filter((revision) => routeOf(operation, revision) !== undefined),
  };
}

/** Undefined if the revision lacks the call; a path that is not in the table exists in every revision. */
export function routeAt(
  method: Route['method'],
  path: string,
  revision: Revision,
): Pick<Route, 'method' | 'path'> | undefined {
  const operation = operationAt(method, path);
  return operation === undefined ? { method, path } : routeOf(operation, revision);
}

/** By method and path below the instance; undefined for an unknown call. */
export function operationAt(method: Route['method'], path: string): Callable | undefined {
  const known = Object.entries(V1) as [Callable, Row][];
  return known.find(([, row]) => row.method === method && (row.path || '/') === (path || '/'))?.[0];
}
