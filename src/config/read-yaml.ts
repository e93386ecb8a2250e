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
  const value = valueOfJson(text) ?? parseAll().value;
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
    return isSpelt(text, JSON.stringify(value)) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whether both differ only in blanks between words. Copies neither. */
function isSpelt(text: string, json: string): boolean {
  let at = 0;
  for (const [word] of text.matchAll(/"(?:[^"\\]|\\.)*"|[^\s"]+/gu)) {
    if (!json.startsWith(word, at)) return false;
    at += word.length;
  }
  return at === json.length;
}

function parse(
  text: string,
  path: string,
  { kind, unreadable }: Pick<YamlFile<z.ZodType>, 'kind' | 'unreadable'>,
): Parsed & { readonly value: unknown } {
  const lines = new LineCounter();
  try {
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false });
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
