import { expect, test } from 'vitest';
import { parseDocument } from 'yaml';
import { printableYaml } from '../../src/cli/printable-yaml.ts';

test.each([
  'plain',
  'yes',
  '2026-03-01',
  'two\nlines',
  'tab\there',
  '\u001b[31mred',
  'C1 \u009b2J',
  '\u202egnp.exe',
  'zero\u200bwidth',
  'lone \ud800 half',
  'ship \u{1f6a2}',
  'é',
  '- not: a list #',
  '',
])('a text is printed as ASCII and read back unchanged: %j', (text) => {
  const yaml = printableYaml({ text, [text]: [text] });
  expect(yaml).toMatch(/^[\n\x20-\x7e]*$/u);
  const document = parseDocument(yaml);
  expect(document.errors).toEqual([]);
  expect(document.toJS()).toEqual({ text, [text]: [text] });
});

test('text that older parsers would read as another type is quoted', () => {
  expect(printableYaml(['yes', 'off', '2026-03-01', '0o17', '1_000'])).toBe(
    '- "yes"\n- "off"\n- "2026-03-01"\n- "0o17"\n- "1_000"\n',
  );
});

test('missing values are left out, and equal ones are written twice', () => {
  const shared = { id: 1 };
  expect(printableYaml({ one: shared, other: shared, none: undefined })).toBe(
    'one:\n  id: 1\nother:\n  id: 1\n',
  );
});
