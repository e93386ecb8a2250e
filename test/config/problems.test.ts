import { describe, expect, test, vi } from 'vitest';
import { Alias, Scalar } from 'yaml';
import { LifeboatError } from '../../src/base/errors.ts';
import { printError } from '../../src/cli/print-error.ts';
import { parseConfig } from '../../src/config/load.ts';

const PATH = '/etc/lifeboat.yaml';
const SIMILAR = 'there is no such key; the most similar:';

/** The refusal of a config. */
function refusalOf(text: string): LifeboatError {
  try {
    parseConfig(text, PATH);
  } catch (thrown) {
    if (thrown instanceof LifeboatError) return thrown;
    throw thrown;
  }
  throw new Error('it was taken');
}

describe('a config that is wrong is refused with the place and the text of each problem', () => {
  test.for([
    ['a misspelt key', 'instnces: {}', ['1:1: instances: ', `1:1: instnces: ${SIMILAR} instances`]],
    ['an unknown key', 'instances: {}\nwhatever: 1', ['2:1: whatever: there is no such key']],
    [
      'a key inside an instance',
      'instances:\n  orders:\n    url: https://h/service-instances/x\n    revsion: 62',
      [`4:5: instances.orders.revsion: ${SIMILAR} revision`],
    ],
    [
      'a key inside one of several forms',
      'instances: { a: { url: https://h/service-instances/x, token: { commnd: x } } }',
      [`1:64: instances.a.token.commnd: ${SIMILAR} command`],
    ],
    [
      'two sources of one token',
      'instances:\n  a:\n    url: https://h/service-instances/x\n    token: { env: A, file: B }',
      ['4:12: instances.a.token: a token comes from one source: '],
    ],
    [
      'a value of another form',
      'instances: {}\nplatform: { api: 5 }',
      ['2:18: platform.api: a text belongs here'],
    ],
    [
      'a missing key',
      'instances:\n  orders: { role: target }',
      ['2:3: instances.orders.url: this key is missing'],
    ],
    ['a key without a value', 'instances:\n  orders:', ['2:3: instances.orders: a map of keys belongs here']],
    [
      'a word that is not in its list',
      'instances: {}\ndrills: { every: 0d }',
      ['2:18: drills.every: an interval'],
    ],
    [
      'a command as one text',
      'instances: { a: { url: https://h/service-instances/x, apps: [{ name: b, reconnect: { command: "x y", proof: [z] } }] } }',
      ['1:95: instances.a.apps.0.reconnect.command: a program and its arguments, as a list'],
    ],
    [
      'a command without a proof',
      'instances: { a: { url: https://h/service-instances/x, apps: [{ name: b, reconnect: { command: [y] } }] } }',
      ['1:73: instances.a.apps.0.reconnect.proof: a program and its arguments, as a list'],
    ],
    [
      'an element of a list',
      'instances: {}\ncheckpoints:\n  - ./a\n  - { command: x, timeout: 5 }',
      ['4:28: checkpoints.1.timeout: a duration has a unit'],
    ],
    [
      'a time that no timer could keep',
      'instances:\n  a: { url: https://h/service-instances/1, router: 0s, reconcile: { command: x, timeout: 30d } }',
      [
        '2:52: instances.a.router: a limit is longer than zero',
        '2:90: instances.a.reconcile.timeout: a limit',
      ],
    ],
    [
      'a text that is too long',
      `instances: {}\nreport: { name: ${'x'.repeat(81)} }`,
      ['2:17: report.name: this is too long: at most 80 characters fit'],
    ],
    [
      'a target with an invalid name',
      'instances: {}\nnotify:\n  - { name: a b, command: x }',
      ['3:13: notify.0.name: the name of a target has letters'],
    ],
    [
      'an invalid name',
      'instances:\n  "a b": { url: https://h/service-instances/x }',
      ['2:3: instances.a b: an instance name has letters'],
    ],
    [
      'what an alias stands for',
      'instances: &x { a: { url: https://h/service-instances/x } }\nreport: *x',
      ['1:17: report.a: there is no such key'],
    ],
    [
      'an address that is not that of an instance',
      `instances:
  a: { url: htps://h/service-instances/1 }
  b: { url: nonsense }
  c: { url: ftp://h/service-instances/1 }
  d: { url: https://h/ }
  e: { url: https://h/service-instances/1?x }`,
      [
        '2:13: instances.a.url: this is not an http address',
        '3:13: instances.b.url: this is not a URL',
        '4:13: instances.c.url: this is not an http address',
        '5:13: instances.d.url: this does not name an instance',
        '6:13: instances.e.url: an address has no query',
      ],
    ],
    [
      'two names for one instance',
      `instances:
  orders: { url: https://h/service-instances/4A1F }
  shop: { url: https://other/v1/instances/1 }
  bills: { url: https://h/v1/instances/4a1f/ }`,
      [
        '2:18: instances.orders.url: bills has the same address: one instance has one name',
        '4:17: instances.bills.url: orders has the same address: one instance has one name',
      ],
    ],
    [
      'more names for one instance',
      `instances:\n${['a', 'b', 'c', 'd'].map((name) => `  ${name}: { url: https://h/service-instances/1 }`).join('\n')}`,
      [
        '2:13: instances.a.url: b and 2 more have the same address',
        '3:13: instances.b.url: a and 2 more have the same address',
        '4:13: instances.c.url: a and 2 more have the same address',
        '5:13: instances.d.url: a and 2 more have the same address',
      ],
    ],
    ['text that is no YAML', 'instances: [\nb: }', ['2:1: not YAML: ', '2:4: not YAML: ']],
    ['a key that is there twice', 'instances: {}\nstore: sqlite\nstore: sqlite', ['3:1: not YAML: ']],
    [
      'an alias without its anchor',
      'instances:\n  a: *none\n  b: { url: *later }\nreport: &later { name: *later }',
      [
        '2:6: not YAML: this alias has no anchor before it',
        '3:13: not YAML: this alias has no anchor before it',
      ],
    ],
    [
      'merge keys',
      'instances:\n  a: &x { url: https://h/service-instances/1 }\n  b:\n    <<: *x\n    role: target',
      ['4:5: merge keys (<<) are not supported: write the keys out'],
    ],
    [
      'a key that an object cannot have',
      'instances:\n  __proto__: { whatever: 1 }\n  a: { "__proto__": 1 }',
      ['2:3: no key can be called __proto__', '3:8: no key can be called __proto__'],
    ],
    [
      'a name that is empty, and one that is none',
      'instances:\n  "": { url: https://h/service-instances/1 }\n  ~: {}',
      ['2:3: instances."": an instance name has letters'],
    ],
    [
      'a key that is not there',
      'instances:\n  : { url: https://h/service-instances/1 }',
      ['2:3: instances."": an instance name has letters'],
    ],
    ['two documents', 'instances: {}\n---\ninstances: {}', ['2:1: a config is one document']],
  ] as const)('%s', ([, text, expected]) => {
    const { shortMessage, exitCode, problems } = refusalOf(text);
    expect(exitCode).toBe(2);
    expect(shortMessage).toContain(`${PATH}:${expected[0]}`);
    const found = problems.map(({ line, column, key, message }) =>
      [`${line}:${column}`, ...(key === '' ? [] : [key]), message].join(': '),
    );
    expect(found).toEqual(expected.map((words) => expect.stringContaining(words)));
  });

  test('all at once, in the order of the file, up to a readable number', () => {
    const keys = Array.from({ length: 30 }, (_, at) => `key${at}: 1`);
    const { problems, hints } = refusalOf(['instances: {}', ...keys].join('\n'));
    expect(problems.map(({ line }) => line)).toEqual(Array.from({ length: 20 }, (_, at) => at + 2));
    expect(hints).toContain('these are the first 20 of 30 problems');
  });

  test('in time that grows with the text, not with its square', () => {
    const [some, twice] = [workFor(500), workFor(1_000)];
    expect(twice.found).toContain('these are the first 20 of 2002 problems');
    expect(twice.reads / some.reads).toBeLessThan(2.5);
    expect(twice.resolved).toBe(some.resolved);
  });

  test('including each key that is repeated in its map, however it is written', () => {
    const text = 'instances: {}\na: { b: 1, "b": 2 }\n1: x\n0x1: y\nb: {}\nnotify: [\n';
    const places = refusalOf(text).problems.map(({ line, column }) => [line, column]);
    expect(places).toEqual([
      [2, 12],
      [4, 1],
      [7, 1],
    ]);
  });

  test('for people one line each, for programs as a list', () => {
    const refusal = refusalOf('instances: {}\none: 1\nother: 1');
    const lines: string[] = [];
    const stream = { write: (line: string) => lines.push(line) };
    expect(printError(refusal, stream)).toBe(2);
    expect(lines.slice(0, 2)).toEqual([
      `lifeboat: ${PATH}:2:1: one: there is no such key\n`,
      `lifeboat: ${PATH}:3:1: other: there is no such key\n`,
    ]);
    lines.length = 0;
    printError(refusal, stream, 'json');
    expect(JSON.parse(lines.join(''))).toMatchObject({
      schema: 'lifeboat.error/1',
      code: 'config.invalid',
      problems: [
        { path: PATH, line: 2, column: 1, key: 'one', message: 'there is no such key' },
        { line: 3, key: 'other' },
      ],
    });
  });
});

/** How often values are read and aliases resolved for two instances that share one map of wrong keys. */
function workFor(count: number) {
  const keys = Array.from({ length: count }, (_, at) => `    urll${at}: 1`);
  const text = ['instances:', '  a: &a', ...keys, '  b: *a'].join('\n');
  const values = new WeakMap<object, unknown>();
  let reads = 0;
  const resolve = vi.spyOn(Alias.prototype, 'resolve');
  // The parser assigns the value of a scalar to itself, so an accessor above it sees each use.
  Object.defineProperty(Scalar.prototype, 'value', {
    configurable: true,
    get(this: Scalar) {
      reads += 1;
      return values.get(this);
    },
    set(this: Scalar, value: unknown) {
      values.set(this, value);
    },
  });
  try {
    const { hints } = refusalOf(text);
    return { found: hints, reads, resolved: resolve.mock.calls.length };
  } finally {
    Reflect.deleteProperty(Scalar.prototype, 'value');
    resolve.mockRestore();
  }
}
