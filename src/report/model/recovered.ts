import { effectOf } from '../../../machines/verbs.ts';
import { type Entry, fieldsOf } from '../../store/journal.ts';
import { COMPARED, Compared } from '../../store/recovery-facts.ts';
import type { RecoveryPoint } from '../measure/recovery-point.ts';
import { timelineOf } from '../measure/timeline.ts';
import type { Report } from './model.ts';
import { type Fact, find } from './model-rows.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The restored backup or point in time, its key, and the service's report. Empty if nothing was restored. */
export function recoveredOf(entries: readonly Entry[], point: RecoveryPoint | undefined): Fact[] {
  const performed = timelineOf(entries)?.performed ?? [];
  const asked = performed.findLast(({ verb }) => effectOf(verb) === 'restore');
  if (asked === undefined) return [];
  const reported: Fields = performed.findLast(({ verb }) => verb === 'waitForRestore')?.output ?? {};
  const { backup = reported['backup'], backupGuid, targetTime, source, fingerprint } = asked.input;
  // An instance that takes over numbers its backups itself: only the backup_id identifies the same one there.
  const [field, wanted] = asked.verb === 'performRecovery' ? ['backupId', backupGuid] : ['id', backup];
  const file = wanted === undefined ? {} : seenBackup(performed, String(field), wanted);
  const { earliest, latest } = performed.findLast(({ verb }) => verb === 'pitrRange')?.output ?? {};
  const rows: (readonly [string, unknown])[] = [
    ['Backup', backup],
    ['backup_id', file['backupId']],
    ['Size in bytes', file['size']],
    ['Backup triggered', file['triggeredAt']],
    ['Backup started', file['startedAt']],
    ['Backup finished', file['finishedAt']],
    ['Backup guid', backupGuid],
    ['Point in time requested', targetTime],
    ['Recoverable from', targetTime === undefined ? undefined : earliest],
    ['Recoverable until', targetTime === undefined ? undefined : latest],
    ['Source of the data', source],
    ['Key (fingerprint in this key store)', fingerprint ?? file['fingerprint']],
    ['Restore', reported['id'] ?? asked.output['id']],
    ['Restore status', reported['status']],
    ['Restored from', reported['restoredFrom']],
    ['Restore triggered', reported['triggeredAt']],
    ['Restore started', reported['startedAt']],
    [
      'Restore first seen running',
      reported['startedAt'] === undefined ? reported['seenRunningAt'] : undefined,
    ],
    ['Restore finished', reported['finishedAt']],
    ['Data recovered up to', point?.recoveredTo],
    ['Data written up to', point?.lostAt],
  ];
  return rows.flatMap(([label, value]) =>
    typeof value === 'string' || typeof value === 'number' ? [{ label, value: String(value) }] : [],
  );
}

/** From the service's lists, and from recorded proofs, which name the key that opens the backup. */
function seenBackup(
  performed: readonly { readonly output: Fields }[],
  field: string,
  wanted: unknown,
): Fields {
  const seen = performed.flatMap(({ output }) =>
    ['newest', 'proven'].flatMap((list) => [output[list]].flat().map(fieldsOf)),
  );
  const own = seen.filter((one) => one[field] === wanted);
  return Object.assign({}, ...own.map(defined)) as Fields;
}

function defined(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** The data's own figures, before and after. Empty if it was not queried. */
export function reconciliationOf(entries: readonly Entry[]): Report['reconciliation'] {
  return (timelineOf(entries)?.performed ?? [])
    .filter(({ verb, output }) => verb === 'reconcile' && output['configured'] === true)
    .map(({ input, output }) => ({
      when: input['when'] === 'after' ? 'after' : 'before',
      at: text(output['at']),
      newest: text(output['newest']),
      count: text(output['count']),
      said: said(output),
    }));
}

/** Undefined if no drill queried the databases after the run. `ledger` has the record of the run. */
export function comparisonOf(ledger: readonly Entry[]): Report['comparison'] {
  const entry = ledger.findLast(({ type }) => type === COMPARED);
  const read = Compared.safeParse(entry?.body);
  if (entry === undefined || !read.success) return undefined;
  const { run: _, ...compared } = read.data;
  return { ...compared, at: entry.at };
}

/** The command's output, or why there is none. */
function said({ failure, output }: Fields): string {
  const why = fieldsOf(failure)['shortMessage'];
  return typeof why === 'string' ? `failed: ${why}` : text(output);
}

function text(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** By the names in the entries. Parts that the change may affect are shown as they were before it. */
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
 * The changed instance as last checked before the call, to which the operator's typed name refers. Empty if
 * the run checked none.
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

/** The address and revision of an instance, from the config. Runs of older versions do not record them. */
function placeOf(entries: readonly Entry[], name: string | undefined): Fact[] {
  const services = find(entries, 'run.started')?.body.services ?? [];
  const { url, revision } = services.find(({ instance }) => instance === name) ?? {};
  return [...factOf('Address', url), { label: 'API revision', value: revision ?? 'not stated' }];
}

/**
 * The source of a recovery into another instance: the instance's own answers if the run asked it, else its
 * recovery card, because it may be gone. Empty for a recovery in place.
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
  // The baseline of a confirmation calls the instance's own id `serviceId`, and its type is its offering.
  const { serviceId, ...baseline } = fieldsOf(output?.['baseline']);
  const { id, offering, plan, ...service } = fieldsOf(output?.['service']);
  return { ...baseline, ...service, instanceId: id ?? serviceId, serviceId: offering, planId: plan };
}

/** Empty for an unknown value. */
function factOf(label: string, value: unknown): Fact[] {
  if (Array.isArray(value)) return [{ label, value: value.length === 0 ? 'none' : value.join(', ') }];
  return typeof value === 'string' || typeof value === 'number' ? [{ label, value: String(value) }] : [];
}
