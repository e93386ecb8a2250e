import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Case } from './cases.ts';
import { FAULTS, type Fault, OF_TASKS } from './faults.ts';
import { ASKS, KINDS, type Kind } from './kinds.ts';

export const VERDICTS = ['on', 'retry', 'wait', 'ask', 'token', 'doubt', 'failed', 'n/a'] as const;
export type Verdict = (typeof VERDICTS)[number];

export interface Cell {
  readonly once: Verdict;
  readonly always: Verdict;
}

/** The tables as a person reads them. */
export const TABLE_TEXT = readFileSync(join(import.meta.dirname, 'table.md'), 'utf8');

/** Nothing where the place decides. */
const CELLS = new Map<string, Cell | undefined>();
interface Place {
  readonly step: string;
  readonly read: string;
  readonly flow: string;
  readonly cell: Cell;
}

/** What becomes of it where the place decides, first row first; by the word that heads its table. */
const PLACES = { step: [] as Place[], moment: [] as Place[] };
const PLACES_OF: Partial<Record<Fault, readonly Place[]>> = {
  'unknown-enum': PLACES.step,
  future: PLACES.moment,
};
readTables(TABLE_TEXT);

/**
 * What is expected of a fault at a kind of endpoint; undefined where the place decides. Throws for what no
 * table has.
 */
export function cellOf(kind: Kind, fault: Fault): Cell | undefined {
  if (!CELLS.has(`${kind} ${fault}`)) throw new Error(`the table has no verdict for ${fault} at ${kind}`);
  return CELLS.get(`${kind} ${fault}`);
}

/** The one verdict that a case shall come to. */
export function expectedOf({ flow, kind, plan }: Pick<Case, 'flow' | 'kind' | 'plan'>): Verdict {
  const cell = cellOf(kind, plan.fault) ?? cellAt(flow.name, kind, plan);
  // A task fails, sticks or goes away once for all.
  return plan.times === 'always' && OF_TASKS.has(plan.fault) ? 'n/a' : cell[plan.times];
}

function cellAt(flow: string, kind: Kind, { fault, route, at }: Case['plan']): Cell {
  const verb = ASKS.has(kind) ? `after ${at?.verb}` : at?.verb;
  const row = PLACES_OF[fault]?.find(
    ({ step, read, flow: name }) =>
      (step === 'all' || step === verb || step === `${verb} ${at?.turn}`) &&
      (read === 'all' || read === route) &&
      (name === 'all' || flow.startsWith(name)),
  );
  if (row === undefined) throw new Error(`the table has no verdict for ${fault} at ${route}`);
  return row.cell;
}

function readTables(text: string): void {
  for (const block of text.split(/\n\n+/u).filter((part) => part.startsWith('|'))) {
    const [head = [], , ...rows] = block.trim().split('\n').map(cellsOf);
    const places = PLACES[head[0] as keyof typeof PLACES];
    if (places !== undefined) {
      for (const [step = '', read = '', flow = '', cell = ''] of rows)
        places.push({ step, read, flow, cell: readCell(cell) });
      continue;
    }
    for (const [fault = '', ...row] of rows)
      for (const [i, cell] of row.entries())
        CELLS.set(`${head[i + 1]} ${fault}`, cell === 'below' ? undefined : readCell(cell));
  }
  // No platform has tasks.
  for (const kind of KINDS)
    for (const fault of OF_TASKS)
      if (!CELLS.has(`${kind} ${fault}`)) CELLS.set(`${kind} ${fault}`, { once: 'n/a', always: 'n/a' });
  const missing = KINDS.flatMap((kind) => FAULTS.map((fault) => `${kind} ${fault}`)).filter(
    (key) => !CELLS.has(key),
  );
  if (missing.length > 0) throw new Error(`the table says nothing of ${missing.join(', ')}`);
}

function cellsOf(line: string): string[] {
  return line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim().replaceAll('`', ''));
}

/** `retry, failed`: once, then always. One word is both. */
function readCell(cell: string): Cell {
  if (cell === '-') return { once: 'n/a', always: 'n/a' };
  const [once = 'n/a', always = once] = cell.split(',').map((part) => verdictIn(part.trim()));
  return { once, always };
}

function verdictIn(word: string): Verdict {
  const found = VERDICTS.find((verdict) => verdict === word);
  if (found === undefined) throw new Error(`what is "${word}"?`);
  return found;
}
