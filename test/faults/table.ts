import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FAULTS, type Fault } from './faults.ts';
import { KINDS, type Kind } from './kinds.ts';

export const VERDICTS = ['on', 'retry', 'wait', 'ask', 'token', 'doubt', 'failed', 'n/a'] as const;
export type Verdict = (typeof VERDICTS)[number];

export interface Cell {
  /** Any of these, when it happens once. */
  readonly once: readonly Verdict[] | 'n/a';
  /** Any of these, when it stays. */
  readonly always: readonly Verdict[] | 'n/a';
}

/** The table as a person reads it. */
export const TABLE_TEXT = readFileSync(join(import.meta.dirname, 'table.md'), 'utf8');

const CELLS = parse(TABLE_TEXT);

/** What is expected of a fault at a kind of endpoint. Throws for what the table does not have. */
export function cellOf(kind: Kind, fault: Fault): Cell {
  const cell = CELLS.get(`${kind} ${fault}`);
  if (cell === undefined) throw new Error(`the table has no verdict for ${fault} at ${kind}`);
  return cell;
}

function parse(text: string): ReadonlyMap<string, Cell> {
  const rows = text
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map(cellsOf);
  const [head = [], , ...body] = rows;
  const cells = new Map<string, Cell>();
  for (const [fault = '', ...row] of body) {
    for (const [i, cell] of row.entries()) cells.set(`${head[i + 1]} ${fault}`, readCell(cell, fault));
  }
  const missing = KINDS.flatMap((kind) => FAULTS.map((fault) => `${kind} ${fault}`)).filter(
    (key) => !cells.has(key),
  );
  if (missing.length > 0) throw new Error(`the table says nothing of ${missing.join(', ')}`);
  return cells;
}

function cellsOf(line: string): string[] {
  return line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim().replaceAll('`', ''));
}

/** `retry, failed`: once, then always. One word is both, or all there is of a task. `a/b`: either. */
function readCell(cell: string, fault: string): Cell {
  if (cell === '-') return { once: 'n/a', always: 'n/a' };
  const [once = '', always = once] = cell.split(',').map((part) => part.trim());
  return {
    once: verdictsIn(once, fault),
    always: fault.startsWith('t') && /^t(ask|wo)-/u.test(fault) ? 'n/a' : verdictsIn(always, fault),
  };
}

function verdictsIn(words: string, fault: string): readonly Verdict[] {
  const found = words.split('/').map((word) => VERDICTS.find((verdict) => verdict === word));
  if (found.some((verdict) => verdict === undefined)) throw new Error(`${fault}: what is "${words}"?`);
  return found.filter((verdict) => verdict !== undefined);
}
