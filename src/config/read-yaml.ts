import { LineCounter, parseDocument } from 'yaml';
import type * as z from 'zod';
import { EXIT, LifeboatError, type ProblemInFile, problemLine } from '../base/errors.ts';
import { show } from '../base/text.ts';
import { mistakesIn, type Parsed, placeOf, plainWords, problemsIn } from './problems.ts';
import type { JsonSchema } from './schema.ts';

export interface YamlFile<Schema extends z.ZodType> {
  /** The first part of its error codes, and its word in a sentence. */
  readonly kind: 'config' | 'plan';
  readonly schema: Schema;
  /** The error for a text that no parser can read; both come cleaned. */
  readonly unreadable: (path: string, why: string) => LifeboatError;
  /** The key of its map that may have thousands of entries. */
  readonly long?: string;
  /** The same schema for a look-up of misspelled keys; built on first use. */
  readonly jsonSchema: () => JsonSchema;
}

export interface ReadYaml<Schema extends z.ZodType> {
  readonly data: z.output<Schema>;
  /** As written, before the schema. */
  readonly value: unknown;
  readonly parsed: Parsed;
}

/**
 * Reads the text of a YAML file. Throws `KIND.yaml` and `KIND.invalid` (exit 2) with all of its problems,
 * each with line and column. Endless nesting, or aliases of aliases, are refused like any other invalid text.
 */
export function readYaml<Schema extends z.ZodType>(
  text: string,
  path: string,
  file: YamlFile<Schema>,
): ReadYaml<Schema> {
  const { kind, schema, jsonSchema } = file;
  let parsed: ReturnType<typeof parse> | undefined;
  const parseAll = () => {
    parsed ??= parse(text, path, file);
    return parsed;
  };
  const inParts = () => (file.long === undefined ? undefined : valueInParts(text, file.long, plainValueOf));
  const value = valueOfJson(text) ?? inParts() ?? parseAll().value;
  const read = schema.safeParse(value ?? {}, { error: plainWords });
  if (read.success) {
    return {
      data: read.data,
      value,
      get parsed() {
        return parseAll();
      },
    };
  }
  throw wrongFile(`${kind}.invalid`, problemsIn(read.error.issues, parseAll(), jsonSchema()), [
    `\`lifeboat schema ${kind}\` prints the keys and what they mean`,
  ]);
}

/**
 * A text that a program wrote as JSON: for thousands of instances the YAML parser takes a hundred times as
 * long. Undefined for any other text, and for duplicate keys, which only the YAML parser finds.
 */
function valueOfJson(text: string): unknown {
  if (!/^\s*\{/u.test(text) || text.includes('__proto__')) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isSpelt(text, value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whether this is the value's JSON, but for blanks between words. */
function isSpelt(text: string, value: unknown): boolean {
  const json = piecesOf(value, 2);
  let piece = '';
  let at = 0;
  for (const [word] of text.matchAll(/"(?:[^"\\]|\\.)*"|[^\s"]+/gu)) {
    for (let seen = 0; seen < word.length; ) {
      if (at === piece.length) [piece, at] = [json.next().value ?? '', 0];
      const length = Math.min(word.length - seen, piece.length - at);
      if (length === 0 || !piece.startsWith(word.slice(seen, seen + length), at)) return false;
      seen += length;
      at += length;
    }
  }
  return at === piece.length && json.next().done === true;
}

/** The JSON of a value, as far in pieces: that of thousands of instances is as large as their text. */
function* piecesOf(value: unknown, levels: number): Generator<string, undefined> {
  if (levels === 0 || typeof value !== 'object' || value === null || Array.isArray(value)) {
    yield JSON.stringify(value);
    return;
  }
  let before = '{';
  for (const [key, part] of Object.entries(value)) {
    yield `${before}${JSON.stringify(key)}:`;
    yield* piecesOf(part, levels - 1);
    before = ',';
  }
  yield before === '{' ? '{}' : '}';
}

/** Errors without excerpts of the text, and duplicate keys left to `mistakesIn`. */
const AS_IS = { prettyErrors: false, uniqueKeys: false };

/** Undefined for a text with mistakes. */
export function plainValueOf(text: string): unknown {
  try {
    const document = parseDocument(text, AS_IS);
    return document.errors.length + mistakesIn(document).length === 0 ? document.toJS() : undefined;
  } catch {
    return undefined;
  }
}

/** Smaller texts are parsed whole. */
const LARGE = 256 * 1024;
/** Characters of a part, at least, but for the last. */
const A_PART = 32 * 1024;

export interface PartSizes {
  readonly large: number;
  readonly part: number;
}

/**
 * The value of a large YAML map whose key `long` has thousands of entries: the parser holds some 70 bytes for
 * each character until the end, so the entries are parsed a few at a time. `parse` gives the value of a text,
 * or undefined if anything about it is not plain.
 *
 * Undefined if the text is small, or whole and parts may differ; it is then to be parsed whole. A cut within
 * a quoted text, a flow collection or a list leaves parts that are no map, and an alias of another part has
 * no anchor.
 */
export function valueInParts(
  text: string,
  long: string,
  parse: (text: string) => unknown,
  { large, part }: PartSizes = { large: LARGE, part: A_PART },
): unknown {
  // A directive holds for all parts, and a lone carriage return is not everywhere the end of a line.
  if (text.length < large || /^%|\r(?!\n)/mu.test(text)) return undefined;
  const headings = text.matchAll(new RegExp(`(?:^|\\n)${long}:[ \\t]*(?:#[^\\n]*)?\\r?\\n`, 'gu'));
  const [heading, another] = headings;
  if (heading === undefined || another !== undefined) return undefined;
  const begin = heading.index + heading[0].length;
  const after = /\n(?=[^\s#])/gu;
  after.lastIndex = begin - 1;
  const end = (after.exec(text)?.index ?? text.length) + 1;

  const rest = parse(`${text.slice(0, begin)}${text.slice(end)}`);
  if (!isMap(rest) || rest[long] !== null) return undefined;
  const entries = new Map<string, unknown>();
  for (const one of partsOf(text.slice(begin, end), part)) {
    const value = parse(one);
    if (!isMap(value)) return undefined;
    for (const [key, of] of Object.entries(value)) {
      if (entries.has(key)) return undefined;
      entries.set(key, of);
    }
  }
  return { ...rest, [long]: Object.fromEntries(entries) };
}

/** Cut before lines that are indented as the first one, unless they go on with what is above. */
function* partsOf(text: string, size: number): Generator<string> {
  const [leading = '', indent = ''] = /^(?:[ \t]*(?:#[^\n]*)?\r?\n)*( +)/u.exec(text) ?? [];
  const entry = new RegExp(`\\n${indent}(?=[^\\s#?:-])`, 'gu');
  let begin = 0;
  while (begin < text.length) {
    entry.lastIndex = Math.max(begin + size, leading.length);
    const end = (entry.exec(text)?.index ?? text.length) + 1;
    yield text.slice(begin, end);
    begin = end;
  }
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parse(
  text: string,
  path: string,
  { kind, unreadable }: Pick<YamlFile<z.ZodType>, 'kind' | 'unreadable'>,
): Parsed & { readonly value: unknown } {
  const lines = new LineCounter();
  try {
    const document = parseDocument(text, { lineCounter: lines, ...AS_IS });
    const errors = document.errors.map(({ code, message, pos }) => ({
      message: code === 'MULTIPLE_DOCS' ? `a ${kind} is one document` : `not YAML: ${message}`,
      pos,
    }));
    const all = [...errors, ...mistakesIn(document)];
    if (all.length === 0) return { path, document, lines, value: document.toJS() };
    const problems = all
      .toSorted((one, other) => one.pos[0] - other.pos[0])
      .map(({ message, pos }) => ({ ...placeOf({ path, lines }, pos[0]), key: '', message: show(message) }));
    throw wrongFile(`${kind}.yaml`, problems);
  } catch (thrown) {
    if (thrown instanceof LifeboatError) throw thrown;
    const why = thrown instanceof Error ? (thrown.message.split('\n')[0] ?? '') : 'it cannot be read';
    throw unreadable(show(path, 200), show(why));
  }
}

/** More would not help. */
const MAX_PROBLEMS = 20;

/** The error (exit 2) for a file with problems; the first one is its message. */
export function wrongFile(
  code: string,
  found: readonly ProblemInFile[],
  hints: readonly string[] = [],
): LifeboatError {
  const problems = found.slice(0, MAX_PROBLEMS);
  const [first] = problems;
  const rest = found.length - problems.length;
  return new LifeboatError(code, first === undefined ? 'the file is wrong' : problemLine(first), {
    problems,
    hints: [
      ...(rest === 0 ? [] : [`these are the first ${MAX_PROBLEMS} of ${found.length} problems`]),
      ...hints,
    ],
    exitCode: EXIT.usage,
  });
}
