import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-config-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

const configOf = (name: string) =>
  JSON.stringify({ instances: { [name]: { url: 'https://one.example.com/service-instances/1' } } });

test('a config that has changed is read again, at once, and one that has not is the same', async () => {
  const file = join(freshFolder(), 'lifeboat.yaml');
  const write = (text: string) => writeFileSync(file, text, { mode: 0o600 });
  write(configOf('one'));
  const first = await loadConfig({}, file);
  expect(await loadConfig({}, file)).toBe(first);
  write(configOf('two'));
  expect(Object.keys((await loadConfig({}, file)).instances)).toEqual(['two']);
  write('instances: [');
  await expect(loadConfig({}, file)).rejects.toMatchObject({ code: 'config.yaml' });
  write(configOf('two'));
  chmodSync(file, 0o666);
  await expect(loadConfig({}, file)).rejects.toMatchObject({ code: 'trust.refused' });
});

test('two files of the same text are two configs, with paths of their own', async () => {
  const paths = [];
  for (const folder of [freshFolder(), freshFolder()]) {
    const file = join(folder, 'lifeboat.yaml');
    writeFileSync(file, '{"instances":{},"checkpoints":[{"folder":"beside"}]}', { mode: 0o600 });
    const { path, checkpoints } = await loadConfig({}, file);
    expect(checkpoints).toEqual([{ folder: join(folder, 'beside') }]);
    paths.push(path);
  }
  expect(new Set(paths).size).toBe(2);
});
