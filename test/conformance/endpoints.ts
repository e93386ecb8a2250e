import type { z } from 'zod';
import type { Api, Method } from './api.ts';
import type { Check, Level, Revision } from './check.ts';
import type { Exchange } from './exchange.ts';
import type { ErrorStyle } from './expect.ts';
import { BackupsConfig, Overview } from './shapes.ts';

/** An id that no service has given to anything: the largest of 32 bits. */
export const UNKNOWN_ID = 2_147_483_647;
/** A GUID that no service has given to anything. */
export const UNKNOWN_GUID = '0d15ea5e-0000-4000-8000-0000deadbeef';

/** What stands in the path or the body of a probe. */
export interface Probe {
  readonly backup: number;
  readonly restore: number;
  readonly instance: string;
}

export const UNKNOWN: Probe = { backup: UNKNOWN_ID, restore: UNKNOWN_ID, instance: UNKNOWN_GUID };

/** One row of sections 4.1, 4.2 and 4.4. */
export interface Endpoint {
  readonly name: string;
  readonly section: string;
  readonly base: 'v0' | 'v1';
  readonly method: Method;
  readonly revisions: readonly Revision[];
  /** Below the instance. */
  readonly path: (probe: Probe) => string;
  /**
   * A body that is right in form. Where it names something, the thing does not exist, so that a probe changes
   * as little as can be.
   */
  readonly body?: (probe: Probe) => unknown;
  /** Statuses of success; the rest of the document's tables for this endpoint are errors. */
  readonly success: Partial<Record<Revision, readonly number[]>>;
  readonly errors: ErrorStyle;
  readonly mutates: boolean;
  /** What a server that is wrong about rights could do when it is probed with `UNKNOWN`. */
  readonly level: Level;
  /** The operator of the platform may keep it from application developers. */
  readonly mayBeKeptBack?: true;
  /** Asked only where there is continuous archiving. */
  readonly archiving?: true;
  /** What an unknown instance is answered; undefined where the document does not say. */
  readonly unknownInstance?: number;
  /** The check that reads it once, and the fields that its answer holds. */
  readonly promises?: Pick<Check, 'id' | 'section' | 'title'> & { readonly shape: z.ZodObject };
}

const V1: readonly Revision[] = [61, 62];
const ALL: readonly Revision[] = [61, 62, 'v0'];
const both = (rev61: readonly number[], rev62: readonly number[]) => ({ 61: rev61, 62: rev62 });
const v0Only = (...statuses: readonly number[]) => ({ 61: statuses, 62: statuses, v0: statuses });
const read = {
  unknownInstance: 404,
  base: 'v1',
  method: 'GET',
  revisions: V1,
  errors: 'v1',
  mutates: false,
  level: 'none',
} as const;
const change = {
  unknownInstance: 404,
  base: 'v1',
  method: 'PATCH',
  revisions: V1,
  errors: 'v1',
  mutates: true,
} as const;
const post = { ...change, method: 'POST' } as const;
const old = { base: 'v0', revisions: ALL, errors: 'v0' } as const;
/** Long enough for any service, and never set: what it stands beside does not exist. */
const UNUSED_KEY = 'conformance-suite-key-that-opens-nothing';

export const ENDPOINTS = {
  listBackups: {
    ...read,
    name: 'list-backups',
    section: '4.1 (1)',
    path: () => '/backups',
    success: both([200], [200]),
  },
  getBackup: {
    ...read,
    name: 'get-backup',
    section: '4.1 (2)',
    path: ({ backup }) => `/backups/${backup}`,
    success: both([200, 202], [200]),
  },
  createBackup: {
    ...post,
    name: 'create-backup',
    section: '4.1 (3)',
    path: () => '/backups',
    success: both([200, 202], [200]),
    level: 'safe',
  },
  v1Download: {
    ...read,
    name: 'download',
    section: '4.3',
    revisions: [61],
    path: ({ backup }) => `/backups/${backup}/download`,
    success: { 61: [200] },
    errors: 'v1 download',
    unknownInstance: 412,
  },
  download: {
    ...old,
    name: 'download-v0',
    section: '4.3',
    revisions: [62],
    method: 'GET',
    path: ({ backup }) => `/backups/${backup}/download`,
    success: { 62: [200] },
    errors: 'v0 download',
    mutates: false,
    level: 'none',
    unknownInstance: 412,
  },
  listRestores: {
    ...read,
    name: 'list-restores',
    section: '4.1 (5)',
    path: () => '/restores',
    success: both([200, 202], [200, 202]),
  },
  getRestore: {
    ...read,
    name: 'get-restore',
    section: '4.1 (6)',
    path: ({ restore }) => `/restores/${restore}`,
    success: both([200, 202], [200]),
  },
  restore: {
    ...post,
    name: 'restore',
    section: '4.1 (7)',
    path: ({ backup }) => `/backups/${backup}/restore`,
    success: both([200, 202], [200]),
    level: 'safe',
  },
  getConfig: {
    ...read,
    name: 'get-config',
    section: '4.1 (8)',
    path: () => '/backups-config',
    success: both([200, 202], [200]),
    promises: {
      id: 'config.read',
      section: '2.3',
      title: 'the configuration has all fields, and never the encryption key',
      shape: BackupsConfig,
    },
  },
  setConfig: {
    ...change,
    name: 'set-config',
    section: '4.1 (9)',
    path: () => '/backups-config',
    body: () => ({}),
    success: both([200], [200]),
    level: 'safe',
  },
  prepare: {
    ...post,
    name: 'prepare',
    section: '4.1 (10)',
    path: () => '/disaster-recovery/prepare',
    body: () => ({}),
    success: both([200, 202], [200]),
    level: 'all',
  },
  perform: {
    ...post,
    name: 'perform',
    section: '4.1 (11)',
    path: () => '/disaster-recovery/perform',
    body: () => ({ backup_guid: UNKNOWN_GUID, encryption_key: UNUSED_KEY }),
    success: both([200, 202], [200]),
    level: 'all',
  },
  overview: {
    ...read,
    name: 'overview',
    section: '4.1 (12)',
    path: () => '',
    success: both([200, 202], [200]),
    promises: {
      id: 'overview.read',
      section: '2.4',
      title: 'the overview has all fields, a state of the table, and full URLs',
      shape: Overview,
    },
  },
  recreate: {
    ...change,
    name: 'recreate',
    section: '4.1 (13)',
    path: () => '/recreate',
    success: both([200, 202], [202]),
    level: 'all',
  },
  restart: {
    ...change,
    name: 'restart',
    section: '4.1 (14)',
    path: () => '/restart',
    success: both([200, 202], [202]),
    level: 'all',
  },
  update: {
    ...change,
    name: 'update',
    section: '4.1 (15)',
    path: () => '/updates',
    body: () => ({ service_id: UNKNOWN_GUID }),
    success: both([200, 202], [202]),
    level: 'all',
  },
  metrics: {
    ...read,
    name: 'metrics',
    section: '4.1 (16)',
    path: () => '/metrics',
    success: both([200, 202], [200]),
  },
  pitr: {
    ...read,
    name: 'pitr',
    section: '4.1 (17)',
    path: () => '/pitr',
    success: both([200, 202], [200, 202]),
    archiving: true,
  },
  pitrRestore: {
    ...post,
    name: 'pitr-restore',
    section: '4.1 (18)',
    revisions: [62],
    path: () => '/pitr/restore',
    body: () => ({ target_time: '1970-01-01T00:00:00.000Z' }),
    success: { 62: [202] },
    level: 'all',
    archiving: true,
  },
  brokerEdit: {
    ...change,
    name: 'broker-edit',
    section: '4.2 (6)',
    revisions: [61],
    path: () => '/broker/edit',
    body: () => ({ allowed_update_time: { type: 'general', allowed: true } }),
    success: { 61: [200, 202] },
    level: 'all',
    mayBeKeptBack: true,
  },
  v0List: {
    ...old,
    name: 'v0-list',
    section: '4.4',
    method: 'GET',
    path: () => '/backups',
    success: v0Only(200),
    mutates: false,
    level: 'none',
  },
  v0Create: {
    ...old,
    name: 'v0-create',
    section: '4.4',
    method: 'POST',
    path: () => '/backups',
    success: v0Only(201),
    mutates: true,
    level: 'safe',
  },
  v0Restore: {
    ...old,
    name: 'v0-restore',
    section: '4.4',
    method: 'POST',
    path: () => '/backups/restore',
    body: ({ backup }) => ({ instance_id: UNKNOWN_ID, backup_id: backup }),
    success: v0Only(200),
    mutates: true,
    level: 'safe',
    unknownInstance: 412,
  },
  v0Download: {
    ...old,
    name: 'v0-download',
    section: '4.3',
    method: 'POST',
    path: ({ backup }) => `/backups/${backup}/download`,
    success: v0Only(200),
    errors: 'v0',
    mutates: false,
    level: 'safe',
    unknownInstance: 412,
  },
} as const satisfies Record<string, Endpoint>;

/** Sends the call of the table. What is given as `body` replaces the table's. */
export async function call(api: Api, endpoint: Endpoint, probe: Probe, body?: unknown): Promise<Exchange> {
  const ask = body ?? endpoint.body?.(probe);
  const options = ask === undefined ? {} : { body: ask };
  return await api[endpoint.base](endpoint.method, endpoint.path(probe), options);
}

export const KEPT_BACK = 'the operator keeps it from application developers';

/**
 * Whether the answer may be that of an endpoint that is inaccessible (4.2 item 6); how that looks is not
 * said.
 */
export function isKeptBack({ mayBeKeptBack }: Endpoint, { status }: Exchange): boolean {
  return mayBeKeptBack === true && [403, 404].includes(status);
}

/** The statuses of success of a revision. */
export function successOf(endpoint: Endpoint, revision: Revision): readonly number[] {
  return endpoint.success[revision] ?? [];
}
