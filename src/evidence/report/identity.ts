import type { Entry } from '../../journal/journal.ts';
import { plain, table } from '../markdown.ts';
import { fieldsOf, timelineOf } from '../measure/timeline.ts';
import { find } from './found.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What of an instance's identity is shown, by the names in the entries. */
const LABELS: Readonly<Record<string, string>> = {
  instanceId: 'Instance id',
  id: 'Service instance',
  name: 'Name at the service',
  tenant: 'Tenant',
  subtenant: 'Subtenant',
  serviceId: 'Service id',
  planId: 'Plan id',
  plan: 'Plan',
  createdAt: 'Created',
  state: 'State',
  backups: 'Backups of its own',
  newestBackup: 'Newest backup',
  restores: 'Restores',
  newestRestore: 'Newest restore',
  boundApps: 'Bound applications',
};

/**
 * The instance that was changed, as it was last checked before the call: what an operator's typed name stands for. Empty where the run
 * has looked at none.
 */
export function identity(entries: readonly Entry[]): string {
  const performed = timelineOf(entries)?.performed ?? [];
  const target = performed.findLast(({ verb }) => verb === 'inspectTarget');
  const own = performed.findLast(({ verb }) => verb === 'preflight');
  const found = target === undefined ? serviceOf(own?.output) : fieldsOf(target.output['identity']);
  const rows = Object.entries(LABELS).flatMap(([field, label]): [string, string][] => {
    const value = words(found[field]);
    return value === undefined ? [] : [[label, value]];
  });
  if (rows.length === 0) return '';
  const started = find(entries, 'run.started')?.body;
  const name = target === undefined ? started?.instance : (started?.target ?? 'the target');
  return table(['', ''], [['In the config', plain(name ?? 'unknown')], ...rows]);
}

function serviceOf(output: Fields | undefined): Fields {
  return { ...fieldsOf(output?.['ground']), ...fieldsOf(output?.['service']) };
}

function words(value: unknown): string | undefined {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : plain(value.join(', '), 200);
  return typeof value === 'string' || typeof value === 'number' ? plain(String(value), 120) : undefined;
}
