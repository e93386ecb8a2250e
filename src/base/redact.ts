import type { Secret } from './secret.ts';
import { spellingsOf } from './spellings.ts';

const HIDDEN = '[secret]';

/**
 * What looks like a credential whoever it belongs to: a bearer or basic header, a JWT, a password in a URL.
 * Each is searched in a time that grows with the text alone: whoever writes the text must not decide how long
 * it takes.
 */
const CREDENTIAL_SHAPES: readonly ((text: string) => string)[] = [
  (text) => text.replace(/\b(bearer|basic)\s+[\w.~+/=-]{20,}/giu, `$1 ${HIDDEN}`),
  (text) => text.replace(/[\w.-]{12,}/gu, withoutJwts),
  (text) => text.replace(/\/\/[^/?#\s@]+@/gu, `//${HIDDEN}@`),
];

/**
 * Blanks every occurrence of the given secrets, in any of their spellings, and whatever has the shape of a
 * credential. Redact first and cut afterwards: half a secret is not found.
 */
export function redact(text: string, secrets: Iterable<Secret> = []): string {
  return CREDENTIAL_SHAPES.reduce((rest, hide) => hide(rest), blankIn(text, formsOfAll(secrets)));
}

/**
 * An http address as it may be shown: without user, password, query and fragment, where tokens are put.
 * Undefined for every other text, of which nobody knows where in it a secret stands.
 */
export function plainAddress(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url === undefined || !/^https?:$/u.test(url.protocol) ? undefined : `${url.origin}${url.pathname}`;
}

/**
 * Blanks every occurrence of the given secrets in JSON, and nothing else, so that it stays the JSON that it
 * is. A secret of a few characters stays: it would be found in numbers and in the names of fields.
 */
export function redactJson(json: string, secrets: Iterable<Secret>): string {
  return blankIn(
    json,
    formsOfAll(secrets).filter((form) => form.length >= SHORTEST_IN_JSON),
  );
}

const SHORTEST_IN_JSON = 8;

function blankIn(text: string, forms: readonly string[]): string {
  // The longest form first, so that no tail of a secret stays behind when one form begins another.
  return forms
    .toSorted((a, b) => b.length - a.length)
    .reduce((rest, form) => rest.replaceAll(form, HIDDEN), text);
}

function formsOfAll(secrets: Iterable<Secret>): string[] {
  return [...secrets].flatMap((secret) => formsOf(secret.reveal()));
}

/** Blanks JWTs (header, payload and perhaps a signature) in a run of the characters that they are made of. */
function withoutJwts(run: string): string {
  const parts = run.split('.');
  const kept: string[] = [];
  for (let at = 0; at < parts.length; at += 1) {
    const part = parts[at] ?? '';
    const begin = parts[at + 1] ? part.search(/\beyJ[\w-]{8,}$/u) : -1;
    kept.push(begin < 0 ? part : `${part.slice(0, begin)}${HIDDEN}`);
    if (begin >= 0) at += 2;
  }
  return kept.join('.');
}

/** A header is a word for its scheme and the token: each of them may be echoed. */
function formsOf(text: string): string[] {
  const [, token = ''] = /^\S+\s+(\S.*)$/u.exec(text) ?? [];
  return [...spellingsOf(text), ...spellingsOf(token)];
}
