import type { CheckedFile, Fact, Facts, Need } from '../../view/app/sources.ts';
import { wrapLine } from '../line.ts';
import type { BoundKey, Input } from '../live-screen.ts';
import { type Line, type Look, span } from '../span.ts';
import { failureLines } from './facts.ts';
import {
  EDITING_KEYS,
  EMPTY_FIELD,
  edited,
  type Field,
  type FieldIntent,
  fieldLine,
  graphemes,
  inserted,
  isFieldIntent,
  PALETTE_KEY,
  printedField,
  typed,
} from './field.ts';

export interface PathField {
  readonly asks: FileAsked;
  readonly field: Field;
  /** Paths entered before, the newest first. */
  readonly given: readonly string[];
  /** Index of the recalled path; -1 for new text. */
  readonly recalled: number;
}

interface FileAsked {
  readonly source: 'secretFile' | 'publicKeyFile';
  /** Text with this prefix is not a path and is taken as it is. */
  readonly orText?: string;
}

export type PathIntent = 'older-path' | 'newer-path' | FieldIntent;

const MAX_GIVEN = 20;

export function pathField(asks: FileAsked, given: readonly string[]): PathField {
  return { asks, field: EMPTY_FIELD, given, recalled: -1 };
}

/** The recallable paths, including the one in the field. */
export function givenWith(path: PathField): readonly string[] {
  const text = pathIn(path);
  return [text, ...path.given.filter((one) => one !== text)].slice(0, MAX_GIVEN);
}

/** The path without the blanks that a paste may end in. */
export function pathIn({ field }: PathField): string {
  return field.text.trim();
}

export function holdsText(path: PathField): boolean {
  const { orText } = path.asks;
  return orText !== undefined && pathIn(path).startsWith(orText);
}

/** The keys of the field; those that recall paths only if there are some. */
export function pathKeys({ given }: PathField): readonly BoundKey<PathIntent>[] {
  return [...(given.length === 0 ? [] : HISTORY), ...EDITING_KEYS, PALETTE_KEY];
}

const HISTORY: readonly BoundKey<PathIntent>[] = [
  {
    intent: 'older-path',
    keys: ['up', 'ctrl+p'],
    shown: 'up/down',
    label: 'given before',
    description: 'recall a path that was entered before',
    inFooter: true,
  },
  {
    intent: 'newer-path',
    keys: ['down', 'ctrl+n'],
    shown: '',
    label: '',
    description: 'put a newer one into the field',
    inFooter: false,
  },
];

const OWN: ReadonlySet<string> = new Set(HISTORY.map(({ intent }) => intent));

function isPathIntent(intent: string): intent is PathIntent {
  return OWN.has(intent) || isFieldIntent(intent);
}

/** The field after an input; unchanged if the intent is not its own. */
export function pathAfter(path: PathField, input: Input<string>): PathField {
  if (input.type === 'text') return pathTyped(path, input.text);
  return isPathIntent(input.intent) ? pathMoved(path, input.intent) : path;
}

export function pathMoved(path: PathField, intent: PathIntent): PathField {
  switch (intent) {
    case 'older-path':
      return recalled(path, Math.min(path.given.length - 1, path.recalled + 1));
    case 'newer-path':
      return recalled(path, Math.max(-1, path.recalled - 1));
    case 'erase-word':
      return { ...path, field: withoutPart(path.field) };
    default:
      return { ...path, field: edited(path.field, intent) };
  }
}

/** Adds text; line ends around a paste are dropped. */
export function pathTyped(path: PathField, text: string): PathField {
  const line = text.replace(/^[\r\n]+|[\r\n]+$/gu, '');
  return { ...path, field: typed(path.field, line) };
}

/** Loads what is wrong with the file. */
export function pathNeeds(path: PathField): readonly Need[] {
  const of = pathIn(path);
  return holdsText(path) || of === '' ? [] : [{ source: path.asks.source, of }];
}

/** Why the file cannot be used, as the command line says it; undefined if it can be or is not yet checked. */
export function whyNotFile(path: PathField, facts: Facts): string | undefined {
  const of = pathIn(path);
  if (of === '') return 'type the path of the file first';
  if (holdsText(path)) return undefined;
  const { part } = facts.get(path.asks.source, of);
  return part.state === 'failed' ? part.why || 'the file cannot be taken' : undefined;
}

/** The field in at most `height` rows, and below it the state of the file. */
export function pathLines(
  path: PathField,
  facts: Facts,
  { label, empty, ready }: { readonly label: string; readonly empty: string; readonly ready: string },
  [width, height]: readonly [number, number],
  look: Look,
): readonly Line[] {
  const of = pathIn(path);
  const said = holdsText(path)
    ? readyLines(ready, width, look)
    : of === ''
      ? wrapLine([span(empty, 'text.dim')], width)
      : fileLines(facts.get(path.asks.source, of), ready, width, look);
  return [fieldLine(label, printedField(path.field), width, look), ...said].slice(0, height);
}

function readyLines(ready: string, width: number, look: Look): readonly Line[] {
  return wrapLine([span(`${look.glyphs.done} `, 'status.ok'), span(ready)], width, 2);
}

function fileLines({ part }: Fact<CheckedFile>, ready: string, width: number, look: Look): readonly Line[] {
  if (part.state === 'failed') return failureLines(part.why, part.hints ?? [], width, look);
  if (part.state !== 'known') return [];
  return part.value === 'readable'
    ? readyLines(ready, width, look)
    : wrapLine([span('  it is not a plain file, and is read only when it is taken', 'text.dim')], width, 2);
}

function recalled(path: PathField, at: number): PathField {
  return { ...path, field: inserted(EMPTY_FIELD, path.given[at] ?? ''), recalled: at };
}

function withoutPart({ text, cursor }: Field): Field {
  const all = graphemes(text);
  const before = all
    .slice(0, cursor)
    .join('')
    .replace(/[^/]*\/*$/u, '');
  return { text: before + all.slice(cursor).join(''), cursor: graphemes(before).length };
}
