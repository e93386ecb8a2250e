import { formatSeconds, formatTime } from '../../base/format.ts';
import type { Fact, Report } from '../model/model.ts';
import type { Block, Section, Text } from './document.ts';

/** `YYYY-MM-DD HH:MM:SS` of a stored time, UTC; anything else as it is. */
export function time(at: string | undefined): string {
  return at === undefined ? '' : formatTime(at);
}

/** What an alarm says, below its title. */
export function alarmText({ text, at, by }: Report['alarms'][number]): string {
  return `${text} (${time(at)} UTC, by ${by})`;
}

/** What was not done as the runbook says, and why. */
export function deviationText({ kind, what, reason }: Report['deviations'][number]): Text {
  if (kind === 'break-glass') return [{ bad: 'BREAK-GLASS' }, `: ${what}: ${reason}`];
  return kind === 'step' || kind === 'open' ? `${what}: ${reason}` : `${kind}: ${what}: ${reason}`;
}

export function seconds(value: number | undefined, otherwise: string): string {
  return value === undefined ? otherwise : formatSeconds(value);
}

export function factRows(facts: readonly Fact[]): [string, Text][] {
  return facts.map(({ label, value, code }) => [label, code === true ? { code: value } : value]);
}

/** Named values as a table without a head; none for no facts. */
export function factsBlock(caption: string, facts: readonly Fact[]): Block[] {
  return facts.length === 0 ? [] : [{ kind: 'facts', caption, rows: factRows(facts) }];
}

/** A table, or one sentence where it would be empty. */
export function tableOr(
  empty: string,
  caption: string,
  head: readonly string[],
  rows: readonly (readonly Text[])[],
): Block {
  return rows.length === 0 ? { kind: 'text', text: empty } : { kind: 'table', caption, head, rows };
}

/** A section that only some runs have something for. */
export function optional(title: string, blocks: readonly Block[]): Section[] {
  return blocks.length === 0 ? [] : [{ title, blocks }];
}
