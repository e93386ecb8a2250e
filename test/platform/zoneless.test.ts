import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { boundSince, isAfterRestore, newestFirst } from '../../src/platform/capi/bindings.ts';
import { auditEvents, type Capi } from '../../src/platform/capi/capi.ts';

// Far from UTC, so that a time that is read as local is hours off.
beforeEach(() => vi.stubEnv('TZ', 'Asia/Tokyo'));
afterEach(() => vi.unstubAllEnvs());

/** The end of a restore, as a service writes it that names no zone: UTC. */
const RESTORED = '2026-03-01T12:00:00';
const after = { runId: '01K6ZX3T0RUN', notBefore: RESTORED };

const binding = (guid: string, created_at: string) => ({ guid, type: 'app', created_at });

/** A platform that answers every call with these resources, and keeps what it was asked for. */
function platformOf(resources: readonly object[]): Capi & { readonly asked: readonly string[] } {
  const asked: string[] = [];
  return {
    asked,
    get: async (path, schema) => {
      asked.push(path);
      return { value: schema.parse({ resources }), at: undefined };
    },
  };
}

test.each([
  ['2026-03-01T04:00:00Z', false],
  ['2026-03-01T11:59:59Z', false],
  ['2026-03-01T12:00:00Z', true],
  ['2026-03-01T04:00:00', false],
  ['2026-03-01T12:00:01', true],
])('a binding made at %s counts as made since a restore that ended at 12:00 UTC: %s', (created, is) => {
  expect(isAfterRestore(binding('b', created), after)).toBe(is);
});

test('the newest binding is the newest in UTC', () => {
  const bindings = [binding('old', '2026-03-01T03:30:00Z'), binding('new', '2026-03-01T04:00:00')];
  expect(newestFirst(bindings).map(({ guid }) => guid)).toEqual(['new', 'old']);
});

test('an application counts as bound since a binding only when that was made after the restore in UTC', async () => {
  const capi = platformOf([binding('b', '2026-03-01T04:00:00Z')]);
  const since = await boundSince(capi, 'app', { ...after, signal: new AbortController().signal });
  expect(since).toBe(RESTORED);
});

test('the platform is asked for its events since the restore in UTC', async () => {
  const capi = platformOf([]);
  await auditEvents(capi, ['app'], RESTORED, new AbortController().signal);
  expect(decodeURIComponent(capi.asked[0] ?? '')).toContain('created_ats[gt]=2026-03-01T11:59:59Z');
});
