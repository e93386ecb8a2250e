import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Fault, FaultTable, type FaultTarget, spoil } from '../../src/lab/faults.ts';

const LIST: FaultTarget = { method: 'GET', path: '/backups' };
const CREATE: FaultTarget = { method: 'POST', path: '/backups', startsTask: true };
const SETTINGS: FaultTarget = { method: 'PATCH', path: '/backups-config' };
const DOWNLOAD: FaultTarget = { method: 'GET', path: '/backups/:id/download', streams: true };
const ORDERS = { name: 'orders', guid: '0c7f0f0e-0000-4000-8000-000000000001' };
const TARGET = { name: 'orders-dr', guid: '0c7f0f0e-0000-4000-8000-000000000002' };
const DROP = { kind: 'drop', when: 'before' } as const;

const table = () => new FaultTable([LIST, CREATE, SETTINGS, DOWNLOAD], [ORDERS, TARGET]);

/** Which of this many calls are hit, counted from 0. */
function hits(faults: FaultTable, calls: number, target = LIST): number[] {
  return Array.from({ length: calls }, (_, call) => call).filter(
    () => faults.take(target, ORDERS).length > 0,
  );
}

describe('a fault', () => {
  test('lets through as many calls as it says, then hits as many as it says', () => {
    const faults = table();
    faults.add({ path: '/backups', after: 3, times: 2, effect: DROP });
    expect(faults.open).toMatchObject([{ after: 3, times: 2 }]);
    expect(hits(faults, 4)).toEqual([3]);
    expect(faults.open).toMatchObject([{ after: 0, times: 1 }]);
    expect(hits(faults, 10)).toEqual([0]);
    expect(faults.open).toEqual([]);
  });

  test('counts only calls that it could hit, not those of another instance, method or endpoint', () => {
    const faults = table();
    faults.add({ instance: TARGET.guid, after: 1, effect: DROP });
    faults.add({ method: 'GET', times: 1, effect: { kind: 'slow', bytesPerSecond: 1 } });
    expect(hits(faults, 5)).toEqual([]);
    expect(faults.take(LIST, TARGET)).toEqual([]);
    expect(faults.take(LIST, TARGET)).toEqual([DROP]);
    expect(faults.take(DOWNLOAD, ORDERS)).toEqual([{ kind: 'slow', bytesPerSecond: 1 }]);
  });

  test('with a probability hits that share of the calls, and with the same seed the same ones', () => {
    const flaky = (seed: number) => {
      const faults = table();
      faults.add({ times: 'always', probability: 0.25, seed, effect: DROP });
      return hits(faults, 4000);
    };
    expect(flaky(7)).toEqual(flaky(7));
    expect(flaky(7)).not.toEqual(flaky(8));
    for (const seed of [0, 1, 7, 2 ** 31]) {
      expect(flaky(seed).length).toBeGreaterThan(900);
      expect(flaky(seed).length).toBeLessThan(1100);
    }
  });

  test('with a probability still hits no more often than specified', () => {
    const faults = table();
    faults.add({ times: 3, probability: 0.1, effect: DROP });
    expect(hits(faults, 1000)).toHaveLength(3);
  });

  test('hits one call together with others in the order in which they were added', () => {
    const faults = table();
    faults.add({ effect: { kind: 'delay', ms: 1 } });
    faults.add({ effect: DROP });
    expect(faults.take(LIST, ORDERS).map(({ kind }) => kind)).toEqual(['delay', 'drop']);
  });

  test('that would have no effect after another fault of the same call waits for the next call', () => {
    const faults = table();
    const answer = { kind: 'answer', status: 502, when: 'after' } as const;
    faults.add({ path: '/backups', effect: { kind: 'garble', body: 'empty' } });
    faults.add({ path: '/backups', effect: answer });
    faults.add({ path: '/backups', effect: { ...answer, status: 503 } });
    faults.add({ path: '/backups', effect: { kind: 'garble', body: 'html' } });
    faults.add({ method: 'POST', effect: { kind: 'colleague' } });
    faults.add({ path: '/backups', effect: { kind: 'delay', ms: 1 } });
    const taken = Array.from({ length: 5 }, () =>
      faults.take(CREATE, ORDERS).map((effect) => ('status' in effect ? effect.status : effect.kind)),
    );
    expect(taken).toEqual([['delay', 'colleague', 502], [503], ['garble'], ['garble'], []]);
  });

  test('finds its endpoint whatever the path parameter is called', () => {
    const faults = table();
    faults.add({ path: '/backups/:backup_id/download', effect: DROP });
    expect(hits(faults, 1, DOWNLOAD)).toEqual([0]);
  });
});

describe('a fault that could never happen is refused, and says why:', () => {
  const cases: readonly [string, unknown, string][] = [
    [
      'no such path',
      { path: '/backup', effect: DROP },
      'no endpoint matches; there are GET /backups, POST /backups',
    ],
    ['no such method there', { method: 'PATCH', path: '/backups', effect: DROP }, 'no endpoint matches'],
    [
      'no such instance',
      { instance: 'order', effect: DROP },
      'there is no instance order; there are orders, orders-dr',
    ],
    ['no task', { method: 'GET', effect: { kind: 'task', outcome: 'failed' } }, 'starts a task'],
    ['no download', { path: '/backups', effect: { kind: 'slow', bytesPerSecond: 9 } }, 'is a download'],
    ['no backup', { method: 'GET', effect: { kind: 'colleague' } }, 'creates a backup'],
    [
      'no JSON',
      { path: '/backups/:id/download', effect: { kind: 'garble', body: 'nulls' } },
      'answers with JSON',
    ],
    [
      'no words',
      { method: 'PATCH', effect: { kind: 'garble', body: 'enums' } },
      'a status, a state or a backup type',
    ],
    ['never', { times: 0, effect: DROP }, 'times'],
    ['with no probability', { probability: 0, effect: DROP }, 'probability'],
    ['a clock that is right', { effect: { kind: 'date', skewMs: 0 } }, 'must not be 0'],
    ['an answer that is none', { effect: { kind: 'answer', status: 200, when: 'after' } }, 'status'],
    ['elsewhere is nowhere', { effect: { kind: 'redirect', to: 'mailto:a@example.com' } }, 'to'],
    ['an unknown field', { effect: DROP, tims: 2 }, 'tims'],
    ['no effect', {}, 'effect'],
    ['nothing', undefined, ''],
  ];
  test.each(cases)('%s', (_, fault, why) => {
    const faults = table();
    expect(() => faults.add(fault)).toThrow(
      expect.objectContaining({ code: 'lab.fault', message: expect.stringContaining(why) }),
    );
    expect(faults.open).toEqual([]);
  });

  test('an instance whose name acts on a terminal is shown harmlessly', () => {
    expect(() => table().add({ instance: '\u001b[31m', effect: DROP } satisfies Fault)).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('\u001b') }),
    );
  });
});

describe('a spoiled answer', () => {
  const backups = [
    { id: 1, status: 'done', downloadable: true, size: 12, finished_at: null },
    { id: 2, status: 'queued', downloadable: false, size: 0, finished_at: null },
  ];

  test('has texts for numbers, an object for a list, null for everything, unknown words', () => {
    expect(spoil(backups, 'strings')).toMatchObject([
      { id: '1', size: '12', downloadable: true },
      { id: '2', size: '0' },
    ]);
    expect(spoil(backups, 'objects')).toEqual({ 0: backups[0], 1: backups[1] });
    expect(spoil([backups[0]], 'nulls')).toEqual([
      { id: null, status: null, downloadable: null, size: null, finished_at: null },
    ]);
    expect(spoil(backups, 'enums')).toMatchObject([
      { id: 1, status: 'hibernating' },
      { id: 2, status: 'hibernating' },
    ]);
    expect(spoil({ id: 1, backups: [{ backup_agent_task: { status: 'done' } }] }, 'enums')).toEqual({
      id: 1,
      backups: [{ backup_agent_task: { status: 'hibernating' } }],
    });
  });

  test('is still JSON, and never equal to the original', () => {
    const answers = fc.oneof(
      fc.array(fc.dictionary(fc.string(), fc.jsonValue())),
      fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }),
    );
    fc.assert(
      fc.property(answers, fc.constantFrom('strings', 'objects', 'enums' as const), (answer, how) => {
        const before = JSON.parse(JSON.stringify(answer));
        const after = JSON.parse(JSON.stringify(spoil(before, how as 'enums')));
        expect(after).not.toEqual(before);
      }),
    );
  });
});
