import { hash } from 'node:crypto';
import { base32crockford, bech32 } from '@scure/base';
import { EXIT, LifeboatError } from '../base/errors.ts';
import { Secret } from '../base/secret.ts';
import { show } from '../base/text.ts';
import { recipientOf } from './identity.ts';

/*
 * Shares of a wrap key: an age identity made for one file of keys, split by Shamir's scheme and discarded.
 * For wrong or too few shares the scheme gives a wrong secret without an error, so a share names its set, and
 * the set tells which identity must come out.
 *
 * A share is 50 bytes: version (1), set (6), number (1), threshold (1), shares (1), share of the 32 bytes of
 * the identity (33), and the start of the SHA-256 of all that (7), written as five lines of Crockford base32,
 * each with its own check, which finds a mistyped line.
 */

export interface Share {
  /** 12 hex digits: the start of the SHA-256 of the wrap key's recipient. */
  readonly set: string;
  /** From 1. */
  readonly number: number;
  /** How many shares give the wrap key. */
  readonly threshold: number;
  readonly shares: number;
  readonly data: Uint8Array;
}

const VERSION = 1;
export const LINES = 5;
const [LINE_BYTES, DATA_BYTES, CHECK_BYTES] = [10, 33, 7];
const BODY_BYTES = LINES * LINE_BYTES - CHECK_BYTES;
const PREFIX = 'age-secret-key-';
/** The most shares of one set: more people are hardly ever asked, and the scheme ends at 255. */
export const MAX_SHARES = 32;

/** Splits an age identity (X25519); `threshold` shares give it back. */
export async function splitIdentity(
  identity: Secret,
  { shares, threshold }: { readonly shares: number; readonly threshold: number },
): Promise<readonly Share[]> {
  const { split } = await import('shamir-secret-sharing');
  const { bytes } = bech32.decodeToBytes(identity.reveal().toLowerCase());
  const set = setOf(await recipientOf(identity));
  const parts = await split(Uint8Array.from(bytes), shares, threshold);
  return parts.map((data, at) => ({ set, number: at + 1, threshold, shares, data }));
}

/** Rejects with `share.foreign` (several sets), `share.too-few`, and `share.wrong` (another identity). */
export async function joinShares(shares: readonly Share[]): Promise<Secret> {
  const [first] = shares;
  if (first === undefined) throw tooFew([], undefined);
  const foreign = shares.find(({ set }) => set !== first.set);
  if (foreign !== undefined)
    throw refused(
      'share.foreign',
      `share ${foreign.number} is of set ${foreign.set}, and share ${first.number} of set ${first.set}`,
      ['only shares of one set belong together'],
    );
  const numbers = new Map(shares.map((share) => [share.number, share]));
  if (numbers.size < first.threshold) throw tooFew([...numbers.keys()], first);
  const { combine } = await import('shamir-secret-sharing');
  const bytes = await combine([...numbers.values()].map(({ data }) => data));
  const identity = new Secret(bech32.encodeFromBytes(PREFIX, bytes).toUpperCase());
  const isRight = await recipientOf(identity).then(
    (recipient) => setOf(recipient) === first.set,
    () => false,
  );
  if (isRight) return identity;
  throw refused(
    'share.wrong',
    `shares ${[...numbers.keys()].join(', ')} do not give the key of set ${first.set}`,
    ['each of them is whole, so at least one was not made with the others', 'try other shares of the set'],
  );
}

function setOf(recipient: string): string {
  return hash('sha256', recipient, 'hex').slice(0, 12);
}

function tooFew(numbers: readonly number[], share: Share | undefined): LifeboatError {
  const here = numbers.length === 0 ? 'no share is here' : `only share ${numbers.join(', ')} is here`;
  const needed = share === undefined ? '' : `: ${share.threshold} of ${share.shares} are needed`;
  return refused('share.too-few', `${here}${needed}`, ['a share that is given twice counts once']);
}

function linesOf({ set, number, threshold, shares, data }: Share): readonly string[] {
  const body = Buffer.concat([
    Buffer.from([VERSION]),
    Buffer.from(set, 'hex'),
    Buffer.from([number, threshold, shares]),
    data,
  ]);
  const whole = Buffer.concat([body, digest(body).subarray(0, CHECK_BYTES)]);
  return Array.from({ length: LINES }, (_, at) => {
    const bytes = whole.subarray(at * LINE_BYTES, (at + 1) * LINE_BYTES);
    const groups = base32crockford.encode(bytes).match(/.{4}/gu) ?? [];
    return `${at + 1}  ${groups.join(' ')}  ${checkOf(at, bytes)}`;
  });
}

/** Four characters that depend on a line's bytes and place. */
function checkOf(at: number, bytes: Uint8Array): string {
  return base32crockford.encode(digest(Buffer.concat([Buffer.from([at]), bytes])).subarray(0, 5)).slice(0, 4);
}

function digest(bytes: Buffer): Buffer {
  return hash('sha256', bytes, 'buffer');
}

const LINE = new RegExp(`^\\s*([1-${LINES}])[\\s.:)]+([0-9A-Za-z][0-9A-Za-z\\s-]*)$`, 'u');

/**
 * Reads a share from a text with its lines somewhere, such as a printed page; accepts small letters, dashes,
 * and O, I and L for 0 and 1. Throws `share.none` (no line), `share.mistyped` (names the line),
 * `share.incomplete` (names the lines), `share.mixed`, `share.newer`.
 */
export function readShare(text: string, where: string): Share {
  const lines = new Map<number, Buffer>();
  for (const line of text.split(/\r?\n/u)) {
    const [, number = '', typed = ''] = LINE.exec(line) ?? [];
    if (number === '') continue;
    const bytes = bytesOfLine(Number(number), typed, where);
    if (lines.has(Number(number)) && !lines.get(Number(number))?.equals(bytes)) throw mixed(where);
    lines.set(Number(number), bytes);
  }
  if (lines.size === 0)
    throw refused('share.none', `${where} holds no share`, [
      'a share has five lines, each with its number and five groups of four characters',
    ]);
  const missing = Array.from({ length: LINES }, (_, at) => at + 1).filter((number) => !lines.has(number));
  if (missing.length > 0)
    throw refused('share.incomplete', `the share in ${where} lacks line ${missing.join(', ')}`, [
      'a share has five lines',
    ]);
  const whole = Buffer.concat([...lines].toSorted(([one], [other]) => one - other).map(([, bytes]) => bytes));
  return shareIn(whole, where);
}

/** Ten bytes. Throws `share.mistyped`. */
export function bytesOfLine(number: number, typed: string, where: string): Buffer {
  const text = typed.replaceAll(/[\s-]/gu, '').toUpperCase().replaceAll('O', '0').replaceAll(/[IL]/gu, '1');
  const [code, check] = [text.slice(0, -4), text.slice(-4)];
  const bytes = /^[0-9A-HJKMNP-TV-Z]{20}$/u.test(text)
    ? Buffer.from(base32crockford.decode(code))
    : undefined;
  if (bytes !== undefined && checkOf(number - 1, bytes) === check) return bytes;
  throw refused('share.mistyped', `line ${number} of the share in ${where} has a mistake`, [
    'compare it with the paper, character by character; the letter U is never used',
  ]);
}

function shareIn(whole: Buffer, where: string): Share {
  const body = whole.subarray(0, BODY_BYTES);
  if (!digest(body).subarray(0, CHECK_BYTES).equals(whole.subarray(BODY_BYTES))) throw mixed(where);
  const [version = 0] = body;
  if (version !== VERSION)
    throw refused('share.newer', `the share in ${where} is of version ${version}`, [
      'join it with the newer lifeboat that made it',
    ]);
  const [number = 0, threshold = 0, shares = 0] = body.subarray(7, 10);
  const data = Uint8Array.from(body.subarray(BODY_BYTES - DATA_BYTES));
  return { set: body.toString('hex', 1, 7), number, threshold, shares, data };
}

function mixed(where: string): LifeboatError {
  return refused('share.mixed', `the lines in ${where} are of different shares`, [
    'each line is right by itself: put the five lines of one share together, and each share in a file of its own',
  ]);
}

function refused(code: string, what: string, hints: readonly string[]): LifeboatError {
  return new LifeboatError(code, show(what, 400), {
    hints: ['nothing was stored', ...hints],
    exitCode: EXIT.usage,
  });
}

interface ShareAbout {
  /** The sealed file that the shares open. */
  readonly file: string;
  /** Such as `2 keys of orders`. */
  readonly keys: string;
  /** RFC 3339. */
  readonly madeAt: string;
}

export function shareText(share: Share, about: ShareAbout): string {
  return `${[...head(share, about), '', ...linesOf(share)].join('\n')}\n`;
}

function head({ set, number, threshold, shares }: Share, { file, keys, madeAt }: ShareAbout): string[] {
  return [
    'Lifeboat key share, version 1',
    `set: ${set}`,
    `share: ${number} of ${shares}; ${threshold} of them open the file`,
    `file: ${file} (${keys})`,
    `made: ${madeAt}`,
  ];
}

/** The page to print: the text, and a QR code of its lines. Loads nothing from outside. */
export async function sharePage(share: Share, about: ShareAbout): Promise<string> {
  const { renderSVG } = await import('uqr');
  const code = renderSVG(linesOf(share).join('\n'), { ecc: 'M', border: 4, pixelSize: 4 });
  const { number, shares, threshold } = share;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Key share ${number} of ${shares}</title>
<style>
@page { size: A4; margin: 20mm }
body { font: 12pt/1.5 sans-serif; color: #000; background: #fff; max-width: 170mm; margin: 10mm auto }
pre { font: 13pt/1.9 monospace; overflow-wrap: anywhere; white-space: pre-wrap }
svg { width: 60mm; height: 60mm }
</style>
</head>
<body>
<h1>Key share ${number} of ${shares}</h1>
<p>Keep this page where nobody else finds it, and away from the other shares.
${threshold} of the ${shares} shares, together with the file ${escaped(about.file)}, give the keys back:
<code>lifeboat keys join FILE SHARE…</code>, with a file for each share, or without any to type them.</p>
<pre>
${escaped(shareText(share, about))}</pre>
${code}
<p>Read it back once it is printed, with <code>--check</code>.</p>
</body>
</html>
`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
