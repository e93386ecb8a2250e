import type { FallbackField, FallbackValue } from '../../../machines/parts/fallback-step.ts';
import { shellQuoted, singleQuoted } from '../../base/shell-quote.ts';
import { printableJson, show } from '../../base/text.ts';

/* Text from outside this project goes through `quoted` or `remark`, so that it stays one word or comment. */

/** No real name or command is longer; a longer one is hostile. */
const LONGEST = 2_000;

/** One word, in single quotes, on one line. */
export function quoted(text: string): string {
  return singleQuoted(show(text, LONGEST));
}

/** False if cleaning would change the word: it would name another thing. */
export function isTypeable(text: string): boolean {
  return show(text, LONGEST) === text;
}

/** `quoted`, without quotes if none are needed, because a person reads the line. */
export function plain(text: string): string {
  return shellQuoted(show(text, LONGEST));
}

/** One part of a path; one that only navigates, such as `..`, becomes `_`. */
export function pathPart(text: string): string {
  const encoded = encodeURIComponent(show(text, 200)).replace(
    /[!'()*]/gu,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return /^\.*$/u.test(encoded) ? '_' : encoded;
}

export function remark(text: string, limit = 400): string {
  return `# ${show(text, limit)}`.trimEnd();
}

/** `"$NAME"`. */
export function variable(name: string): string {
  if (!/^[A-Z][A-Z0-9_]*$/u.test(name)) throw new Error('a shell variable is named by capital letters');
  return `"$${name}"`;
}

export function word(value: FallbackValue): string {
  return 'known' in value ? quoted(value.known) : variable(value.variable);
}

/** The value, or the name of its placeholder. */
export function placeholder(value: FallbackValue): string {
  return 'known' in value ? show(value.known, 200) : `<${value.variable}>`;
}

/** One shell word; the script's own `json` escapes what is in variables. */
export function jsonWord(fields: Readonly<Record<string, FallbackField>>): string {
  const parts = partsOf({ fields });
  return parts
    .map((part) =>
      'text' in part
        ? quoted(part.text)
        : `"$(${part.isNumber === true ? 'digits' : 'json'} ${part.variable})"`,
    )
    .join('');
}

/** For a person: placeholders instead of variables. */
export function jsonShown(fields: Readonly<Record<string, FallbackField>>): string {
  return partsOf({ fields })
    .map((part) => ('text' in part ? part.text : `<${part.variable.replace(/["$]/gu, '')}>`))
    .join('');
}

type Part = { readonly text: string } | { readonly variable: string; readonly isNumber?: true };

function partsOf(field: FallbackField): readonly Part[] {
  if ('known' in field) return [{ text: printableJson(show(field.known, LONGEST)) }];
  if ('literal' in field) return [{ text: String(field.literal) }];
  if ('number' in field) return digits(field.number);
  if ('secret' in field) return inQuotes(field.secret);
  if ('variable' in field) return inQuotes(field.variable);
  const members = Object.entries(field.fields).map(([name, value], index) => [
    { text: `${index === 0 ? '' : ','}${printableJson(name)}:` },
    ...partsOf(value),
  ]);
  return joined([{ text: '{' }, ...members.flat(), { text: '}' }]);
}

function digits(value: FallbackValue): readonly Part[] {
  if ('variable' in value) return [{ variable: variable(value.variable), isNumber: true }];
  return [{ text: value.known.replace(/\D/gu, '') || '0' }];
}

function inQuotes(name: string): readonly Part[] {
  return [{ text: '"' }, { variable: variable(name) }, { text: '"' }];
}

function joined(parts: readonly Part[]): readonly Part[] {
  const result: Part[] = [];
  for (const part of parts) {
    const last = result.at(-1);
    if (last !== undefined && 'text' in last && 'text' in part)
      result.splice(-1, 1, { text: last.text + part.text });
    else result.push(part);
  }
  return result;
}
