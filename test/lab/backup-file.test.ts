import { createWriteStream } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { Lab } from '../../src/lab/lab.ts';
import { sampleDigest } from '../../src/lab/sample-data.ts';
import { emptyDatabase } from '../bench-kit/empty-database.ts';
import { ORDERS, startTestLab } from '../bench-kit/lab.ts';
import {
  backupEnded,
  curl,
  downloadBackup,
  instanceOf,
  openTar,
  run,
  temporaryFolder,
  until,
} from './helpers.ts';

let lab: Lab;
beforeAll(async () => {
  // With every database that `initdb` makes, as a backup of the lab has them.
  const whole = { emptyDatabase: await emptyDatabase() };
  lab = await startTestLab({ instances: ORDERS, sampleApp: { rowsPerSecond: 100 }, ...whole });
});
afterAll(() => lab.close());

/** The part of PostgreSQL's manifest that says which bytes the files have. */
const Manifest = z.object({
  Files: z.array(z.object({ Path: z.string(), Size: z.int(), Checksum: z.string() })),
});

test('openssl, gzip and tar open a backup, and sha256sum confirms every file of the manifest', async () => {
  const folder = await temporaryFolder();
  const file = join(folder, 'backup.tgz.enc');
  await downloadBackup(lab, 1, file);
  const content = join(folder, 'content');
  await run('mkdir', [content]);
  await pipeline(openTar(file, lab.keyFile), createWriteStream(join(folder, 'backup.tar')));
  await run('tar', ['-xf', join(folder, 'backup.tar'), '-C', content]);
  const { Files } = Manifest.parse(JSON.parse(await readFile(join(content, 'backup_manifest'), 'utf8')));
  expect(Files.length).toBeGreaterThan(500);
  const sums = Files.map(({ Path, Checksum }) => `${Checksum}  ${Path}\n`).join('');
  await writeFile(join(folder, 'sums'), sums);
  const checked = await run('sha256sum', ['-c', '--quiet', join(folder, 'sums')], { cwd: content });
  expect(checked.stdout).toBe('');
  // Nothing but the log of the backup's own time is there beyond the manifest.
  const { stdout } = await run('find', [content, '-type', 'f', '-printf', '%P\\n']);
  const listed = new Set([...Files.map(({ Path }) => Path), 'backup_manifest']);
  const others = stdout
    .trim()
    .split('\n')
    .filter((path) => !listed.has(path));
  expect(others.length).toBeGreaterThan(0);
  for (const path of others) expect(path).toMatch(/^pg_wal\//);
});

test('another key does not open a backup', async () => {
  const folder = await temporaryFolder();
  const file = join(folder, 'backup.tgz.enc');
  await downloadBackup(lab, 1, file);
  await writeFile(join(folder, 'key'), 'another key of sixteen letters');
  const chunks = await openTar(file, join(folder, 'key')).toArray();
  expect(Buffer.concat(chunks).includes('backup_manifest')).toBe(false);
});

test('a download continues where it was cut', async () => {
  const folder = await temporaryFolder();
  const file = join(folder, 'backup.tgz.enc');
  await downloadBackup(lab, 1, file);
  const whole = await readFile(file);
  const token = await readFile(lab.tokenFile, 'utf8');
  const url = `${lab.url}${instanceOf(lab, 'orders').v0}/backups/1/download`;
  await writeFile(join(folder, 'part'), whole.subarray(0, 100_000));
  await run('curl', ['-sSfL', '-C', '-', '-o', join(folder, 'part'), '-H', `Authorization: ${token}`, url]);
  expect((await readFile(join(folder, 'part'))).equals(whole)).toBe(true);
});

test('the store holds no plaintext', async () => {
  const store = join(lab.folder, 'store');
  const names = await readdir(store);
  expect(names.length).toBeGreaterThanOrEqual(2);
  for (const name of names.filter((candidate) => candidate.endsWith('.enc'))) {
    const bytes = await readFile(join(store, name));
    expect(bytes.subarray(0, 8).toString()).toBe('Salted__');
    // The tar of any backup names this file, and the sample data's rows this domain.
    expect(bytes.includes('backup_label')).toBe(false);
    expect(bytes.includes('example.com')).toBe(false);
  }
});

describe('a scratch instance', () => {
  test('holds exactly the orders of one moment of its busy source, and no partial order', async () => {
    const source = instanceOf(lab, 'orders');
    const atTrigger = await sampleDigest(source.query);
    await curl(lab, 'POST', `${source.v1}/backups`);
    expect(await backupEnded(lab, 2)).toMatchObject({ status: 'done' });
    const atEnd = await sampleDigest(source.query);
    const file = join(await temporaryFolder(), 'backup.tgz.enc');
    await downloadBackup(lab, 2, file);
    await until('more orders have come', async () =>
      (await sampleDigest(source.query)).tables.orders.rows > atEnd.tables.orders.rows ? true : undefined,
    );

    const scratch = await lab.openScratch(openTar(file, lab.keyFile), { name: 'drill' });
    try {
      const restored = await sampleDigest(scratch.query);
      const { maxId } = restored.tables.orders;
      expect(maxId).toBeGreaterThanOrEqual(atTrigger.tables.orders.maxId);
      expect(maxId).toBeLessThanOrEqual(atEnd.tables.orders.maxId);
      expect(restored.unbalancedOrders).toBe(0);
      expect(restored).toEqual(await sampleDigest(source.query, maxId));
      // The comparison can fail: one cent more in one line shows, in the digest and in the balance.
      await scratch.query(
        'update order_lines set unit_price = unit_price + 0.01 where order_id = 7 and line_no = 1',
      );
      const changed = await sampleDigest(scratch.query);
      expect(changed.tables.order_lines.md5).not.toBe(restored.tables.order_lines.md5);
      expect(changed.tables.orders).toEqual(restored.tables.orders);
      expect(changed.unbalancedOrders).toBe(1);
    } finally {
      await scratch.close();
    }
    await expect(scratch.query('select 1')).rejects.toThrow();
  });

  test('refuses a backup that was cut', async () => {
    const file = join(await temporaryFolder(), 'backup.tgz.enc');
    await downloadBackup(lab, 1, file);
    const whole = Buffer.concat(await openTar(file, lab.keyFile).toArray());
    const half = Readable.from([whole.subarray(0, whole.length / 2)]);
    await expect(lab.openScratch(half, { name: 'half' })).rejects.toMatchObject({ code: 'lab.content' });
  });

  test('refuses a tar that is not a base backup, and removes it completely', async () => {
    const before = await readdir(join(lab.folder, '../pg'));
    const folder = await temporaryFolder();
    await run(
      'sh',
      [
        '-c',
        'ln -s /etc/passwd link && tar -cf link.tar link && echo x > plain && tar -cf plain.tar plain && tar -cPf out.tar ../"$(basename "$PWD")"/plain',
      ],
      { cwd: folder },
    );
    const open = async (name: string) =>
      lab.openScratch(Readable.from([await readFile(join(folder, name))]), { name });
    await expect(open('link.tar')).rejects.toMatchObject({
      code: 'lab.content',
      shortMessage:
        'the backup is not a base backup: the tar entry "link" is refused: it is neither a file nor a folder',
    });
    await expect(open('out.tar')).rejects.toMatchObject({ code: 'lab.content' });
    await expect(open('plain.tar')).rejects.toMatchObject({
      code: 'lab.content',
      shortMessage: expect.stringContaining('PG_VERSION'),
    });
    expect(await readdir(join(lab.folder, '../pg'))).toEqual(before);
  });
});
