import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'vitest';
import { type TestBench, useQuickBenches } from '../bench-kit/test-bench.ts';

const KEY = (name: string) => `a-key-of-${name}-that-nobody-guesses`;

/** A home that holds no key, with a folder that has these files. */
async function homeWith(
  bench: ReturnType<typeof useQuickBenches>,
  context: TestContext,
  files: Readonly<Record<string, string>>,
) {
  const home = await bench(context, {
    firstDay: true,
    instances: ['db-1', 'db-2', 'db-3'].map((name) => ({ name, key: KEY(name) })),
  });
  const keys = join(home.folder, 'keys');
  mkdirSync(keys);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(keys, name), text, { mode: 0o600 });
  return { home, keys, expect: context.expect };
}

async function held({ good }: TestBench): Promise<readonly string[]> {
  const { items } = JSON.parse(await good('keys', 'list', '--json')) as {
    readonly items: readonly { readonly instance: string; readonly held: boolean }[];
  };
  return items.flatMap(({ instance, held: isHeld }) => (isHeld ? [instance] : []));
}

describe.concurrent('the keys of many instances in a folder', () => {
  const bench = useQuickBenches();

  test('are stored and recorded by one command, and not again when it is repeated', async (context) => {
    const files = { 'db-1.key': `${KEY('db-1')}\n`, 'db-3.key': KEY('db-3'), 'notes.txt': 'not a key' };
    const { home, keys, expect } = await homeWith(bench, context, files);
    const first = await home.good('keys', 'add', '--folder', keys, '--note', 'from the old safe', '--json');
    expect(JSON.parse(first)).toMatchObject({ keys: 2, added: 2, instances: ['db-1', 'db-3'] });
    expect(await held(home)).toEqual(['db-1', 'db-3']);
    for (const name of ['db-1', 'db-3'])
      await home.good('keys', 'add', name, '--file', join(keys, `${name}.key`), '--check');
    const added = (await home.entries()).filter(({ type }) => type === 'key.added');
    expect(added.map(({ stream, body }) => [stream, (body as { note: string }).note])).toEqual([
      ['instance/db-1', 'from the old safe'],
      ['instance/db-3', 'from the old safe'],
    ]);
    const second = await home.good('keys', 'add', '--folder', keys, '--json');
    expect(JSON.parse(second)).toMatchObject({ keys: 2, added: 0 });
  });

  test('are all left alone when a file has no instance or more than one line', async (context) => {
    const files = { 'db-1.key': KEY('db-1'), 'db-22.key': KEY('db-2') };
    const { home, keys, expect } = await homeWith(bench, context, files);
    const refused = async (words: string, ...more: readonly string[]) => {
      const { code, stderr } = await home.run('keys', 'add', '--folder', keys, ...more);
      expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
      expect(await held(home)).toEqual([]);
    };
    await refused('1 file of no instance in lifeboat.yaml: db-22.key');
    await refused('give no instance', 'db-1');
    rmSync(join(keys, 'db-22.key'));
    writeFileSync(join(keys, 'db-2.key'), 'two\nlines\n', { mode: 0o600 });
    await refused('db-2.key');
    rmSync(join(keys, 'db-2.key'));
    rmSync(join(keys, 'db-1.key'));
    await refused('has no file INSTANCE.key');
  });
});
