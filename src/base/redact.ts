import { Secret } from './secret.ts';
import { spellingsOf } from './spellings.ts';

const HIDDEN = '[secret]';

/**
 * Any owner's credentials: a bearer or basic header, a JWT, a password in a URL. Each search takes time
 * linear in the text, since its author must not control the cost.
 */
const CREDENTIAL_SHAPES: readonly ((text: string) => string)[] = [
  (text) => text.replace(/\b(bearer|basic)\s+[\w.~+/=-]{20,}/giu, `$1 ${HIDDEN}`),
  (text) => text.replace(/[\w.-]{12,}/gu, withoutJwts),
  (text) => text.replace(/\/\/[^/?#\s@]+@/gu, `//${HIDDEN}@`),
];

/**
 * Blanks the given secrets in all their spellings, and all that looks like a credential. Redact first and cut
 * afterwards: half a secret is not found.
 */
export function redact(text: string, secrets: Iterable<Secret> = []): string {
  return CREDENTIAL_SHAPES.reduce((rest, hide) => hide(rest), blankIn(text, formsOfAll(secrets)));
}

/**
 * A program's output, of which at most `limit` bytes were kept, without all that looks like a credential and
 * without values of its environment whose names say that they are secret. Drops the line that was cut: half a
 * secret would not be found.
 */
export function redactOutput(text: string, limit: number, env: NodeJS.ProcessEnv = process.env): string {
  const whole = Buffer.byteLength(text) < limit ? text : text.slice(0, text.lastIndexOf('\n') + 1);
  return redact(whole, secretsIn(env));
}

/** By the names of the variables: a shell's trace prints the values. */
function secretsIn(env: NodeJS.ProcessEnv): Secret[] {
  return Object.entries(env).flatMap(([name, value = '']) =>
    /PASS|SECRET|TOKEN|KEY|CREDENTIAL/iu.test(name) && value.length >= SHORTEST ? [new Secret(value)] : [],
  );
}

/** Shorter ones also occur in ordinary words. */
const SHORTEST = 8;

/**
 * An http address without user, password, query and fragment, which may hold tokens. Undefined for other
 * text, because a secret could be anywhere in it.
 */
export function plainAddress(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url === undefined || !/^https?:$/u.test(url.protocol) ? undefined : `${url.origin}${url.pathname}`;
}

/** Blanks only the given secrets, so that the JSON stays valid; short ones stay, as they match other text. */
export function redactJson(json: string, secrets: Iterable<Secret>): string {
  return blankIn(
    json,
    formsOfAll(secrets).filter((form) => form.length >= SHORTEST),
  );
}

function blankIn(text: string, forms: readonly string[]): string {
  // Longest first: if one form begins another, no tail of a secret may remain.
  return forms
    .toSorted((a, b) => b.length - a.length)
    .reduce((rest, form) => rest.replaceAll(form, HIDDEN), text);
}

function formsOfAll(secrets: Iterable<Secret>): string[] {
  return [...secrets].flatMap(formsOf);
}

/** In a run of a JWT's characters; the signature is optional. */
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

/**
 * Of the secrets that were looked for last: a token is looked for in every answer of its instance, and a
 * process may hold the keys and tokens of ten thousand, each with some 4 KiB of forms.
 */
const known = new WeakMap<Secret, readonly string[]>();
const order: WeakRef<Secret>[] = [];
const MOST_KNOWN = 100;

/** A header is a scheme word and the token: either may be echoed. */
function formsOf(secret: Secret): readonly string[] {
  const before = known.get(secret);
  if (before !== undefined) return before;
  const text = secret.reveal();
  const [, token = ''] = /^\S+\s+(\S.*)$/u.exec(text) ?? [];
  const forms = [...spellingsOf(text), ...spellingsOf(token)];
  known.set(secret, forms);
  order.push(new WeakRef(secret));
  const oldest = order.length > MOST_KNOWN ? order.shift()?.deref() : undefined;
  if (oldest !== undefined) known.delete(oldest);
  return forms;
}
