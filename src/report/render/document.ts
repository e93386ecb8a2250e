import { formatSeconds, formatTime } from '../../base/format.ts';
import type { Report } from '../model/model.ts';
import type { Course, Fact } from '../model/model-rows.ts';

/**
 * A piece of a line. `code` is compared exactly; `file`, beside the document, has more about it. `typed` is a
 * command, not for tables; `good` and `bad` are verdicts; `blank` is for a person to write on. Texts are raw:
 * each renderer escapes them.
 */
export type Inline =
  | string
  | { readonly code: string; readonly file?: string | undefined }
  | { readonly typed: string }
  | { readonly strong: string }
  | { readonly good: string }
  | { readonly bad: string }
  | { readonly blank: true };
export type Text = Inline | readonly Inline[];

/** A part of a section. `caption` describes a table or picture for readers who cannot see it. */
export type Block =
  | { readonly kind: 'text'; readonly text: Text }
  | { readonly kind: 'alarm'; readonly title: string; readonly text: Text }
  | { readonly kind: 'facts'; readonly caption: string; readonly rows: readonly (readonly [string, Text])[] }
  | {
      readonly kind: 'table';
      readonly caption: string;
      readonly head: readonly string[];
      readonly rows: Rows;
    }
  | { readonly kind: 'list'; readonly items: readonly Text[] }
  | { readonly kind: 'lines'; readonly caption: string; readonly lines: readonly string[] }
  | { readonly kind: 'blanks'; readonly labels: readonly string[] }
  /** Figures at a glance, only drawn: the tables contain them too. */
  | { readonly kind: 'figures'; readonly figures: readonly Figure[] }
  /** The course of a run, only drawn: the tables contain it too. */
  | { readonly kind: 'picture'; readonly caption: string; readonly course: Course }
  | { readonly kind: 'bars'; readonly caption: string; readonly runs: readonly Bars[] }
  /** Only drawn: a table contains them too. */
  | { readonly kind: 'gantt'; readonly caption: string; readonly gantt: Gantt }
  /** For people to tick off. */
  | { readonly kind: 'tasks'; readonly items: readonly Text[] };

/** The rows of a table: an array, or made one by one as they are written. */
export interface Rows extends Iterable<readonly Text[]> {
  readonly length: number;
}

/** A row for each item, made when it is written: a plan may have ten thousand. */
export function rowsFor<Item>(
  items: readonly Item[],
  row: (item: Item, at: number) => readonly Text[],
): Rows {
  return {
    length: items.length,
    *[Symbol.iterator]() {
      for (const [at, item] of items.entries()) yield row(item, at);
    },
  };
}

/** Rows of bars over one axis of time. Times RFC 3339. */
export interface Gantt {
  readonly from: string;
  readonly until: string;
  readonly limitAt?: string | undefined;
  readonly rows: readonly GanttRow[];
}

export interface GanttRow {
  readonly title: string;
  readonly bars: readonly {
    readonly tone: 'execute' | 'work' | 'human' | 'queue';
    readonly from: string;
    readonly until: string;
    readonly label: string;
  }[];
}

/**
 * A link to a file below the document's folder: letters, digits, dots, dashes and slashes only, so that no
 * address comes from a text. Undefined for anything else.
 */
export function linkTarget(file: string | undefined): string | undefined {
  return file !== undefined && /^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/u.test(file) ? file : undefined;
}

export interface Figure {
  readonly label: string;
  readonly value: string;
  readonly note: string;
  readonly tone: 'good' | 'bad' | 'plain';
}

/** One run's slices, in seconds. */
export interface Bars {
  readonly label: string;
  readonly slices: Readonly<Record<string, number>>;
}

export interface Section {
  readonly title: string;
  /** Part of the appendix. */
  readonly isDetail?: true;
  readonly blocks: readonly Block[];
}

/** The input of a renderer: a title, the blocks before the first section, and the sections. */
export interface Document {
  readonly title: string;
  readonly lead: readonly Block[];
  readonly sections: readonly Section[];
  /** Reference material: it follows the sections, collapsed if the form allows. */
  readonly appendix?: readonly Section[];
  /** A mark on every printed page, so that a loose one can be identified: `REHEARSAL, run 01M8…`. */
  readonly mark?: string;
  /** A note on the page about what it is and when it was made. */
  readonly foot: string;
  readonly footBlocks?: readonly Block[];
}

export const BLANK: Inline = { blank: true };

export function inlines(text: Text): readonly Inline[] {
  return Array.isArray(text) ? (text as readonly Inline[]) : [text as Inline];
}

/** `YYYY-MM-DD HH:MM:SS` of a stored time, UTC; anything else unchanged. */
export function time(at: string | undefined): string {
  return at === undefined ? '' : formatTime(at);
}

export function alarmText({ text, at, by }: Report['alarms'][number]): string {
  return `${text} (${time(at)} UTC, by ${by})`;
}

export function deviationText({ kind, what, reason }: Report['deviations'][number]): Text {
  if (kind === 'break-glass') return [{ bad: 'BREAK-GLASS' }, `: ${what}: ${reason}`];
  const why = reason === '' ? '' : `: ${reason}`;
  return kind === 'step' ? `${what}${why}` : `${kind}: ${what}${why}`;
}

export function seconds(value: number | undefined, otherwise: string): string {
  return value === undefined ? otherwise : formatSeconds(value);
}

export function factRows(facts: readonly Fact[]): [string, Text][] {
  return facts.map(({ label, value, code }) => [label, code === true ? { code: value } : value]);
}

export function blanks(report: Report, part: Report['blanks'][number]['in']): Block[] {
  const labels = report.blanks.filter((blank) => blank.in === part).map(({ label }) => label);
  return labels.length === 0 ? [] : [{ kind: 'blanks', labels }];
}

/** A named value; empty without a value. */
export function given(label: string, value: Text | undefined): [string, Text][] {
  return value === undefined ? [] : [[label, value]];
}

/** Named values as a table without a head; empty without facts. */
export function factsBlock(caption: string, facts: readonly Fact[]): Block[] {
  return facts.length === 0 ? [] : [{ kind: 'facts', caption, rows: factRows(facts) }];
}

export function paragraph(text: Text): Block {
  return { kind: 'text', text };
}

/** A table, or one sentence if it would be empty. */
export function tableOr(empty: string, caption: string, head: readonly string[], rows: Rows): Block {
  return rows.length === 0 ? paragraph(empty) : { kind: 'table', caption, head, rows };
}

/** A table, or nothing if it would be empty. */
export function tableOf(caption: string, head: readonly string[], rows: Rows): Block[] {
  return rows.length === 0 ? [] : [{ kind: 'table', caption, head, rows }];
}

/** A list, or one sentence if it would be empty. */
export function listOr(empty: string, items: readonly Text[]): Block {
  return items.length === 0 ? paragraph(empty) : { kind: 'list', items };
}

/** A list, or nothing if it would be empty. */
export function listOf(items: readonly Text[]): Block[] {
  return items.length === 0 ? [] : [{ kind: 'list', items }];
}

/** As `optional`, for the appendix. */
export function detail(title: string, blocks: readonly Block[]): Section[] {
  return optional(title, blocks).map((section) => ({ ...section, isDetail: true }));
}

/** Nothing for a run without such content. */
export function optional(title: string, blocks: readonly Block[]): Section[] {
  return blocks.length === 0 ? [] : [{ title, blocks }];
}
