/**
 * A process that verifies a backup made on the fly, of as many MiB as its argument says, and prints its peak
 * memory.
 */
import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { constants, crc32, deflateRawSync } from 'node:zlib';
import { encryptor } from '../../src/backup/encryptor.ts';
import { verifyStream } from '../../src/backup/verify-file.ts';
import { KEY, noise } from './bytes.ts';

const blocks = Number(process.argv[2]);
const report = await verifyStream(
  Readable.from(gzipOf(blocks)).pipe(encryptor({ key: KEY, profile: 'md5' })),
  {
    key: KEY,
  },
);
if (!report.ok) throw new Error(report.shortMessage);
console.log(JSON.stringify({ contentBytes: report.contentBytes, peakRss: peakOfThis() }));

/** Bytes. On Linux getrusage(2) begins with what the parent had at the fork, which VmHWM does not. */
function peakOfThis(): number {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1024;
  return Number(/^VmHWM:\s+(\d+) kB/mu.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024;
}

/** One gzip member: the same deflated MiB again and again, since a full flush lets blocks stand alone. */
function* gzipOf(count: number): Generator<Buffer> {
  const content = noise(2 ** 20, 4, 30);
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
