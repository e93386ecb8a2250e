import { expect, test } from 'vitest';
import { printItems } from '../../src/cli/print-result.ts';

/** What was written after each step. */
function output(format: 'json' | 'yaml') {
  const written: string[] = [];
  const stdout = { write: (text: string) => written.push(text) > 0 };
  const context = { output: format, stdout } as unknown as Parameters<typeof printItems>[0];
  return { written, printer: printItems(context, 'evaluations') };
}

const REST = { at: '2026-03-01T02:00:00Z', plans: [], drills: {} } as never;

test('each item is written when it arrives, and the whole output is one line of JSON', async () => {
  const { written, printer } = output('json');
  printer.item({ name: 'orders\u009b' } as never);
  expect(written.join('')).toContain('orders\\u009b');
  printer.item({ name: 'bills' } as never);
  await printer.end(REST);
  expect(JSON.parse(written.join(''))).toEqual({
    schema: 'lifeboat.evaluations/1',
    items: [{ name: 'orders\u009b' }, { name: 'bills' }],
    ...(REST as object),
  });
  expect(written.join('').trimEnd()).not.toContain('\n');
});

test('a result without items is complete, too', async () => {
  const { written, printer } = output('json');
  await printer.end(REST);
  expect(JSON.parse(written.join(''))).toMatchObject({ schema: 'lifeboat.evaluations/1', items: [] });
});

test('YAML is one document', async () => {
  const { written, printer } = output('yaml');
  printer.item({ name: 'orders' } as never);
  expect(written).toEqual([]);
  await printer.end(REST);
  expect(written.join('')).toMatch(/^---\nschema: lifeboat\.evaluations\/1\n/u);
});
