import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseConfig } from '../../src/config/load.ts';
import { plainValueOf, valueInParts } from '../../src/config/read-yaml.ts';

const SMALL = { large: 0, part: 1 };

const inParts = (text: string, parse = plainValueOf) => valueInParts(text, 'instances', parse, SMALL);

const PLAIN = `# The fleet.
platform: none
instances: # all of them
  # the first
  orders:
    url: https://h/service-instances/x
    tags:
    - tier-1
    - "a\\n: b"
  billing: { url: "https://h/service-instances/y",
    role: target }

  'the third':
    note: |
      text
      more: text
    last: |+
      kept

# The end.
operator:
  name: A
`;

test('a config is read the same in parts, and no part has all of the instances', () => {
  const lengths: number[] = [];
  const value = inParts(PLAIN, (text) => {
    lengths.push(text.length);
    return plainValueOf(text);
  });
  expect(value).toEqual(plainValueOf(PLAIN));
  expect(Object.keys(value as object)).toEqual(['platform', 'instances', 'operator']);
  expect(lengths.length).toBe(4);
  expect(Math.max(...lengths)).toBeLessThan(PLAIN.length / 2);
});

test.for([
  ['a quoted text over several entries', 'instances:\n  a: "x\n  b: y"\n'],
  ['a flow collection that is cut', 'instances:\n  a: {\n  b: 1 }\n'],
  ['an alias of another entry', 'instances:\n  a: &x {url: 1}\n  b: *x\n'],
  ['a name that stands there twice', 'instances:\n  a: 1\n  b: 2\n  a: 3\n'],
  ['a list in place of names', 'instances:\n  - a\n  - b\n'],
  ['entries that are indented less than the first', 'instances:\n    a: 1\n  b: 2\n'],
  ['no entries', 'instances:\n  # none\noperator: {}\n'],
  ['a directive', '%YAML 1.1\n---\ninstances:\n  a: yes\n'],
  ['two documents', 'instances:\n  a: 1\n---\ninstances:\n  b: 1\n'],
  ['another document behind', 'instances:\n  a: 1\n---\nb: 1\n'],
  ['a heading within a text', 'note: "a\ninstances:\n  x: 1\nb"\ninstances:\n'],
  ['a lone carriage return', 'instances:\n  a: "x\ry"\n'],
  ['a mistake', 'instances:\n  a: 1\n  b: [\n'],
  ['a merge key', 'instances:\n  a: 1\n  b:\n    <<: {c: 1}\n'],
  ['one line', 'instances: {a: 1}\n'],
  ['nothing', ''],
] as const)('%s is left to the parser of the whole', ([, text]) => {
  expect(inParts(text)).toBeUndefined();
});

test('lists that are indented as their key stay with it', () => {
  const text = 'instances:\n  a:\n  - 1\n  - 2\n  b:\n  - 3\n';
  expect(inParts(text)).toEqual({ instances: { a: [1, 2], b: [3] } });
});

test('whatever the lines, parts say what the whole says, or nothing', () => {
  const indents = ['', ' ', '  ', '  ', '  ', '    ', '    ', '\t'];
  const texts = [
    'a: 1',
    'b:',
    'c: "x',
    'y"',
    "d: 'z",
    "w'",
    '- 1',
    'e: |',
    'f: |+',
    'g: >-',
    'plain',
    '# no',
  ];
  const odd = ['h: {', '}', 'i: [1,', ']', '? j', ': k', '&x l: 1', 'm: *x', 'n: !!str 1', '---', '...', ''];
  const line = fc.tuple(fc.constantFrom(...indents), fc.constantFrom(...texts, ...odd));
  const end = fc.constantFrom('\n', '\r\n', '\u2028');
  let agreed = 0;
  fc.assert(
    fc.property(
      fc.array(line, { maxLength: 5 }),
      fc.array(line, { maxLength: 8 }),
      end,
      (before, lines, eol) => {
        const written = (all: typeof lines) => all.map(([indent, rest]) => `${indent}${rest}${eol}`).join('');
        const text = `${written(before)}instances:\n  z: 1\n${written(lines)}`;
        const value = inParts(text);
        if (value === undefined) return;
        agreed += 1;
        expect(value).toEqual(plainValueOf(text));
      },
    ),
    { numRuns: 20_000 },
  );
  expect(agreed).toBeGreaterThan(100);
});

test('thousands of instances in YAML are the same config as in JSON', () => {
  const instances = Object.fromEntries(
    Array.from({ length: 4_000 }, (_, at) => [
      `orders-${at}`,
      { url: `https://h/service-instances/${at}`, tags: ['tier-1'], objectives: { rpo: '1d' } },
    ]),
  );
  const entries = Object.entries(instances).map(
    ([name, { url }]) => `  ${name}:\n    url: ${url}\n    tags: [tier-1]\n    objectives:\n      rpo: 1d\n`,
  );
  const yaml = parseConfig(`platform: none\ninstances:\n${entries.join('')}`, '/etc/lifeboat.yaml');
  const json = parseConfig(JSON.stringify({ platform: 'none', instances }), '/etc/lifeboat.yaml');
  expect({ ...yaml, sha256: '' }).toEqual({ ...json, sha256: '' });
});
