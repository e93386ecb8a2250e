import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { verifyFile, verifyStream } from '../../src/backup/verify-file.ts';
import { formatBytes } from '../../src/base/format.ts';
import { backupOf, KEY, makeFolder, noise, openssl, run, seal, tarOf } from './kit.ts';

const folder = makeFolder();

/** The verdict on content packed by real gzip and encrypted by real openssl. */
async function verdictOn(content: Uint8Array) {
  const path = join(folder, 'backup');
  await writeFile(path, await openssl(folder, '-e', 'md5', await run('gzip', ['-c'], content)));
  return await verifyFile(path, { key: KEY });
}

const ROWS = Array.from({ length: 4000 }, (_, at) => `${at}\tcustomer ${at}\t2026-01-01\n`).join('');

const PG_DUMP = `--
-- PostgreSQL database dump
--

\\restrict 3yZ

-- Dumped from database version 17.6
-- Dumped by pg_dump version 17.6

SET statement_timeout = 0;
CREATE TABLE public.customers (id integer, name text, since date);
COPY public.customers (id, name, since) FROM stdin;
${ROWS}\\.

--
-- PostgreSQL database dump complete
--

\\unrestrict 3yZ

`;

const PG_DUMPALL = `--
-- PostgreSQL database cluster dump
--

CREATE ROLE ada;
${PG_DUMP}
--
-- PostgreSQL database cluster dump complete
--

`;

const MYSQLDUMP = `-- MySQL dump 10.13  Distrib 8.0.40, for Linux (x86_64)
--
-- Host: localhost    Database: orders
-- ------------------------------------------------------
CREATE TABLE t (a int);
INSERT INTO t VALUES ${Array.from({ length: 9000 }, (_, at) => `(${at})`).join(',')};
-- Dump completed on 2026-01-01 10:00:00
`;

const MARIADB_DUMP = MYSQLDUMP.replace(
  '-- MySQL dump 10.13  Distrib 8.0.40,',
  '/*M!999999\\- enable the sandbox mode */\n-- MariaDB dump 10.19-11.4.2-MariaDB,',
);

const DUMPS = [
  ['of pg_dump', PG_DUMP, '-- PostgreSQL database dump complete'],
  ['of pg_dumpall', PG_DUMPALL, '-- PostgreSQL database cluster dump complete'],
  ['of mysqldump', MYSQLDUMP, '-- Dump completed'],
  [
    'of mysqldump, with its warning before it',
    `mysqldump: [Warning] password\n${MYSQLDUMP}`,
    '-- Dump completed',
  ],
  ['of mariadb-dump', MARIADB_DUMP, '-- Dump completed'],
  ['with the line ends of Windows', PG_DUMP.replaceAll('\n', '\r\n'), '-- PostgreSQL database dump complete'],
] as const;

describe('an SQL dump shows at its end that it is complete', () => {
  test.each(DUMPS)(
    '%s: whole it is intact, cut anywhere before that line it is truncated',
    async (_, text, end) => {
      expect(await verdictOn(Buffer.from(text))).toMatchObject({ ok: true, verdict: 'intact' });
      const last = text.lastIndexOf(end);
      for (const length of [200, 511, 512, 513, 20_000, last - 1, last + end.length - 1]) {
        expect(await verdictOn(Buffer.from(text.slice(0, length))), `cut at ${length}`).toMatchObject({
          ok: false,
          problem: 'truncated',
          shortMessage: `the dump inside ends early: its last line is not "${end}"`,
          cipherSha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        });
      }
    },
  );

  test('two dumps in one file are complete only when the second one is', async () => {
    expect(await verdictOn(Buffer.from(PG_DUMP + PG_DUMP))).toMatchObject({ ok: true });
    expect(await verdictOn(Buffer.from(PG_DUMP + PG_DUMP.slice(0, -500)))).toMatchObject({
      problem: 'truncated',
    });
  });

  test('statements may follow the end of the dump', async () => {
    const grants = 'GRANT SELECT ON public.customers TO ada;\n'.repeat(1000);
    expect(await verdictOn(Buffer.from(PG_DUMP + grants))).toMatchObject({ ok: true, verdict: 'intact' });
  });

  test('its first comment alone contains nothing to recover', async () => {
    expect(await verdictOn(Buffer.from(PG_DUMP.slice(0, 20)))).toMatchObject({
      problem: 'empty',
      shortMessage: expect.stringContaining('only comments, 20 B'),
    });
  });

  test('also in a tar, whichever entry it is', async () => {
    const cut = PG_DUMP.slice(0, 30_000);
    const whole = { 'a.bin': noise(2000), 'one.sql': PG_DUMP, 'two.sql': MYSQLDUMP };
    expect(await verdictOn(await tarOf(whole))).toMatchObject({ ok: true, verdict: 'readable', entries: 3 });
    expect(await verdictOn(await tarOf({ ...whole, 'one.sql': cut }))).toMatchObject({
      problem: 'truncated',
      shortMessage: expect.stringMatching(/^the dump inside ends early: /),
    });
    expect(await verdictOn(await tarOf({ ...whole, 'three.sql': cut }))).toMatchObject({
      problem: 'truncated',
    });
  });

  test('the verdict does not depend on how the stream is chunked', async () => {
    for (const text of [PG_DUMP, PG_DUMP.slice(0, -300), PG_DUMPALL.slice(0, -80)]) {
      const file = await seal(gzipSync(text));
      const whole = await verifyStream(Readable.from([file]), { key: KEY });
      for (const size of [7, 33]) {
        const chunks = Array.from({ length: Math.ceil(file.length / size) }, (_, at) =>
          file.subarray(at * size, (at + 1) * size),
        );
        expect(await verifyStream(Readable.from(chunks), { key: KEY })).toEqual(whole);
      }
    }
  });
});

describe('a gzip in the gzip is read to its end', () => {
  test('cut anywhere, it is truncated, although the outer gzip is complete', async () => {
    const packed = await run('gzip', ['-c'], noise(200_000));
    expect(await verdictOn(packed)).toMatchObject({ ok: true, verdict: 'intact', content: 'gzip' });
    for (const length of [9, 1000, packed.length - 9, packed.length - 1]) {
      expect(await verdictOn(packed.subarray(0, length)), `cut at ${length}`).toMatchObject({
        ok: false,
        problem: 'truncated',
        shortMessage: expect.stringMatching(/^the gzip inside: the (?:gzip )?data ends /),
      });
    }
  });

  test('with a damaged byte it is corrupt', async () => {
    const packed = await run('gzip', ['-c'], noise(200_000));
    packed[100_000] = (packed[100_000] ?? 0) ^ 1;
    expect(await verdictOn(packed)).toMatchObject({
      problem: 'corrupt',
      shortMessage: expect.stringMatching(/^the gzip inside: the gzip /),
    });
  });

  test('only zeros may follow it, as gzip allows', async () => {
    const packed = await run('gzip', ['-c'], noise(3000));
    expect(await verdictOn(Buffer.concat([packed, Buffer.alloc(70_000)]))).toMatchObject({ ok: true });
    expect(await verdictOn(Buffer.concat([packed, Buffer.alloc(512), Buffer.from('x')]))).toMatchObject({
      problem: 'trailing-data',
      shortMessage: expect.stringMatching(/^the gzip inside: something follows the gzip data/),
    });
  });

  test.each([
    [
      'a dump that is cut',
      PG_DUMP.slice(0, 90_000),
      'truncated',
      'the gzip inside: the dump inside ends early',
    ],
    [
      'only errors',
      'pg_dump: error: no\n'.repeat(9000),
      'empty',
      'it holds no data: a gzip of a text of 167 KiB',
    ],
  ])('its content is evaluated: %s', async (_, text, problem, words) => {
    expect(await verdictOn(await run('gzip', ['-c'], Buffer.from(text)))).toMatchObject({
      problem,
      shortMessage: expect.stringContaining(words),
    });
  });

  test('damage of the file itself is reported first', async () => {
    const inner = (await run('gzip', ['-c'], noise(3_000_000))).subarray(0, 2_000_000);
    const file = await backupOf(Buffer.concat([inner, noise(1_000_000, 5)]));
    file[file.length - 500_000] = (file[file.length - 500_000] ?? 0) ^ 1;
    expect(await verifyStream(Readable.from([file]), { key: KEY })).toMatchObject({
      problem: 'corrupt',
      shortMessage: expect.not.stringContaining('inside'),
    });
  });

  test('nested gzips are not unpacked endlessly', async () => {
    let packed: Buffer = Buffer.from('select 1;\n');
    for (let depth = 0; depth < 40; depth++) packed = gzipSync(packed, { level: 0 });
    expect(await verdictOn(packed)).toMatchObject({ ok: true, verdict: 'intact', content: 'gzip' });
  });
});

describe('a long text that is only errors holds no data', () => {
  const ERROR = 'pg_dump: error: query failed: ERROR:  permission denied for table customers\n';
  const DETAIL = 'pg_dump: detail: Query was: LOCK TABLE public.customers IN ACCESS SHARE MODE\n';

  test.each([
    ['one error again and again', ERROR.repeat(2900), 'pg_dump: error: query failed'],
    ['with details and blank lines', `${ERROR}${DETAIL}\tIs the server running?\n\n`.repeat(900), 'pg_dump'],
    ['of mysqldump', 'ERROR 1045 (28000): Access denied for user\n'.repeat(2000), 'ERROR 1045'],
  ])('%s', async (_, text, begins) => {
    const size = formatBytes(text.length);
    expect(await verdictOn(Buffer.from(text))).toMatchObject({
      ok: false,
      problem: 'empty',
      shortMessage: expect.stringContaining(
        `the key opens it, and it holds no data: a text of ${size} that is no dump; it begins: ${begins}`,
      ),
    });
    expect(await verdictOn(await tarOf({ 'dump.sql': text }))).toMatchObject({
      problem: 'empty',
      shortMessage: expect.stringContaining(`no entry holds data, but a text of ${size} that is no dump`),
    });
  });

  test.each([
    ['an error, then data', `${ERROR.repeat(2900)}1\tAda\n`],
    ['statements about errors', "INSERT INTO errors VALUES ('error: failed');\n".repeat(3000)],
    ['rows about errors', '1,error,failed\n'.repeat(9000)],
    ['errors as JSON, one record a line', '{"level":"error"}\n'.repeat(9000)],
    ['one line without end', `pg_dump: error: ${'x'.repeat(200_000)}`],
  ])('but not %s', async (_, text) => {
    expect(await verdictOn(Buffer.from(text))).toMatchObject({ ok: true, verdict: 'intact' });
  });
});
