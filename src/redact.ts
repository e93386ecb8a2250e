import type { Secret } from './secret.ts';

const HIDDEN = '[secret]';

/** What looks like a credential whoever it belongs to: a bearer or basic header, a JWT, a password in a URL. */
const CREDENTIAL_SHAPES: readonly (readonly [RegExp, string])[] = [
  [/\b(bearer|basic)\s+[\w.~+/=-]{20,}/giu, `$1 ${HIDDEN}`],
  [/\beyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)?/gu, HIDDEN],
  [/\/\/[^/?#\s@]+@/gu, `//${HIDDEN}@`],
];

/**
 * Blanks every occurrence of the given secrets, as they are or escaped for JSON or a URL, and whatever has the shape of a
 * credential. Redact first and cut afterwards: half a secret is not found.
 */
export function redact(text: string, secrets: Iterable<Secret> = []): string {
  const forms = [...secrets].flatMap((secret) => formsOf(secret.reveal())).filter((form) => form !== '');
  // The longest form first, so that no tail of a secret stays behind when one form begins another.
  const blanked = forms
    .sort((a, b) => b.length - a.length)
    .reduce((rest, form) => rest.replaceAll(form, HIDDEN), text);
  return CREDENTIAL_SHAPES.reduce((rest, [shape, hidden]) => rest.replace(shape, hidden), blanked);
}

function formsOf(text: string): string[] {
  const [, token] = /^\S+\s+(\S.*)$/u.exec(text) ?? [];
  return [text, ...(token === undefined ? [] : [token])].flatMap((form) => [
    form,
    JSON.stringify(form).slice(1, -1),
    encodeURIComponent(form.toWellFormed()),
  ]);
}
