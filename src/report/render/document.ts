import type { Course } from '../model/model-rows.ts';

/**
 * A piece of a line. `code` is compared letter by letter; `strong` stands out; `good` and `bad` are verdicts;
 * `blank` is a line for a person to write on. Texts are raw: each renderer makes them harmless for itself.
 */
export type Inline =
  | string
  | { readonly code: string }
  | { readonly strong: string }
  | { readonly good: string }
  | { readonly bad: string }
  | { readonly blank: true };
export type Text = Inline | readonly Inline[];

/** A part of a section. `caption` tells what a table or picture is, for whoever cannot see it. */
export type Block =
  | { readonly kind: 'text'; readonly text: Text }
  | { readonly kind: 'alarm'; readonly title: string; readonly text: Text }
  | { readonly kind: 'facts'; readonly caption: string; readonly rows: readonly (readonly [string, Text])[] }
  | {
      readonly kind: 'table';
      readonly caption: string;
      readonly head: readonly string[];
      readonly rows: readonly (readonly Text[])[];
    }
  | { readonly kind: 'list'; readonly items: readonly Text[] }
  | { readonly kind: 'lines'; readonly caption: string; readonly lines: readonly string[] }
  | { readonly kind: 'blanks'; readonly labels: readonly string[] }
  /** Figures at a glance, drawn only: what they say stands in the tables too. */
  | { readonly kind: 'figures'; readonly figures: readonly Figure[] }
  /** The course of a run, drawn only: what it says stands in the tables too. */
  | { readonly kind: 'picture'; readonly caption: string; readonly course: Course }
  | { readonly kind: 'bars'; readonly caption: string; readonly runs: readonly Bars[] };

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
  readonly blocks: readonly Block[];
}

/** What a renderer writes: a title, what stands before the first section, and the sections. */
export interface Document {
  readonly title: string;
  readonly lead: readonly Block[];
  readonly sections: readonly Section[];
  /** A word on the page about what it is and when it was made. */
  readonly foot: string;
}

/** A line for a person to write on. */
export const BLANK: Inline = { blank: true };

export function inlines(text: Text): readonly Inline[] {
  return Array.isArray(text) ? (text as readonly Inline[]) : [text as Inline];
}
