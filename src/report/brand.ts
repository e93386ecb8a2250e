import { crc32 } from 'node:zlib';
import { EXIT, LifeboatError } from '../base/errors.ts';

/** The owner of the report, from the configuration. Not part of the record: the JSON form has none of it. */
export interface Brand {
  readonly name?: string | undefined;
  readonly logo?: Logo | undefined;
}

/** A PNG, which a page can embed safely: it loads nothing and runs nothing. */
export interface Logo {
  readonly base64: string;
}

/** The maximum bytes of a logo file. */
export const LARGEST_LOGO = 256 * 1024;

/** The logo in a PNG file. Throws `report.logo` for anything else: an image is never repaired. */
export function logoOf(bytes: Uint8Array): Logo {
  try {
    const buffer = Buffer.from(bytes);
    if (buffer.length > LARGEST_LOGO) throw new NotALogo('it is larger than 256 KiB');
    assertPng(buffer);
    return { base64: buffer.toString('base64') };
  } catch (thrown) {
    if (!(thrown instanceof NotALogo)) throw thrown;
    throw new LifeboatError('report.logo', `the logo cannot be used: ${thrown.message}`, {
      hints: ['a PNG works, of at most 256 KiB and 4096 pixels each way; export another format as one'],
      exitCode: EXIT.usage,
    });
  }
}

/** A file is not a valid logo. The message says why, as the end of a sentence. */
class NotALogo extends Error {}

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');

/** Pixels each way. */
const LARGEST_SIDE = 4096;
/** Length, type and checksum of a chunk. */
const AROUND = 12;

/** Throws `NotALogo` for a file that is no complete PNG, or that would need a lot of memory to show. */
function assertPng(bytes: Buffer): void {
  if (!bytes.subarray(0, SIGNATURE.length).equals(SIGNATURE)) throw new NotALogo('it is not a PNG');
  let at = SIGNATURE.length;
  const types: string[] = [];
  while (types.at(-1) !== 'IEND') {
    const size = at + AROUND <= bytes.length ? bytes.readUInt32BE(at) : bytes.length;
    const end = at + AROUND + size;
    if (end > bytes.length) throw new NotALogo('it is a PNG that is cut off');
    const type = bytes.toString('latin1', at + 4, at + 8);
    if (bytes.readUInt32BE(end - 4) !== crc32(bytes.subarray(at + 4, end - 4)))
      throw new NotALogo(`it is a PNG that is damaged at byte ${at}`);
    if (types.length === 0) assertHeader(type, bytes.subarray(at + 8, end - 4));
    types.push(type);
    at = end;
  }
  if (!types.includes('IDAT') || at < bytes.length)
    throw new NotALogo('it is a PNG without a picture, or with more behind it');
}

function assertHeader(type: string, data: Buffer): void {
  if (type !== 'IHDR' || data.length !== 13) throw new NotALogo('it is a PNG without a header');
  if ([data.readUInt32BE(0), data.readUInt32BE(4)].some((side) => side < 1 || side > LARGEST_SIDE))
    throw new NotALogo(`its sides are not between 1 and ${LARGEST_SIDE} pixels`);
}
