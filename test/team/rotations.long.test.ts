import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { builtProduct } from '../bench-kit/product.ts';
import { until } from '../bench-kit/until.ts';
import { openTeam, type Person } from './team.ts';
import { LEASE_MS } from './trial.ts';

/** How many rotations are due at once. */
const ROTATIONS = Number(process.env['ROTATIONS'] ?? 6);

const product = builtProduct({ cheapVault: true, leaseMs: LEASE_MS });
const keyOf = (name: string) => `a-key-of-${name}-that-nobody-guesses`;

async function done({ name, bench }: Person, ...words: readonly string[]): Promise<void> {
  const { code, stderr } = await bench.run(...words);
  expect(code, `${name}: ${words.join(' ')}: ${stderr}`).toBe(0);
}

test(`of ${ROTATIONS} rotations each is done once by the worker that holds its key, and none by the other`, {
  timeout: 3_600_000,
}, async ({ onTestFinished }) => {
  const names = Array.from({ length: ROTATIONS }, (_, at) => `db-${at + 1}`);
  const team = await openTeam(product, {
    instances: [{ name: 'orders' }, ...names.map((name) => ({ name, key: keyOf(name), backups: 1 }))],
  });
  onTestFinished(() => team.close());
  const holderOf = new Map(names.map((name, at) => [name, at % 2 === 0 ? team.ada : team.bob]));
  for (const [name, person] of holderOf) {
    const file = join(person.bench.folder, `key-of-${name}`);
    writeFileSync(file, keyOf(name), { mode: 0o600 });
    await done(person, 'keys', 'add', name, '--file', file);
    await done(person, 'run', 'rotate-key', name, '--yes', '--confirm', name, '--detach');
  }
  const workers = [team.ada, team.bob].map((person) => person.bench.start('worker', '--concurrency', '4'));
  const rotated = async () =>
    (await team.entries()).filter(({ type, stream }) => type === 'run.closed' && stream.startsWith('run/'));
  await until(async () => (await rotated()).length >= ROTATIONS, 1_800_000);
  for (const { child, ended } of workers) {
    child.kill('SIGTERM');
    expect((await ended).code).toBe(0);
  }

  const entries = await team.entries();
  const instanceOf = new Map(
    entries.flatMap(({ type, stream, body }) => {
      const { instance } = body as { readonly instance?: string };
      return type === 'run.started' && instance !== undefined ? [[stream as string, instance]] : [];
    }),
  );
  expect([...instanceOf.values()].toSorted()).toEqual(names.toSorted());
  for (const { stream, by } of entries) {
    const instance = instanceOf.get(stream);
    if (instance !== undefined) expect(by).toContain(holderOf.get(instance)?.name);
  }
  expect((await rotated()).map(({ body }) => body)).toEqual(
    Array.from(names, () => expect.objectContaining({ outcome: 'done', proven: true })),
  );
  const { calls } = team.ada.bench.server;
  const set = calls.filter(({ method, did }) => method === 'PATCH' && did).map(({ instance }) => instance);
  expect(set.toSorted()).toEqual(names.toSorted());
});
