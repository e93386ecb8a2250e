import { type Document, isAlias, isMap, isNode, isScalar, isSeq, type LineCounter, type Node } from 'yaml';
import type { z } from 'zod';
import type { ProblemInFile } from '../base/problem-in-file.ts';
import { mostSimilar } from '../base/similar.ts';
import { show } from '../base/text.ts';
import { configJsonSchema, type JsonSchema } from './json-schema.ts';

/** The text of a config as it was parsed. */
export interface Parsed {
  readonly path: string;
  readonly document: Document;
  readonly lines: LineCounter;
}

/**
 * Everything that is wrong with a config, in the order of the file: each key that there is not, with the one
 * that may be meant, each value that does not fit, each key that is missing.
 */
export function problemsIn(issues: readonly z.core.$ZodIssue[], parsed: Parsed): ProblemInFile[] {
  return issues
    .flatMap((issue) => findingsIn(issue, []))
    .map(({ path, message, isKey }) => ({
      ...placeOf(parsed, offsetOf(parsed.document, path, isKey)),
      key: show(path.join('.'), 200),
      message: show(message),
    }))
    .toSorted((one, other) => one.line - other.line || one.column - other.column);
}

/** Where an offset into the text is. */
export function placeOf(
  { path, lines }: Pick<Parsed, 'path' | 'lines'>,
  offset: number,
): Pick<ProblemInFile, 'path' | 'line' | 'column'> {
  const { line, col } = lines.linePos(offset);
  return { path: show(path, 200), line: Math.max(1, line), column: Math.max(1, col) };
}

/** The words for what has no words of its own in the schema. */
export const plainWords: z.core.$ZodErrorMap = (issue) => {
  if (issue.code === 'invalid_type')
    return issue.input === undefined ? 'this key is missing' : `${withArticle(issue.expected)} belongs here`;
  if (issue.code === 'invalid_value') return `one of these belongs here: ${issue.values.join(', ')}`;
  if (issue.code === 'too_small') return 'this is empty or too small';
  return undefined;
};

const WITH_ARTICLE: Readonly<Record<string, string>> = {
  object: 'a map of keys',
  record: 'a map of keys',
  array: 'a list',
  string: 'a text',
  boolean: 'true or false',
};

function withArticle(type: string): string {
  return WITH_ARTICLE[type] ?? `a ${type}`;
}

interface Finding {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** It is about the key itself, not about its value. */
  readonly isKey: boolean;
}

function findingsIn(issue: z.core.$ZodIssue, above: readonly PropertyKey[]): Finding[] {
  const path = [...above, ...issue.path];
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey(path, key));
  if (issue.code === 'invalid_key')
    return [{ path, message: issue.issues[0]?.message ?? issue.message, isKey: true }];
  if (issue.code !== 'invalid_union') return [{ path, message: issue.message, isKey: false }];
  const forms = issue.errors.filter((errors) => errors.every(isInside));
  const exact = forms.filter((errors) => errors.every(({ code }) => code !== 'unrecognized_keys'));
  const [meant, second] = exact.length > 0 ? exact : forms;
  if (meant !== undefined && second === undefined) return meant.flatMap((each) => findingsIn(each, path));
  // What none of the forms knows is misspelt, whichever of them is meant.
  const unknown = meant?.flatMap(keysOf).filter((key) => forms.every((form) => hasKey(form, key))) ?? [];
  if (unknown.length > 0) return unknown.map((key) => unknownKey(path, key));
  return [{ path, message: issue.message, isKey: false }];
}

/** Whether an issue is about something inside of a value that has the right form. */
function isInside({ path, code }: z.core.$ZodIssue): boolean {
  return path.length > 0 || code === 'unrecognized_keys';
}

function keysOf(issue: z.core.$ZodIssue): readonly string[] {
  return issue.code === 'unrecognized_keys' && issue.path.length === 0 ? issue.keys : [];
}

function hasKey(form: readonly z.core.$ZodIssue[], key: string): boolean {
  return form.some((issue) => keysOf(issue).includes(key));
}

function unknownKey(path: readonly PropertyKey[], key: string): Finding {
  const similar = mostSimilar(key, knownKeys(configJsonSchema(), path));
  const message = ['there is no such key', ...similar].join('; ');
  return { path: [...path, key], message, isKey: true };
}

/** The keys that may stand in the map at a path. */
function knownKeys(schema: JsonSchema, path: readonly PropertyKey[]): string[] {
  const [step, ...rest] = path;
  const forms = [schema, ...(schema.anyOf ?? [])];
  return forms.flatMap((form) => {
    if (step === undefined) return Object.keys(form.properties ?? {});
    const more = typeof form.additionalProperties === 'object' ? form.additionalProperties : undefined;
    const below = typeof step === 'number' ? form.items : (form.properties?.[String(step)] ?? more);
    return below === undefined ? [] : knownKeys(below, rest);
  });
}

/** Where the text says what is at a path; of what is missing, where the nearest key above it stands. */
function offsetOf(document: Document, path: readonly PropertyKey[], isKey: boolean): number {
  let at = startOf(document.contents) ?? 0;
  let node: unknown = document.contents;
  for (const [index, step] of path.entries()) {
    const found = below(isAlias(node) ? node.resolve(document) : node, step);
    if (found === undefined) return at;
    const isLast = index === path.length - 1;
    const key = startOf(found.key);
    const value = isEmpty(found.value) ? undefined : startOf(found.value);
    at = (isLast && !isKey ? (value ?? key) : (key ?? value)) ?? at;
    node = found.value;
  }
  return at;
}

function below(node: unknown, step: PropertyKey): { key: unknown; value: unknown } | undefined {
  if (isSeq(node)) return { key: undefined, value: node.items[Number(step)] };
  if (!isMap(node)) return undefined;
  return node.items.find(({ key }) => String(isScalar(key) ? key.value : key) === String(step));
}

/** A key with nothing behind it. */
function isEmpty(node: unknown): boolean {
  return node == null || (isScalar(node) && node.value === null && (node.source ?? '') === '');
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? (node as Node).range?.[0] : undefined;
}
