import { EXIT, LifeboatError } from '../base/errors.ts';

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

/** Pixels of a PNG, each way. */
const LARGEST_SIDE = 4096;
const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');

/**
 * A logo from the bytes of its file: a PNG, or an SVG that only draws. Rejects everything else with
 * `report.logo`: an image is refused, never repaired.
 */
export function logoOf(bytes: Uint8Array): Logo {
  const buffer = Buffer.from(bytes);
  if (buffer.length > LARGEST_LOGO) throw refused('it is larger than 256 KiB');
  const isPng = buffer.subarray(0, PNG.length).equals(PNG);
  if (isPng) refuseLargePng(buffer);
  else refuseActiveSvg(buffer);
  return { type: isPng ? 'image/png' : 'image/svg+xml', base64: buffer.toString('base64') };
}

function refuseLargePng(bytes: Buffer): void {
  const sides = bytes.length < 24 ? [0, 0] : [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  if (sides.some((side) => side < 1 || side > LARGEST_SIDE))
    throw refused(`its sides are not between 1 and ${LARGEST_SIDE} pixels`);
}

const TOKEN =
  /<!--(?:(?!--).)*-->|<\/[\w:.-]+\s*>|<(?<name>[\w:.-]+)(?<attributes>(?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*\/?>|(?<text>[^<]+)/gsuy;
const ATTRIBUTE = /([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/gu;
/** What draws. Elements that embed, animate or link are not among them. */
const ELEMENTS = new Set(
  `svg g path rect circle ellipse line polyline polygon text tspan title desc defs symbol use style
   linearGradient radialGradient stop clipPath mask pattern`.split(/\s+/u),
);
/** The sign of a reference to something outside, of an escape that could hide one, or of a script. */
const ACTIVE = /url\((?!\s*["']?#)|@import|javascript:|expression\(|\\|&#/iu;

/** Reads it as strictly as a parser would: a text that is not understood to its end is refused. */
function refuseActiveSvg(bytes: Buffer): void {
  const svg = bytes
    .toString('utf8')
    .replace(/^\ufeff?\s*<\?xml [^<>?]*\?>/u, '')
    .trim();
  if (!/^(?:<!--(?:(?!--).)*-->\s*)*<svg[\s>]/su.test(svg)) throw refused('it is neither a PNG nor an SVG');
  let at = 0;
  for (const { 0: token, groups = {} } of svg.matchAll(TOKEN)) {
    at += token.length;
    const { name, attributes = '', text = '' } = groups;
    if (name !== undefined && !ELEMENTS.has(name)) throw refused(`it has the element ${name.slice(0, 40)}`);
    if (ACTIVE.test(text)) throw refused('it refers to something outside of itself');
    for (const [, key = '', double, single] of attributes.matchAll(ATTRIBUTE)) {
      const value = double ?? single ?? '';
      const points = /(?:^|:)(?:href|src|base)$/iu.test(key) && !value.trim().startsWith('#');
      if (/^on/iu.test(key)) throw refused(`it has the attribute ${key.slice(0, 40)}`);
      if (points || ACTIVE.test(value)) throw refused('it refers to something outside of itself');
    }
  }
  if (at !== svg.length) throw refused(`it cannot be read after character ${at}`);
}

function refused(why: string): LifeboatError {
  return new LifeboatError('report.logo', `the logo cannot be used: ${why}`, {
    hints: [
      'a PNG works, or an SVG of plain shapes, gradients and text',
      'at most 256 KiB, 4096 pixels wide',
    ],
    exitCode: EXIT.usage,
  });
}
