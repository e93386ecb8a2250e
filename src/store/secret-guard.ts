import { LifeboatError } from '../base/errors.ts';
import type { Secret } from '../base/secret.ts';
import { printableJson } from '../base/text.ts';
import { ascii } from './canonical.ts';

/** Shorter secrets would be found in ordinary words, so they only count as a whole JSON string. */
const SHORT = 8;

export interface SecretGuard {
  add(secret: Secret): void;
  /** Throws `journal.secret` for JSON text with a secret in any form; names `what`, not the text. */
  check(jsonText: string, what: string): void;
}

/** Scans what is about to be journalled, by substring searches: about a microsecond for an entry. */
export function createSecretGuard(): SecretGuard {
  const needles = new Set<string>();
  return {
    add(secret) {
      for (const form of formsOf(secret.reveal())) needles.add(form).add(ascii(form));
    },
    check(jsonText, what) {
      for (const needle of needles) {
        if (!jsonText.includes(needle)) continue;
        throw new LifeboatError('journal.secret', `${what} contains a secret and was not written`, {
          hints: ['nothing was written and nothing was sent', 'this is a bug in lifeboat: please report it'],
        });
      }
    },
  };
}

/** The ways a secret can stand in JSON text: as it is, encoded, or as JSON inside JSON. */
function formsOf(secret: string): string[] {
  const escaped = JSON.stringify(secret).slice(1, -1);
  if (secret === '') return [];
  if (secret.length < SHORT) return [`"${escaped}"`];
  const bytes = Buffer.from(secret);
  const url = encodeURIComponent(secret);
  return [
    ...nested(escaped),
    ...nested(printableJson(secret).slice(1, -1)),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    url,
    url.replace(/%[0-9A-F]{2}/gu, (code) => code.toLowerCase()),
    url.replaceAll('%20', '+'),
    ...[0, 1, 2].flatMap((shift) => base64At(bytes, shift)),
  ];
}

/** Escaped text, and how it stands in JSON that is itself a string in JSON, twice over. */
function nested(escaped: string): string[] {
  const inner = JSON.stringify(escaped).slice(1, -1);
  return [escaped, inner, JSON.stringify(inner).slice(1, -1)];
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
