import { printableJson } from './text.ts';

/** Shorter secrets, encoded, would be found in ordinary words. */
const SHORT = 8;

/**
 * The ways in which a secret stands in what others write: as it is, escaped for a URL, for HTML and for
 * JSON, also in JSON inside JSON, in hex, and in base64 with whatever before it. None for an empty one; no
 * encodings of one that is shorter than eight characters. What blanks secrets and what looks for them use
 * this list.
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

/** As writers of JSON escape it, and how that stands in JSON that is itself a string in JSON, twice over. */
function jsonOf(text: string): string[] {
  const escaped = [
    inJson(text),
    printableJson(text).slice(1, -1),
    // As Go and PHP write it.
    inJson(text).replace(/[<>&]/gu, (one) => `\\u00${(one.codePointAt(0) ?? 0).toString(16)}`),
    inJson(text).replaceAll('/', '\\/'),
  ];
  return escaped.flatMap((one) => [one, inJson(one), inJson(inJson(one))]);
}

/** What is escaped in HTML and XML, and as what: libraries differ in the quotes and in how much. */
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
 * Base64 of the secret when `shift` bytes stand before it, as in `user:secret`: without the characters at the
 * rims, which depend on the neighbours.
 */
function base64At(bytes: Buffer, shift: number): string[] {
  const padded = Buffer.concat([Buffer.alloc(shift), bytes]);
  const from = Math.ceil((shift * 8) / 6);
  const to = Math.floor((padded.length * 8) / 6);
  return [padded.toString('base64').slice(from, to), padded.toString('base64url').slice(from, to)];
}
