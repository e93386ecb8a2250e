import { printableJson } from './text.ts';

/** Shorter secrets, encoded, would match ordinary words. */
const SHORT = 8;

/**
 * The forms of a secret in other programs' output: as it is, escaped for URLs, HTML and JSON (also JSON
 * inside JSON), in hex, and in base64 at any offset. None for an empty one; no encodings below eight
 * characters. Used for both blanking and detecting secrets.
 */
export function spellingsOf(secret: string): readonly string[] {
  if (secret === '') return [];
  const url = encodeURIComponent(secret.toWellFormed());
  const texts = [secret, url];
  if (secret.length < SHORT) return [...new Set(texts.flatMap((text) => [text, inJson(text)]))];
  const bytes = Buffer.from(secret);
  const more = [
    url.replace(/%[0-9A-F]{2}/gu, (code) => code.toLowerCase()),
    url.replaceAll('%20', '+'),
    ...[secret, inJson(secret)].flatMap(htmlOf),
  ];
  return [
    ...new Set([
      ...[...texts, ...more].flatMap((text) => [text, ...jsonOf(text)]),
      bytes.toString('hex'),
      bytes.toString('hex').toUpperCase(),
      ...[0, 1, 2].flatMap((shift) => base64At(bytes, shift)),
    ]),
  ];
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** The escapes of JSON writers, and how they appear in JSON inside a JSON string, up to twice. */
function jsonOf(text: string): string[] {
  const escaped = [
    inJson(text),
    printableJson(text).slice(1, -1),
    // As Go and PHP do.
    inJson(text).replace(/[<>&]/gu, (one) => `\\u00${(one.codePointAt(0) ?? 0).toString(16)}`),
    inJson(text).replaceAll('/', '\\/'),
  ];
  return escaped.flatMap((one) => [one, inJson(one), inJson(inJson(one))]);
}

/** HTML and XML libraries differ in the quotes and in how much they escape. */
const HTML: readonly Readonly<Record<string, string>>[] = [
  {},
  { '"': '&quot;' },
  { '"': '&quot;', "'": '&#39;' },
  { '"': '&quot;', "'": '&#039;' },
  { '"': '&quot;', "'": '&#x27;' },
  { '"': '&quot;', "'": '&apos;' },
  { '"': '&#34;', "'": '&#39;' },
  { '"': '&quot;', "'": '&#39;', '/': '&#x2F;', '`': '&#x60;', '=': '&#x3D;' },
  { '"': '&quot;', "'": '&#x27;', '/': '&#x2F;', '`': '&#x60;', '=': '&#x3D;' },
  { '"': '&#34;', "'": '&#39;', '+': '&#43;' },
].map((more) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', ...more }));

function htmlOf(text: string): string[] {
  const all = [...text];
  const codes = all.map((one) => one.codePointAt(0) ?? 0);
  return [
    ...HTML.map((table) => all.map((one) => table[one] ?? one).join('')),
    codes.map((code) => `&#${code};`).join(''),
    codes.map((code) => `&#x${code.toString(16)};`).join(''),
    codes.map((code) => `&#x${code.toString(16).toUpperCase()};`).join(''),
  ];
}

/**
 * Base64 with `shift` bytes before the secret, as in `user:secret`, without the characters at the ends, which
 * depend on neighbouring bytes.
 */
function base64At(bytes: Buffer, shift: number): string[] {
  const padded = Buffer.concat([Buffer.alloc(shift), bytes]);
  const from = Math.ceil((shift * 8) / 6);
  const to = Math.floor((padded.length * 8) / 6);
  return [padded.toString('base64').slice(from, to), padded.toString('base64url').slice(from, to)];
}
