import { createWriteStream } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';
import { encryptor } from '../../src/backup/encryptor.ts';
import { verifyFile } from '../../src/backup/verify-file.ts';
import { Secret } from '../../src/base/secret.ts';
import { median } from './median.ts';
import { timed } from './timed.ts';

export interface BenchVerifyOptions {
  /** Size of the tar inside the backup, about. */
  readonly contentBytes: number;
  /**
   * The command that verifies `file` with the key in `keyFile`; this module in a process of its own when left
   * out.
   */
  readonly command?: (file: string, keyFile: string) => readonly [string, ...string[]];
  readonly rounds?: number;
}

export interface BenchVerifyResult {
  readonly contentBytes: number;
  readonly cipherBytes: number;
  /** Seconds of every round, whole processes. */
  readonly ours: readonly number[];
  readonly pipeline: readonly number[];
  /** Median of ours by median of the pipeline; `low` and `high` are the ratios of single rounds. */
  readonly ratio: { readonly median: number; readonly low: number; readonly high: number };
  /** Highest resident memory of our process, in MiB; undefined where /proc is missing. */
  readonly peakRssMiB: number | undefined;
}

/**
 * Times our verify of one encrypted backup against `openssl enc -d | gzip -dc | tar -t` on the same file, in
 * turns, whole processes. The file is made on the way, the same on every run, and removed.
 */
export async function benchVerify(options: BenchVerifyOptions): Promise<BenchVerifyResult> {
  const folder = await mkdtemp(join(tmpdir(), 'lifeboat-bench-'));
  try {
    const file = join(folder, 'backup');
    const keyFile = join(folder, 'key');
    await writeFile(keyFile, 'bench-key-bench-key-bench-key', { mode: 0o600 });
    const sizes = await makeBackup(file, keyFile, options.contentBytes);
    const command = (options.command ?? verifyOnce)(file, keyFile);
    const shell = ['sh', '-c', PIPELINE, 'sh', keyFile, file] as const;
    const ours: number[] = [];
    const theirs: number[] = [];
    let peak: number | undefined;
    for (let round = 0; round < (options.rounds ?? 3); round++) {
      const own = await timed(command);
      ours.push(own.ms / 1000);
      theirs.push((await timed(shell)).ms / 1000);
      if (own.peakRssMiB !== undefined) peak = Math.max(peak ?? 0, own.peakRssMiB);
    }
    const ratios = ours.map((seconds, round) => seconds / (theirs[round] ?? Number.NaN));
    return {
      ...sizes,
      ours,
      pipeline: theirs,
      ratio: { median: median(ours) / median(theirs), low: Math.min(...ratios), high: Math.max(...ratios) },
      peakRssMiB: peak,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const PIPELINE =
  'openssl enc -d -aes-256-cbc -md md5 -pass "file:$1" -in "$2" 2>/dev/null | gzip -dc | tar -t >/dev/null';

function verifyOnce(file: string, keyFile: string): [string, ...string[]] {
  return [process.execPath, import.meta.filename, '--once', file, keyFile];
}

async function makeBackup(file: string, keyFile: string, contentBytes: number) {
  const key = new Secret((await readFile(keyFile)).toString());
  const tar = pack();
  const content = { bytes: 0 };
  const count = async function* (chunks: AsyncIterable<Uint8Array>) {
    for await (const chunk of chunks) {
      content.bytes += chunk.length;
      yield chunk;
    }
  };
  const filling = fill(tar, contentBytes);
  const output = createWriteStream(file);
  const source = Readable.from(tar as AsyncIterable<Uint8Array>);
  await pipeline(
    source,
    count,
    createGzip({ chunkSize: 2 ** 18 }),
    encryptor({ key, profile: 'md5' }),
    output,
  );
  await filling;
  return { contentBytes: content.bytes, cipherBytes: output.bytesWritten };
}

/**
 * Many files of many sizes, cut out of a pool of table rows. gzip sees 32 KiB at a time: it cannot tell that
 * the pool repeats.
 */
async function fill(tar: ReturnType<typeof pack>, contentBytes: number): Promise<void> {
  const random = generator(20_240_601);
  const pool = Array.from({ length: 24 }, () => tableRows(2 ** 20, random));
  const sizes = [900, 8192, 8192 * 3, 8192 * 16, 8192 * 64, 2 ** 20];
  let left = contentBytes;
  for (let number = 0; left > 0; number++) {
    const rows = pool[random() % pool.length] ?? Buffer.alloc(0);
    const size = Math.min(sizes[random() % sizes.length] ?? 0, left);
    const start = random() % (rows.length - size + 1);
    const name = `base/${16384 + (number % 7)}/${2600 + number}`;
    await new Promise<void>((resolve, reject) => {
      const done = (error?: Error | null) => (error ? reject(error) : resolve());
      tar.entry({ name, mtime: new Date(0) }, rows.subarray(start, start + size), done);
    });
    left -= size + 1024;
  }
  tar.finalize();
}

/**
 * Rows as a database dumps them: numbers, times, names, some noise; gzip makes them three to four times
 * smaller.
 */
function tableRows(length: number, random: () => number): Buffer {
  const rows: string[] = [];
  const word = () => WORDS[Math.floor(((random() % 1024) ** 2 / 1024 ** 2) * WORDS.length)];
  let id = random() % 1_000_000;
  for (let size = 0; size < length; ) {
    const time = `2026-0${1 + (random() % 9)}-1${random() % 10} 1${random() % 10}:${10 + (random() % 50)}:00+00`;
    const note = Array.from({ length: 8 }, word).join(' ');
    const row = `${id++}\t${time}\t${word()}.${word()}@example.com\t${random() % 10_000}\t${note}\t\\N\tt\n`;
    rows.push(row);
    size += row.length;
  }
  return Buffer.from(rows.join('')).subarray(0, length);
}

const SYLLABLES = [
  'an',
  'ber',
  'con',
  'der',
  'el',
  'fi',
  'gor',
  'hal',
  'in',
  'ka',
  'lo',
  'mer',
  'nu',
  'ost',
  'pra',
  'qui',
];
const WORDS = Array.from({ length: 2000 }, (_, index) =>
  [index % 16, (index >> 2) % 16, (index >> 5) % 16].map((part) => SYLLABLES[part]).join(''),
);

function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}

/* `node test/bench/verify.ts --once FILE KEYFILE` verifies, `node test/bench/verify.ts BYTES` measures. */
if (import.meta.main) {
  const [first = '', file, keyFile] = process.argv.slice(2);
  if (first === '--once' && file !== undefined && keyFile !== undefined) {
    const report = await verifyFile(file, { key: new Secret((await readFile(keyFile)).toString()) });
    if (!report.ok || report.verdict !== 'readable') throw new Error(JSON.stringify(report));
  } else {
    console.log(await benchVerify({ contentBytes: Number(first) }));
  }
}
