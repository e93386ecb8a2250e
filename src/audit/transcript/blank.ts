import { show } from '../../base/text.ts';
import type { HttpCall } from './call.ts';

const SECRET = '[secret]';

/** What must not be seen, and what stands in its place. */
export interface Blanks {
  /** The longest first, so that no tail of one stays behind. */
  readonly known: readonly string[];
  /** Such as the fingerprint of a key. */
  readonly name: (secret: string) => string;
}

/** Of a larger answer, only the size and the hash are written. */
const ANSWER_LIMIT = 16 * 1024;
const TEXT_LIMIT = 2_000;
const DEEPEST = 12;
/** What a field is called that holds a secret, whoever put it there. */
const SECRET_FIELD = /(?:key|passw(?:or)?d|passphrase|secret|token|credentials?|cookie|authorization)$/iu;
/** What of the platform's JSON may be read by anybody; everything else is left out. */
const PLATFORM_FIELDS = new Set(
  `guid name type state status label code title detail description created_at updated_at last_operation
   relationships data service_instance app space resources errors pagination total_results total_pages result operation
   droplet process instances strategy lifecycle current_droplet package build event actor target metadata
   labels lifeboat.run`.split(/\s+/u),
);
/** Answers that are nothing but secrets, or whose fields are named by strangers. */
const NEVER = /\/(?:details|parameters|credentials|env|environment_variables|permissions)(?:[/?]|$)/u;

/**
 * A request body as it may be shown: known secrets by their names, unknown ones in fields of that sort not at
 * all.
 */
export function blankBody(body: string, kind: HttpCall['kind'], blanks: Blanks): unknown {
  const json = parse(body);
  if (json === undefined) return SECRET;
  return kind === 'platform' ? picked(json, blanks, 0) : blanked(json, blanks, 0);
}

/**
 * What is kept of an answer's body. Its hash stands only for a body without secrets: a short secret can be
 * guessed from its hash.
 */
export function keptAnswer(
  { kind, url, answer, bytes, sha256 }: HttpCall,
  blanks: Blanks,
): { readonly sha256?: string; readonly json?: unknown } {
  if (kind === 'platform' && NEVER.test(url)) return {};
  const json = answer === undefined || bytes > ANSWER_LIMIT ? undefined : parse(answer);
  if (json === undefined) return { sha256 };
  if (kind === 'platform') return { sha256, json: picked(json, blanks, 0) };
  const shown = blanked(json, blanks, 0);
  return JSON.stringify(shown) === JSON.stringify(json) ? { sha256, json } : { json: shown };
}

function blanked(value: unknown, blanks: Blanks, depth: number): unknown {
  if (depth > DEEPEST) return '[deep]';
  if (typeof value === 'string') return blankedText(value, blanks);
  if (Array.isArray(value)) return value.map((item) => blanked(item, blanks, depth + 1));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      blankedText(key, blanks),
      SECRET_FIELD.test(key) && typeof inner === 'string'
        ? secretText(inner, blanks)
        : blanked(inner, blanks, depth + 1),
    ]),
  );
}

/** An allow-list of fields, because what the platform answers is not this program's to foresee. */
function picked(value: unknown, blanks: Blanks, depth: number): unknown {
  if (depth > DEEPEST) return '[deep]';
  if (typeof value === 'string') return blankedText(value, blanks);
  if (Array.isArray(value)) return value.map((item) => picked(item, blanks, depth + 1));
  if (typeof value !== 'object' || value === null) return value;
  const open = Object.entries(value).filter(([key]) => PLATFORM_FIELDS.has(key));
  const hidden = Object.keys(value).length - open.length;
  return Object.fromEntries([
    ...open.map(([key, inner]) => [key, picked(inner, blanks, depth + 1)]),
    ...(hidden === 0 ? [] : [['fields left out', hidden]]),
  ]);
}

function secretText(text: string, { known, name }: Blanks): string {
  if (text === '') return '';
  return known.includes(text) ? name(text) : SECRET;
}

function blankedText(text: string, { known, name }: Blanks): string {
  const open = known.reduce((rest, secret) => rest.replaceAll(secret, name(secret)), text);
  return show(open, TEXT_LIMIT);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
