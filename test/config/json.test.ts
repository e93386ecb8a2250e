import { expect, test } from 'vitest';
import { LifeboatError } from '../../src/base/errors.ts';
import { parseConfig } from '../../src/config/load.ts';

const PATH = '/etc/lifeboat.yaml';
const URL = 'https://h/service-instances/x';
const VALUE = {
  platform: 'none',
  instances: { orders: { url: URL, tags: ['tier-1'] } },
};

const withoutDigest = (text: string) => ({ ...parseConfig(text, PATH), sha256: '' });

/** The problems of a config that is refused. */
function problemsOf(text: string): readonly string[] {
  try {
    parseConfig(text, PATH);
  } catch (thrown) {
    if (!(thrown instanceof LifeboatError)) throw thrown;
    return thrown.problems.map(({ line, column, key, message }) => `${line}:${column} ${key} ${message}`);
  }
  throw new Error('it was taken');
}

test.for([
  ['on one line', JSON.stringify(VALUE)],
  ['indented', JSON.stringify(VALUE, null, 2)],
  ['with spaces in its texts', JSON.stringify({ ...VALUE, operator: { name: 'a  b\n "c" \\ {d: e}' } })],
] as const)('a config in JSON, %s, says the same as in YAML', ([, text]) => {
  // A comment makes it YAML alone.
  expect(withoutDigest(text)).toEqual(withoutDigest(`${text}\n# the end`));
});

test('a wrong config in JSON is refused with the place of each problem', () => {
  expect(problemsOf(`{\n  "instances": {\n    "orders": { "url": "${URL}", "revsion": 62 }\n  }\n}`)).toEqual(
    [expect.stringMatching(/^3:\d+ instances\.orders\.revsion .*revision/u)],
  );
});

test.for([
  [
    'a name that stands there twice',
    `{ "instances": { "a": { "url": "${URL}" }, "a": { "url": "${URL}y" } } }`,
  ],
  ['a key that objects lose', `{ "instances": { "__proto__": { "url": "${URL}" } } }`],
] as const)('%s is refused in JSON too', ([, text]) => {
  expect(problemsOf(text)).toEqual([expect.stringMatching(/^1:\d+ {2}(?:not YAML: Map keys|no key can)/u)]);
});
