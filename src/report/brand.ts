import { EXIT, LifeboatError } from '../base/errors.ts';
import { assertPng, NotALogo } from './png.ts';

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

/**
 * A logo from the bytes of a PNG file. Throws `report.logo` for everything else: an image is refused, never
 * repaired.
 */
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
