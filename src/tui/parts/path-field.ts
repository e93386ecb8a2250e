import type { CheckedFile, Fact, Facts, Need } from '../../view/app/sources.ts';
import { type Page, scrolled } from '../bands.ts';
import { cutLine, wrapLine } from '../line.ts';
import type { BoundKey, Input } from '../live-screen.ts';
import { BLANK, type Line, type Look, span } from '../span.ts';
import { candidatesOf, completed, foldersFor, namesFor, partsOf } from './complete-path.ts';
import { failureLines } from './failure.ts';
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
import { scrolledTo } from './reading.ts';

/** A field that asks for the path of a file, with the names under it that would complete it. */
export interface PathField {
  readonly asks: FileAsked;
  readonly field: Field;
  /** How far the names are scrolled. */
  readonly scroll: number;
  /** Paths that were given before, the newest first. */
  readonly given: readonly string[];
  /** Which of them is in the field; -1 for words of one's own. */
  readonly recalled: number;
}

/** Which kind of file is asked for. */
interface FileAsked {
  readonly source: 'secretFile' | 'publicKeyFile';
  /** A text that begins with it is no path, and is taken as it is. */
  readonly orText?: string;
}

export type PathIntent = 'complete' | 'older-path' | 'newer-path' | FieldIntent;

/** How many of the paths given before can be had again. */
const MOST_GIVEN = 20;

/** An empty field, in which these can be had again. */
export function pathField(asks: FileAsked, given: readonly string[]): PathField {
  return { asks, field: EMPTY_FIELD, scroll: 0, given, recalled: -1 };
}

/** The paths that can be had again once the one in the field was given, too. */
export function givenWith(path: PathField): readonly string[] {
  const text = pathIn(path);
  return [text, ...path.given.filter((one) => one !== text)].slice(0, MOST_GIVEN);
}

/** The path as it was typed; a paste may end in a blank that nobody meant. */
export function pathIn({ field }: PathField): string {
  return field.text.trim();
}

/** Whether it holds a text that is taken as it is. */
export function holdsText(path: PathField): boolean {
  const { orText } = path.asks;
  return orText !== undefined && pathIn(path).startsWith(orText);
}

/** The keys of the field; those of the paths given before only where there are some. */
export function pathKeys({ given }: PathField): readonly BoundKey<PathIntent>[] {
  return [COMPLETE, ...(given.length === 0 ? [] : HISTORY), ...EDITING_KEYS, PALETTE_KEY];
}

const COMPLETE: BoundKey<PathIntent> = {
  intent: 'complete',
  keys: ['tab'],
  shown: 'Tab',
  label: 'complete',
  description: 'complete the path as a shell does; again: scroll the names by a page',
  inFooter: true,
};
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

const OWN: ReadonlySet<string> = new Set([COMPLETE, ...HISTORY].map(({ intent }) => intent));

function isPathIntent(intent: string): intent is PathIntent {
  return OWN.has(intent) || isFieldIntent(intent);
}

/** The field after an input; unchanged by an intent that is not its own. */
export function pathAfter(path: PathField, input: Input<string>, facts: Facts): PathField {
  if (input.type === 'text') return pathTyped(path, input.text, facts);
  return isPathIntent(input.intent) ? pathMoved(path, input.intent, facts, input.page) : path;
}

/** The field after a key; `page` is that of the names under it. */
export function pathMoved(path: PathField, intent: PathIntent, facts: Facts, page: Page): PathField {
  switch (intent) {
    case 'complete': {
      const names = namesFor(path.field, facts);
      const field = names === undefined ? path.field : completed(path.field, names);
      if (field.text !== path.field.text) return { ...path, field, scroll: 0 };
      return { ...path, scroll: scrolledTo(path.scroll, 'page-down', page) };
    }
    case 'older-path':
      return recalled(path, Math.min(path.given.length - 1, path.recalled + 1));
    case 'newer-path':
      return recalled(path, Math.max(-1, path.recalled - 1));
    case 'erase-word':
      return { ...path, field: withoutPart(path.field), scroll: 0 };
    default:
      return { ...path, field: edited(path.field, intent), scroll: 0 };
  }
}

/** The field with a text typed into it. Tabs that arrive in one piece were pressed in quick succession. */
export function pathTyped(path: PathField, text: string, facts: Facts): PathField {
  if (/^\t+$/u.test(text)) return pathMoved(path, 'complete', facts, { height: 1, last: 0 });
  const line = text.replace(/^[\r\n]+|[\r\n]+$/gu, '');
  return { ...path, field: typed(path.field, line), scroll: 0 };
}

/** What has to be known: the names that would complete the path, and what is wrong with the file. */
export function pathNeeds(path: PathField, facts: Facts): readonly Need[] {
  if (holdsText(path)) return [];
  const of = pathIn(path);
  return [
    ...foldersFor(path.field, facts).map((wanted) => ({ source: 'folder', of: wanted }) as const),
    ...(of === '' ? [] : [{ source: path.asks.source, of } as const]),
  ];
}

/** Why the file cannot be taken, in the words of the command line; undefined where nothing is known of it. */
export function whyNotFile(path: PathField, facts: Facts): string | undefined {
  const of = pathIn(path);
  if (of === '') return 'type the path of the file first';
  if (holdsText(path)) return undefined;
  const { part } = facts.get(path.asks.source, of);
  return part.state === 'failed' ? part.why || 'the file cannot be taken' : undefined;
}

/**
 * The field in at most `height` rows, below it what is known of the file, and the names that would complete
 * the path. While a name does, nothing is said against what is typed so far.
 */
export function pathLines(
  path: PathField,
  facts: Facts,
  { label, empty, ready }: { readonly label: string; readonly empty: string; readonly ready: string },
  [width, height]: readonly [number, number],
  look: Look,
): { readonly lines: readonly Line[]; readonly page: Page } {
  const { field, scroll } = path;
  if (holdsText(path)) {
    const lines = [
      fieldLine(label, printedField(field), width, look),
      ...wrapLine([span(`${look.glyphs.done} `, 'status.ok'), span(ready)], width, 2),
    ];
    return { lines: lines.slice(0, height), page: { height: 1, last: 0 } };
  }
  const known = namesFor(field, facts);
  const names = known ?? { items: [], isCut: false };
  const found = candidatesOf(field, names);
  const of = pathIn(path);
  const { word } = partsOf(field);
  const isInside = known !== undefined && word === '';
  const isBegun = isInside || found.some(({ name, isFolder }) => name !== word || isFolder);
  const isExact = found.some(({ name, isFolder }) => name === word && !isFolder);
  const said =
    of === ''
      ? wrapLine([span(empty, 'text.dim')], width)
      : isBegun && !isExact
        ? []
        : fileLines(facts.get(path.asks.source, of), ready, width, look);
  const head = [fieldLine(label, printedField(field), width, look), ...said, BLANK];
  const more = names.isCut ? [[span('there are more: type how the name begins', 'text.dim')]] : [];
  const none = names.items.length === 0 ? '  the folder is empty' : '  only hidden names: a dot shows them';
  const rows = [
    ...(isInside && found.length === 0 && !names.isCut ? [[span(none, 'text.dim')]] : []),
    ...found.map(({ name, isFolder }): Line => [span(`  ${name}${isFolder ? '/' : ''}`)]),
    ...more,
    ...unlisted(field, facts),
  ].map((line) => cutLine(line, width, look));
  const { shown, page } = scrolled(rows, scroll, width, Math.max(0, height - head.length), look);
  return { lines: [...head, ...shown], page };
}

function fileLines({ part }: Fact<CheckedFile>, ready: string, width: number, look: Look): readonly Line[] {
  if (part.state === 'failed') return failureLines(part.why, part.hints ?? [], width, look);
  if (part.state !== 'known') return [];
  return part.value === 'readable'
    ? wrapLine([span(`${look.glyphs.done} `, 'status.ok'), span(ready)], width, 2)
    : wrapLine([span('  it is not a plain file, and is read only when it is taken', 'text.dim')], width, 2);
}

/** Why the folder shows no names. */
function unlisted(field: Field, facts: Facts): readonly Line[] {
  return foldersFor(field, facts).flatMap((of) => {
    const { part } = facts.get('folder', of);
    return part.state === 'failed' ? [[span(`  ${part.why}`, 'text.dim')]] : [];
  });
}

function recalled(path: PathField, at: number): PathField {
  return { ...path, field: inserted(EMPTY_FIELD, path.given[at] ?? ''), recalled: at, scroll: 0 };
}

/** Without the last part of the path before the cursor. */
function withoutPart({ text, cursor }: Field): Field {
  const all = graphemes(text);
  const before = all
    .slice(0, cursor)
    .join('')
    .replace(/[^/]*\/*$/u, '');
  return { text: before + all.slice(cursor).join(''), cursor: graphemes(before).length };
}
