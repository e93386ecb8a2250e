import { cells, splitAt } from '../plain/width.ts';
import type { Home } from '../view/app/sources.ts';
import type { RunView } from '../view/run-view.ts';
import { band, type Layout, type Pane, type Size } from './bands.ts';
import { lineWidth, textOf } from './line.ts';
import { type Line, type Look, type Span, span } from './span.ts';

/** Presenter mode: hides names and ids on every screen. */
interface Presenting {
  isOn(): boolean;
  /** Switches it, and returns a message about it. */
  toggle(): string;
  text(text: string): string;
  cover(layout: Layout, size: Size, look: Look): Layout;
}

interface PresentingOptions {
  readonly isOn: boolean;
  /** The config; undefined until it is read, and until then nothing can be shown. */
  readonly home: () => Home | undefined;
  /** The latest view of the run on the stack. */
  readonly run: () => RunView | undefined;
  /** Whether only a run is shown, in which case no config is ever read. */
  readonly isRunAlone: boolean;
}

export function createPresenting({ isOn: isFirst, home, run, isRunAlone }: PresentingOptions): Presenting {
  const mask = createMask();
  let isOn = isFirst;
  const names = () => ({ home: home(), run: run() });
  return {
    isOn: () => isOn,
    toggle() {
      isOn = !isOn;
      return isOn ? 'names and ids are hidden on every screen' : 'names and ids are shown again';
    },
    text: (text) => (isOn ? mask.text(text, names()) : text),
    cover(layout, { columns, rows }, look) {
      if (!isOn) return layout;
      const known = names();
      if (known.home !== undefined || isRunAlone) return mask.cover(layout, known, look);
      const waiting = [span('  reading which names to hide', 'text.dim')];
      return { page: { height: 1, last: 0 }, bands: [band([waiting], columns, rows)] };
    },
  };
}

/** The names to hide from others who can see the screen. */
interface Names {
  readonly home: Home | undefined;
  readonly run: RunView | undefined;
}

/** Replaces names and ids by aliases, the same one for the same name. */
interface Mask {
  /** The layout with names and ids replaced by aliases of the same width, so that nothing moves. */
  cover(layout: Layout, names: Names, look: Look): Layout;
  text(text: string, names: Names): string;
}

type Kind = 'instance' | 'host' | 'person' | 'app' | 'run' | 'id';

/** Patterns of ids: runs (ULID), the platform (UUID), keys and files (hexadecimal digests). */
const IDS: readonly (readonly [kind: Kind, source: string, known: number])[] = [
  ['run', '01[0-9A-HJKMNP-TV-Z]{8,24}', 10],
  ['id', '[0-9a-f]{8}-[0-9a-f]{0,4}(?:-[0-9a-f]{0,12}){0,3}', 8],
  ['id', '(?=[a-f]*[0-9])[0-9a-f]{12,128}', 12],
];
const WHOLE_IDS = IDS.map(([kind, source, known]) => ({
  kind,
  known,
  pattern: new RegExp(`^(?:${source})$`, 'u'),
}));

/** No letter, digit or dash on either side: `orders` is not part of `orders-dr`. */
const [BEFORE, AFTER] = ['(?<![\\p{L}\\p{N}_-])', '(?![\\p{L}\\p{N}_-])'];
/** An id may be part of a longer text: `report-ID.html`, `GUID-MILLISECONDS`. */
const [BEFORE_ID, AFTER_ID] = ['(?<![\\p{L}\\p{N}_])', '(?![\\p{L}\\p{N}_])'];

export function createMask(): Mask {
  const aliases = new Map<string, string>();
  const counts = new Map<Kind, number>();
  const aliasOf = (kind: Kind, name: string): string => {
    const known = aliases.get(`${kind} ${name}`);
    if (known !== undefined) return known;
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    const alias = `${kind}-${count}`;
    aliases.set(`${kind} ${name}`, alias);
    return alias;
  };
  const replacing = (names: Names): Replace => {
    const known = knownOf(names);
    const called = [
      ...known.map(([, name]) => escaped(name)),
      ...known.map(([, name]) => cutShort(name)),
    ].map((source) => `${BEFORE}${source}${AFTER}`);
    const ids = IDS.map(([, source]) => `${BEFORE_ID}${source}${AFTER_ID}`);
    const pattern = new RegExp([...called, ...ids].join('|'), 'gu');
    const named = (found: string): string | undefined => {
      const exact = known.find(([, name]) => name === found);
      if (exact !== undefined) return aliasOf(...exact);
      const id = WHOLE_IDS.find(({ pattern: looks }) => looks.test(found));
      if (id !== undefined) return aliasOf(id.kind, found.slice(0, id.known));
      // The visible part of a cut name may fit several names, so no single alias would be right.
      const cut = known.filter(([, name]) => name.startsWith(found.slice(0, -1)));
      const [only, ...others] = cut;
      if (only === undefined) return undefined;
      return others.length === 0 ? aliasOf(...only) : HIDDEN;
    };
    return { pattern, named };
  };
  let last: { readonly key: string; readonly replace: Replace } | undefined;
  const replaceFor = (names: Names): Replace => {
    const key = JSON.stringify(knownOf(names));
    if (last?.key !== key) last = { key, replace: replacing(names) };
    return last.replace;
  };
  return {
    cover(layout, names, look) {
      const replace = replaceFor(names);
      const typed = typedName(names.run);
      const covered = (pane: Pane): Pane => ({
        ...pane,
        lines: maskLines(
          pane.lines.map((line) =>
            typed === undefined ? line : confirmation(line, typed, pane.width, look),
          ),
          replace,
        ),
      });
      return {
        ...layout,
        bands: layout.bands.map((band) => ({ ...band, panes: band.panes.map(covered) })),
      };
    },
    text: (text, names) =>
      maskLines([[{ text, token: 'text' }]], replaceFor(names))
        .flat()
        .map((one) => one.text)
        .join(''),
  };
}

interface Replace {
  readonly pattern: RegExp;
  /** Its alias; undefined for text that only looks like a name. */
  readonly named: (found: string) => string | undefined;
}

/** Names from config and run, the longest first, because one may be part of another. */
function knownOf({ home, run }: Names): readonly (readonly [Kind, string])[] {
  const names = new Map<string, Kind>();
  const add = (kind: Kind, name: string | undefined) => {
    if (name !== undefined && name !== '' && !names.has(name)) names.set(name, kind);
  };
  for (const { name, place } of home?.instances ?? []) {
    add('instance', name);
    add('host', place);
    add('host', place.replace(/:\d+$/u, ''));
  }
  add('person', home?.operator);
  add('instance', run?.instance);
  add('instance', run?.target);
  add('instance', typedName(run));
  for (const app of home?.apps ?? []) add('app', app);
  // Applications that the platform reports as bound may be missing from the config.
  for (const { subject } of run?.followUps ?? []) if (NAME.test(subject)) add('app', subject);
  return [...names]
    .map(([name, kind]) => [kind, name] as const)
    .toSorted(([, one], [, other]) => other.length - one.length);
}

/** One word with a letter in it: neither a sentence nor a number. */
const NAME = /^(?=.*\p{L})[\p{L}\p{N}_.-]{2,}$/u;

function typedName(run: RunView | undefined): string | undefined {
  return run?.question?.kind === 'typed-name' ? run.question.expected : undefined;
}

/** Part of a row that is a name or part of one, with its replacement. */
interface Found {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** Replaces names in rows, also names that continue on the next row. */
function maskLines(lines: readonly Line[], replace: Replace): Line[] {
  const texts = lines.map(textOf);
  const broken = texts.map((text, at) => brokenName(text, texts[at + 1] ?? '', replace));
  return lines.map((line, at) => {
    const split = [broken[at - 1]?.below, broken[at]?.above].filter((one) => one !== undefined);
    const own = namesIn(texts[at] ?? '', replace).filter(
      (one) => !split.some((other) => overlap(one, other)),
    );
    return replaced(
      line,
      texts[at] ?? '',
      [...split, ...own].toSorted((one, other) => one.from - other.from),
    );
  });
}

function overlap(one: Found, other: Found): boolean {
  return one.from < other.to && other.from < one.to;
}

function namesIn(text: string, { pattern, named }: Replace): Found[] {
  return [...text.matchAll(pattern)].flatMap((match) => {
    const alias = named(match[0]);
    return alias === undefined
      ? []
      : [{ from: match.index, to: match.index + match[0].length, text: asWide(alias, cells(match[0])) }];
  });
}

/**
 * A name that begins at the end of one row and continues on the next, whether it was wrapped at a blank or
 * within a word, as commands are with a backslash.
 */
function brokenName(
  above: string,
  below: string,
  replace: Replace,
): { readonly above: Found; readonly below: Found } | undefined {
  const head = above.replace(/(?:'?\\)?\s*$/u, '').trimEnd();
  const lead = /^[\s│|]*'?/u.exec(below)?.[0].length ?? 0;
  const rest = below.slice(lead);
  if (head === '' || rest === '') return undefined;
  for (const gap of ['', ' ']) {
    const seam = head.length + gap.length;
    const found = [...`${head}${gap}${rest}`.matchAll(replace.pattern)].find(
      ({ index, 0: name }) => index < head.length && index + name.length > seam,
    );
    const alias = found && replace.named(found[0]);
    if (found === undefined || alias === undefined) continue;
    const end = lead + found.index + found[0].length - seam;
    const [first, last] = [head.slice(found.index), below.slice(lead, end)];
    const [start, more] = splitAt(asWide(alias, cells(first) + cells(last)), cells(first));
    return {
      above: { from: found.index, to: head.length, text: start.padEnd(cells(first), '-') },
      below: { from: lead, to: end, text: more.padEnd(cells(last), '-') },
    };
  }
  return undefined;
}

function replaced(line: Line, whole: string, found: readonly Found[]): Line {
  if (found.length === 0) return line;
  let at = 0;
  return line.map((piece): Span => {
    const [from, to] = [at, at + piece.text.length];
    at = to;
    let text = '';
    let next = from;
    for (const one of found) {
      if (one.to <= from || one.from >= to) continue;
      text += whole.slice(next, Math.max(next, one.from));
      // The alias of a name in several pieces stands in the first piece.
      if (one.from >= from) text += one.text;
      next = Math.min(one.to, to);
    }
    return { ...piece, text: text + whole.slice(next, to) };
  });
}

/** For a name of which only a part is visible, so that it is not known which one it is. */
const HIDDEN = 'hidden-';

/** Fits an alias into exactly `width` cells, and keeps as much of its number as possible. */
function asWide(alias: string, width: number): string {
  const [word = '', number = ''] = alias.split('-');
  const room = width - cells(number);
  if (room <= 0) return splitAt(number, width)[0].padEnd(width, '*');
  return `${`${splitAt(word, Math.max(0, room - 1))[0]}-`.padEnd(room, '-')}${number}`;
}

/** The rows of a confirmation: both the name to type and the part already typed are hidden. */
function confirmation(line: Line, expected: string, width: number, { glyphs }: Look): Line {
  const text = textOf(line);
  if (text.includes(expected) && /\btype\b/u.test(text)) {
    const note = ' (hidden here: type the real one)';
    const room = width - lineWidth(line);
    return room < cells(note) ? line : [...line, { text: note, token: 'text.dim' }];
  }
  const isField = text.trimStart().startsWith(`${glyphs.cursor} `);
  return isField ? line.map((piece) => ({ ...piece, text: hidden(piece.text, expected) })) : line;
}

/** Replaces text that begins like the name by stars. */
function hidden(text: string, expected: string): string {
  const typed = text.trim();
  const isLike = typed !== '' && expected.startsWith(typed.slice(0, 2)) && typed !== expected;
  return isLike ? text.replace(typed, '*'.repeat(cells(typed))) : text;
}

/** Matches a name cut by an ellipsis, at two characters or more; fewer could be any name. */
function cutShort(name: string): string {
  const [first = '', second = '', ...more] = Array.from(name, escaped);
  const tail = more.reduceRight((inner, one) => `(?:${one}${inner})?`, '');
  return `${first}${second}${tail}[…~]`;
}

function escaped(name: string): string {
  return name.replaceAll(/[.*+?^${}()|[\]\\/]/gu, '\\$&');
}
