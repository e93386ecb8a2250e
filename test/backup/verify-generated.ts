/**
 * A process that verifies a backup made on the fly, with the MiB of content in its first argument and of the
 * kind in its second, and prints the verdict and its peak memory.
 */
import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { constants, crc32, createGzip, deflateRawSync } from 'node:zlib';
import { encryptor } from '../../src/backup/encryptor.ts';
import { verifyStream } from '../../src/backup/verify-file.ts';
import { KEY, noise } from './bytes.ts';

const CONTENT = {
  noise: noise(2 ** 20, 4, 30),
  dumps: Buffer.concat([
    Buffer.from('-- PostgreSQL database dump\n'),
    Buffer.alloc(2 ** 20 - 66, '1\tAda\n'),
    Buffer.from('\n-- PostgreSQL database dump complete\n'),
  ]),
  errors: Buffer.alloc(2 ** 20, `pg_dump: error: ${'permission denied '.repeat(60)}\n`),
};

const blocks = Number(process.argv[2]);
const kind = process.argv[3];
const content = kind === 'noise' ? CONTENT.noise : kind === 'errors' ? CONTENT.errors : CONTENT.dumps;
const packed = Readable.from(gzipOf(blocks, content));
const backup = kind === 'gzip' ? packed.pipe(createGzip({ level: 1 })) : packed;
const report = await verifyStream(backup.pipe(encryptor({ key: KEY, profile: 'md5' })), { key: KEY });
console.log(JSON.stringify({ report, peakRss: peakOfThis() }));

/** Bytes. On Linux getrusage(2) starts from the parent's value at the fork, unlike VmHWM. */
function peakOfThis(): number {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1024;
  return Number(/^VmHWM:\s+(\d+) kB/mu.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024;
}

/** One gzip member: the same deflated MiB repeatedly, since a full flush makes blocks independent. */
function* gzipOf(count: number, content: Buffer): Generator<Buffer> {
  const deflated = deflateRawSync(content, { finishFlush: constants.Z_FULL_FLUSH });
  let crc = 0;
  yield Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);
  for (let block = 0; block < count; block++) {
    crc = crc32(content, crc);
    yield deflated;
  }
  const end = Buffer.alloc(10);
  end[0] = 3;
  end.writeUInt32LE(crc, 2);
  end.writeUInt32LE((count * content.length) % 2 ** 32, 6);
  yield end;
}
