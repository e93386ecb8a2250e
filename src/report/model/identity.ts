import { type Entry, fieldsOf } from '../../store/journal.ts';
import { timelineOf } from '../measure/timeline.ts';
import { find } from './found.ts';
import type { Fact } from './model.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * What of an instance's identity is shown, by the names in the entries. What the change may change is given
 * as what was before it.
 */
const LABELS: Readonly<Record<string, string>> = {
  instanceId: 'Instance id',
  name: 'Name at the service',
  tenant: 'Tenant',
  subtenant: 'Subtenant',
  serviceId: 'Service id',
  planId: 'Plan id',
  createdAt: 'Created',
  state: 'State before',
  backups: 'Backups of its own before',
  newestBackup: 'Newest backup before',
  restores: 'Restores before',
  newestRestore: 'Newest restore before',
  boundApps: 'Bound applications before',
};

/**
 * The instance that was changed, as it was last checked before the call: what an operator's typed name stands
 * for. Empty where the run has looked at none.
 */
export function identityOf(entries: readonly Entry[]): Fact[] {
  const performed = timelineOf(entries)?.performed ?? [];
  const target = performed.findLast(({ verb }) => verb === 'inspectTarget');
  const own = performed.findLast(({ verb }) => verb === 'preflight');
  const found = target === undefined ? serviceOf(own?.output) : fieldsOf(target.output['identity']);
  const rows = Object.entries(LABELS).flatMap(([field, label]) => factOf(label, found[field]));
  if (rows.length === 0) return [];
  const started = find(entries, 'run.started')?.body;
  const name = target === undefined ? started?.instance : (started?.target ?? 'the target');
  const { org, space } = fieldsOf(performed.findLast(({ verb }) => verb === 'bindApp')?.input['to']);
  const where = typeof org === 'string' && typeof space === 'string' ? `${org} / ${space}` : undefined;
  return [
    { label: 'In the config', value: name ?? 'unknown' },
    ...rows,
    ...factOf('Org and space', where),
    ...placeOf(entries, name),
  ];
}

/**
 * Where an instance is and how it was spoken to, as the config had it. Runs of older versions do not tell.
 */
function placeOf(entries: readonly Entry[], name: string | undefined): Fact[] {
  const services = find(entries, 'run.started')?.body.services ?? [];
  const { url, revision } = services.find(({ instance }) => instance === name) ?? {};
  return [...factOf('Address', url), { label: 'API revision', value: revision ?? 'not stated' }];
}

/**
 * Where the data of a recovery into another instance came from: the instance itself where the run has asked
 * it, else as its recovery card has it, because it may be gone. Empty for what stays in its own instance.
 */
export function sourceOf(entries: readonly Entry[]): Fact[] {
  const started = find(entries, 'run.started')?.body;
  if (started?.target === undefined) return [];
  const performed = timelineOf(entries)?.performed ?? [];
  const own = performed.findLast(({ verb }) => verb === 'preflight');
  const onRecord = performed.findLast(({ verb }) => verb === 'readCard');
  const card = fieldsOf(onRecord?.output['card']);
  const asked = serviceOf(own?.output);
  const known: (readonly [string, unknown])[] = [
    ['Instance id', asked['instanceId'] ?? card['instanceId']],
    ['Guid of its backups', card['backupGuid']],
    ['Service id', asked['serviceId'] ?? card['serviceId']],
    ['Plan id', asked['planId'] ?? card['planId']],
    ['Recovery card of', card['preparedAt']],
    ['Asked in this run', own === undefined ? 'no' : 'yes'],
  ];
  const rows = known.flatMap(([label, value]) => factOf(label, value));
  return [
    { label: 'In the config', value: started.instance },
    ...rows,
    ...placeOf(entries, started.instance),
  ];
}

function serviceOf(output: Fields | undefined): Fields {
  // The baseline of a confirmation calls the instance's own id `serviceId`; what the instance was made from
  // is the offering.
  const { serviceId, ...baseline } = fieldsOf(output?.['baseline']);
  const { id, offering, plan, ...service } = fieldsOf(output?.['service']);
  return { ...baseline, ...service, instanceId: id ?? serviceId, serviceId: offering, planId: plan };
}

/** None for an unknown value. */
function factOf(label: string, value: unknown): Fact[] {
  if (Array.isArray(value)) return [{ label, value: value.length === 0 ? 'none' : value.join(', ') }];
  return typeof value === 'string' || typeof value === 'number' ? [{ label, value: String(value) }] : [];
}
