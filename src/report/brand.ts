import { EXIT, LifeboatError } from '../base/errors.ts';
import { NotALogo } from './logo/not-a-logo.ts';
import { isPng, refuseBrokenPng } from './logo/png.ts';
import { drawingIn } from './logo/svg.ts';

/** Whose report it is, as the configuration says. It is no part of the record: JSON has none of it. */
export interface Brand {
  readonly name?: string | undefined;
  readonly logo?: Logo | undefined;
}

/** An image that a page may hold as it is: it loads nothing and runs nothing. */
export interface Logo {
  readonly type: 'image/png' | 'image/svg+xml';
  readonly base64: string;
}

/** Bytes of the largest logo file that is taken. */
export const LARGEST_LOGO = 256 * 1024;

/**
 * A logo from the bytes of its file: a PNG, or the drawing in an SVG. Rejects everything else with
 * `report.logo`: an image is refused, never repaired.
 */
export function logoOf(bytes: Uint8Array): Logo {
  try {
    const buffer = Buffer.from(bytes);
    if (buffer.length > LARGEST_LOGO) throw new NotALogo('it is larger than 256 KiB');
    if (!isPng(buffer))
      return { type: 'image/svg+xml', base64: Buffer.from(drawingIn(buffer)).toString('base64') };
    refuseBrokenPng(buffer);
    return { type: 'image/png', base64: buffer.toString('base64') };
  } catch (thrown) {
    if (!(thrown instanceof NotALogo)) throw thrown;
    throw new LifeboatError('report.logo', `the logo cannot be used: ${thrown.message}`, {
      hints: [
        'a PNG works, or an SVG of plain shapes, gradients and text',
        'at most 256 KiB, 4096 pixels wide',
      ],
      exitCode: EXIT.usage,
    });
  }
}
