/** Ways to spoil the content of a JSON answer so that it is still JSON. */
export type Spoil = 'strings' | 'objects' | 'nulls' | 'enums';

/** Endpoints with a field of a closed set of words (section 3); parameters without their names. */
const WITH_WORDS: ReadonlySet<string> = new Set([
  'GET /',
  'GET /backups',
  'GET /backups/:',
  'GET /restores',
  'GET /restores/:',
  'GET /backups-config',
  'POST /pitr/restore',
]);

/**
 * The same answer with something wrong inside:
 * - `strings`: every number is a text; an answer without numbers is a text as a whole.
 * - `objects`: every list is an object with the indexes as names; an answer without lists is a list of
 *   itself.
 * - `nulls`: every value below the outermost list or object is null; anything else is null as a whole.
 * - `enums`: status, state and backup type are words that the document does not have; a list without any gets
 *   an element with one. The result always differs from the answer.
 */
export function spoil(json: unknown, how: Spoil): unknown {
  if (how === 'nulls') return withNulls(json);
  const spoiled = deeply(json, how);
  if (JSON.stringify(spoiled) !== JSON.stringify(json)) return spoiled;
  if (how === 'strings') return JSON.stringify(json);
  if (how === 'objects') return [json];
  return Array.isArray(json)
    ? [...json, { status: UNKNOWN_WORD }]
    : { ...Object(json), status: UNKNOWN_WORD };
}

/** Whether an endpoint's answer has a field that `enums` can spoil. */
export function hasWords(method: string, path: string): boolean {
  return WITH_WORDS.has(`${method} ${path.replace(/:\w+/gu, ':')}`);
}

const UNKNOWN_WORD = 'hibernating';
const WORD_FIELDS: ReadonlySet<string> = new Set(['status', 'state', 'backup_type']);

function deeply(value: unknown, how: Spoil): unknown {
  if (how === 'strings' && typeof value === 'number') return String(value);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => [
    name,
    how === 'enums' && WORD_FIELDS.has(name) && typeof inner === 'string' ? UNKNOWN_WORD : deeply(inner, how),
  ]);
  if (!Array.isArray(value) || how === 'objects') return Object.fromEntries(entries);
  return entries.map(([, inner]) => inner);
}

function withNulls(value: unknown): unknown {
  if (Array.isArray(value) && value.length > 0) return value.map((inner) => nullFields(inner));
  return nullFields(value);
}

function nullFields(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  return Object.fromEntries(Object.keys(value).map((name) => [name, null]));
}
