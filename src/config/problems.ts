import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type LineCounter,
  type Node,
  visit,
  type YAMLMap,
} from 'yaml';
import type { z } from 'zod';
import type { ProblemInFile } from '../base/errors.ts';
import { mostSimilar } from '../base/similar.ts';
import { show } from '../base/text.ts';
import type { JsonSchema } from './schema.ts';

export interface Parsed {
  readonly path: string;
  readonly document: Document;
  readonly lines: LineCounter;
}

/** In the order of the file: unknown keys with the most similar known one, invalid values, missing keys. */
export function problemsIn(
  issues: readonly z.core.$ZodIssue[],
  parsed: Parsed,
  schema: JsonSchema,
): ProblemInFile[] {
  const offsetOf = offsetsIn(parsed.document);
  return issues
    .flatMap((issue) => findingsIn(issue, [], schema))
    .map(({ path, message, isKey }) => ({
      ...placeOf(parsed, offsetOf(path, isKey)),
      key: show(path.map((step) => (step === '' ? '""' : step)).join('.'), 200),
      message: show(message),
    }))
    .toSorted((one, other) => one.line - other.line || one.column - other.column);
}

export function placeOf(
  { path, lines }: Pick<Parsed, 'path' | 'lines'>,
  offset: number,
): Pick<ProblemInFile, 'path' | 'line' | 'column'> {
  const { line, col } = lines.linePos(offset);
  return { path: show(path, 200), line: Math.max(1, line), column: Math.max(1, col) };
}

interface Mistake {
  readonly message: string;
  readonly pos: readonly [number];
}

/**
 * What the parser accepts but a config or a plan must not have: duplicate keys (the parser's own check
 * compares each key with all before it), aliases without an earlier anchor, merge keys, which are not part of
 * YAML 1.2, and the one key that objects lose.
 */
export function mistakesIn(document: Document): Mistake[] {
  const found: Mistake[] = [];
  const anchors = new Set<string>();
  const at = (node: unknown, message: string) => found.push({ message, pos: [startOf(node) ?? 0] });
  const keep = ({ anchor }: { readonly anchor?: string }) => {
    if (anchor !== undefined) anchors.add(anchor);
  };
  visit(document, {
    Scalar: (_, node) => keep(node),
    Seq: (_, node) => keep(node),
    Map(_, node) {
      keep(node);
      const seen = new Set<unknown>();
      for (const { key } of node.items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) at(key, 'not YAML: Map keys must be unique');
        seen.add(key.value);
        if (key.value === '__proto__') at(key, 'no key can be called __proto__');
        if (key.value === '<<' && key.type === 'PLAIN')
          at(key, 'merge keys (<<) are not supported: write the keys out');
      }
    },
    Alias(_, node) {
      // Its name may be a secret: a text without the quotes it needs.
      if (!anchors.has(node.source))
        at(node, 'not YAML: this alias has no anchor before it; a text that begins with * needs quotes');
    },
  });
  return found;
}

/** The message of an issue that has none in the schema. */
export const plainWords: z.core.$ZodErrorMap = (issue) => {
  if (issue.code === 'invalid_type')
    return issue.input === undefined ? 'this key is missing' : `${withArticle(issue.expected)} belongs here`;
  if (issue.code === 'invalid_value') return `one of these belongs here: ${issue.values.join(', ')}`;
  if (issue.code === 'too_small') return 'this is empty or too small';
  if (issue.code === 'too_big') return tooBig(issue.origin, String(issue.maximum));
  return undefined;
};

function tooBig(origin: string, most: string): string {
  if (origin === 'string') return `this is too long: at most ${most} characters fit`;
  if (origin === 'array' || origin === 'set') return `these are too many: at most ${most} fit`;
  return `this is too large: at most ${most} is possible`;
}

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
  /** It concerns the key itself, not its value. */
  readonly isKey: boolean;
}

function findingsIn(issue: z.core.$ZodIssue, above: readonly PropertyKey[], schema: JsonSchema): Finding[] {
  const path = [...above, ...issue.path];
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey(path, key, schema));
  if (issue.code === 'invalid_key')
    return [{ path, message: issue.issues[0]?.message ?? issue.message, isKey: true }];
  if (issue.code !== 'invalid_union') return [{ path, message: issue.message, isKey: false }];
  const forms = issue.errors.filter((errors) => errors.every(isInside));
  const exact = forms.filter((errors) => errors.every(({ code }) => code !== 'unrecognized_keys'));
  const [meant, second] = exact.length > 0 ? exact : forms;
  if (meant !== undefined && second === undefined)
    return meant.flatMap((each) => findingsIn(each, path, schema));
  // A key that none of the forms knows is misspelled, whichever form is meant.
  const keysOfForms = forms.map((form) => new Set(form.flatMap(keysOf)));
  const unknown = meant?.flatMap(keysOf).filter((key) => keysOfForms.every((keys) => keys.has(key))) ?? [];
  if (unknown.length > 0) return unknown.map((key) => unknownKey(path, key, schema));
  return [{ path, message: issue.message, isKey: false }];
}

/** Whether an issue is inside a value that has the right form. */
function isInside({ path, code }: z.core.$ZodIssue): boolean {
  return path.length > 0 || code === 'unrecognized_keys';
}

function keysOf(issue: z.core.$ZodIssue): readonly string[] {
  return issue.code === 'unrecognized_keys' && issue.path.length === 0 ? issue.keys : [];
}

function unknownKey(path: readonly PropertyKey[], key: string, schema: JsonSchema): Finding {
  const similar = mostSimilar(key, knownKeys(schema, path));
  const message = ['there is no such key', ...similar].join('; ');
  return { path: [...path, key], message, isKey: true };
}

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

/** The position of a path; for a missing value, of the nearest key above. Indexes maps and aliases once. */
function offsetsIn(document: Document): (path: readonly PropertyKey[], isKey: boolean) => number {
  const indexes = new Map<YAMLMap, ReadonlyMap<string, Found>>();
  const resolved = new Map<Alias, unknown>();
  const below = (node: unknown, step: PropertyKey): Found | undefined => {
    if (isSeq(node)) return { key: undefined, value: node.items[Number(step)] };
    if (isMap(node)) return once(indexes, node, indexOf).get(String(step));
    if (!isAlias(node)) return undefined;
    return below(
      once(resolved, node, () => node.resolve(document)),
      step,
    );
  };
  return (path, isKey) => {
    let at = startOf(document.contents) ?? 0;
    let node: unknown = document.contents;
    for (const [index, step] of path.entries()) {
      const found = below(node, step);
      if (found === undefined) return at;
      const isLast = index === path.length - 1;
      const key = startOf(found.key);
      const value = isEmpty(found.value) ? undefined : startOf(found.value);
      at = (isLast && !isKey ? (value ?? key) : (key ?? value)) ?? at;
      node = found.value;
    }
    return at;
  };
}

interface Found {
  readonly key: unknown;
  readonly value: unknown;
}

function indexOf({ items }: YAMLMap): ReadonlyMap<string, Found> {
  return new Map(
    // A null key has the empty name in the object made from its map.
    items.toReversed().map((pair) => [String((isScalar(pair.key) ? pair.key.value : pair.key) ?? ''), pair]),
  );
}

function once<Key, Value>(made: Map<Key, Value>, key: Key, make: (key: Key) => Value): Value {
  const value = made.get(key) ?? make(key);
  made.set(key, value);
  return value;
}

function isEmpty(node: unknown): boolean {
  return node == null || (isScalar(node) && node.value === null && (node.source ?? '') === '');
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? (node as Node).range?.[0] : undefined;
}
