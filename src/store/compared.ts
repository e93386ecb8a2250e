import { z } from 'zod';
import { counted } from '../base/format.ts';
import type { Sentence } from './said.ts';

/**
 * One table of a restored database against what was expected of it. The digests are MD5 over all rows in the
 * order of their keys.
 */
const ComparedTable = z.object({
  name: z.string(),
  rows: z.int().nonnegative(),
  md5: z.string(),
  expected: z.object({ rows: z.int().nonnegative(), md5: z.string() }),
  equal: z.boolean(),
});
export type ComparedTable = z.infer<typeof ComparedTable>;

/**
 * The body of `drill.compared`, an entry in the ledger of the instance: what a drill saw of the databases
 * after a run, by asking them and not the run. Readers tolerate fields that they do not know.
 */
export const Compared = z.object({
  run: z.string(),
  title: z.string(),
  proven: z.boolean(),
  tables: z.array(ComparedTable),
  checks: z.array(z.object({ what: z.string(), holds: z.boolean() })),
});

export const COMPARED = 'drill.compared';

/** The comparison as a sentence. */
export function comparedSentence({ proven, tables, checks }: z.infer<typeof Compared>): Sentence {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  const differing = tables.filter(({ equal }) => !equal).map(({ name }) => name);
  const broken = checks.filter(({ holds }) => !holds).map(({ what }) => what);
  const parts = [
    ...(tables.length === 0
      ? []
      : [`every row compared (${counted(tables.length, 'table')}, ${counted(rows, 'row')})`]),
    ...(differing.length === 0 ? [] : [`DIFFERENT: ${differing.join(', ')}`]),
    ...(broken.length === 0 ? [] : [`NOT TRUE: ${broken.join('; ')}`]),
    ...(proven ? ['as expected'] : []),
  ];
  return { text: `the drill asked the databases: ${parts.join(', ')}`, tone: proven ? 'good' : 'bad' };
}
