import type { TargetFacts } from '../../machines/parts/recovery-data.ts';
import type { InputOf } from '../../machines/verbs.ts';
import { inspectTarget } from '../../src/activities/inspect-target.ts';
import { Backup } from '../../src/service/schemas.ts';
import { type FakeService, fakeService } from './fake-service.ts';
import { contextOf } from './world.ts';

export const GUID = '8377f207-21b4-48fd-a75b-78c1bcdef8ca';
/** The guid of another instance's backups. */
export const OTHER = '3a2e59ee-40cb-472a-91d0-502ab259918c';
/** What a run knows of the lost instance. */
export const SOURCE = {
  instance: 'orders',
  instanceId: '7',
  serviceId: 'postgres',
  planId: 'small',
  backupGuid: GUID,
};
/** The overview of a target that fits. */
export const FRESH = {
  id: 12,
  name: 'orders-dr',
  state: 'available',
  service_id: 'postgres',
  plan_id: 'small',
  tenant_name: 'acme',
  subtenant_name: 'prod',
  created_at: '2026-02-28T00:00:00Z',
};
export const GIB = 1024 ** 3;

type Input = Omit<InputOf<'inspectTarget'>, 'on'>;

/** Inspects a target that fits and has room, after a change to it. */
export async function inspect(input: Input, change: (service: FakeService) => unknown = () => undefined) {
  const service = fakeService();
  service.overview = FRESH;
  service.metrics = points({ used_percent: 20, used_threshold: 80, total: 10 * GIB, activated: 0 });
  change(service);
  const context = contextOf(() => new Date(), { instance: 'orders-dr' });
  const result = await inspectTarget(service.deps).run({ on: 'target', source: SOURCE, ...input }, context);
  if (!result.ok) throw new Error(result.failure.shortMessage);
  const facts: TargetFacts = result.output;
  return { facts, service };
}

export function codes({ blockers }: TargetFacts): string[] {
  return blockers.map(({ code }) => code);
}

/** Data points of the persistent disk, at this many seconds. */
export function points(figures: Readonly<Record<string, number>>, node = 0, at = 1): string[] {
  return Object.entries(figures).map(
    ([name, value]) => `postgresql.${node}.parachute.disk.persistent.${name} ${value} ${1_772_000_000 + at}`,
  );
}

export function backup(id: number, size: number, backup_id?: string): Backup {
  return Backup.parse({ id, size, status: 'done', backup_id, triggered_at: `2026-02-28T0${id}:00:00Z` });
}

export function platformWith(names: readonly string[], unseen: number) {
  const apps = names.map((name) => ({ key: name, name, from: 'platform' }));
  const find = async () => ({ apps, unseen: unseen === 0 ? [] : [{ space: 'other', apps: unseen }] });
  return { platform: async () => ({ find }) };
}
