import type { BackupRow } from '../../../view/app/backup-list.ts';
import type { MetricCourse, RestoreRow } from '../../../view/app/sources.ts';
import { fleetAt } from '../../../view/fleet/fleet-at.ts';
import { knownOf } from '../../../view/fleet/fleet-facts.ts';
import type { InstanceStatus } from '../../../view/fleet/status-schema.ts';
import type { Around } from '../../live-screen.ts';
import { FRESH_LIST, filtered, type ListState } from '../../parts/list.ts';

/** What is shown of an instance at a time. */
export const SECTIONS = ['overview', 'backups', 'restores', 'metrics'] as const;
export type Section = (typeof SECTIONS)[number];

/** What a person has done on the screen of an instance. */
export interface InstanceState {
  readonly section: Section;
  /** First row of the overview that is shown. */
  readonly scroll: number;
  readonly lists: Readonly<Record<Exclude<Section, 'overview'>, ListState>>;
}

export const FIRST: InstanceState = {
  section: 'overview',
  scroll: 0,
  lists: { backups: FRESH_LIST, restores: FRESH_LIST, metrics: FRESH_LIST },
};

/** The list of the section that is shown; undefined in the overview. */
export function listOf({ section, lists }: InstanceState): ListState | undefined {
  return section === 'overview' ? undefined : lists[section];
}

/** The status of the instance as on the board. */
export function statusOf(name: string, { facts, now }: Around): InstanceStatus | undefined {
  const fleet = facts.get('fleet', null).last?.value;
  return fleet && fleetAt(fleet, now).instances.find((status) => status.name === name);
}

export function backupRows(name: string, list: ListState, { facts }: Around): readonly BackupRow[] {
  const rows = facts.get('backups', name).last?.value.rows ?? [];
  return filtered(rows, list, ({ id, backupId, status, triggeredAt, provenAt }) =>
    [id, backupId, status, triggeredAt, provenAt === undefined ? '' : 'proven'].join(' '),
  );
}

export function restoreRows(name: string, list: ListState, { facts }: Around): readonly RestoreRow[] {
  const rows = knownOf(facts.get('instance', name).last?.value.restores) ?? [];
  return filtered(rows, list, ({ id, backupId, status, triggeredAt }) =>
    [id, backupId, status, triggeredAt].join(' '),
  );
}

export function metricRows(name: string, list: ListState, { facts }: Around): readonly MetricCourse[] {
  const rows = knownOf(facts.get('instance', name).last?.value.metrics)?.series ?? [];
  return filtered(rows, list, ({ path }) => path);
}

/** The keys of the rows of a section, in their order. */
export function rowKeys(name: string, state: InstanceState, around: Around): readonly string[] {
  const { section, lists } = state;
  if (section === 'backups') return backupRows(name, lists.backups, around).map(({ id }) => String(id));
  if (section === 'restores') return restoreRows(name, lists.restores, around).map(({ id }) => String(id));
  return section === 'metrics' ? metricRows(name, lists.metrics, around).map(({ path }) => path) : [];
}
