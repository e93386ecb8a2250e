import { hash } from 'node:crypto';
import * as z from 'zod';
import { counted } from '../base/format.ts';
import type { Json } from './journal.ts';
import { RECEIPT_KEY_ENDORSED, RECEIPT_MADE, ReceiptKeyEndorsed, ReceiptMade } from './log/log-entries.ts';
import { EVALUATED, evaluationSentence } from './projections/evaluations.ts';
import type { Sentence } from './sentence.ts';

/** With the expected one. Digests: MD5 over all rows in key order. */
const ComparedTable = z.object({
  name: z.string(),
  rows: z.int().nonnegative(),
  md5: z.string(),
  expected: z.object({ rows: z.int().nonnegative(), md5: z.string() }),
  equal: z.boolean(),
});
export type ComparedTable = z.infer<typeof ComparedTable>;

/**
 * The body of `drill.compared`, in the instance's ledger: what a drill, not the run, saw in the databases
 * after a run. Readers tolerate unknown fields.
 */
export const Compared = z.object({
  run: z.string(),
  title: z.string(),
  proven: z.boolean(),
  tables: z.array(ComparedTable),
  checks: z.array(z.object({ what: z.string(), holds: z.boolean() })),
});

export const COMPARED = 'drill.compared';

/**
 * Of a recovery fact in a ledger: a card, what was recovered, follow-ups (bodies in machines/parts).
 * Undefined for any other type, and for an unreadable body.
 */
export function recoverySentence(type: string, body: Json): Sentence | undefined {
  return FACTS[type]?.(body);
}

const FACTS: Readonly<Record<string, (body: Json) => Sentence | undefined>> = {
  'card.prepared': reader(
    z.object({ card: z.object({ backupGuid: z.string(), fingerprint: z.string().optional() }) }),
    ({ card: { backupGuid, fingerprint } }) => ({
      text: `recovery card for backups ${backupGuid}${after(', key ', fingerprint)}`,
      tone: 'good',
    }),
  ),
  'recovery.done': reader(
    z.object({
      runbook: z.string(),
      restore: z.object({ id: z.number(), restoredFrom: z.string().optional() }).optional(),
      backup: z.object({ id: z.number() }).optional(),
      source: z.string().optional(),
      freshBackup: z.number().optional(),
    }),
    ({ runbook, restore, backup, source, freshBackup }) => ({
      text: [
        `${runbook} done`,
        after('restore ', restore?.id),
        after('of backup ', backup?.id),
        after('from ', source),
        after('data of ', restore?.restoredFrom),
        after('fresh backup ', freshBackup),
      ]
        .filter((part) => part !== '')
        .join(', '),
      tone: 'good',
    }),
  ),
  [COMPARED]: reader(Compared, comparedSentence),
  [EVALUATED]: (body) => {
    const said = evaluationSentence(body);
    return said && { text: said.text, tone: said.isGood ? 'good' : 'warn' };
  },
  [RECEIPT_MADE]: (body) => {
    const { data: made } = ReceiptMade().safeParse(body);
    if (made === undefined) return undefined;
    const by = `, SHA-256 ${made.sha256.slice(0, 12)}, by receipt key ${made.key.slice(0, 12)}`;
    if ('run' in made)
      return { text: `receipt of run ${made.run}: ${made.result}${by}`, tone: RESULTS[made.result] };
    const of = made.evaluation === '*' ? 'all evaluations' : `the evaluation of ${made.evaluation}`;
    const holds = made.properties.length === 0 ? 'no property holds' : made.properties.join(', ');
    return { text: `receipt of ${of}: ${holds}${by}`, tone: 'plain' };
  },
  [RECEIPT_KEY_ENDORSED]: reader(ReceiptKeyEndorsed, ({ note }) => ({
    text: `vouched for receipt key ${derHash(note)}`,
    tone: 'plain',
  })),
  'follow-up.opened': reader(
    z.object({ followUp: z.object({ what: z.string() }) }),
    ({ followUp: { what } }) => ({ text: `follow-up opened: ${what}`, tone: 'warn' }),
  ),
  'follow-up.closed': reader(
    z.object({ id: z.string(), closure: z.object({ how: z.string(), text: z.string() }) }),
    ({ id, closure: { how, text } }) =>
      how === 'skipped'
        ? { text: `follow-up skipped: ${id}, because: ${text}`, tone: 'warn' }
        : { text: `follow-up done: ${id}, ${WAYS[how] ?? how}: ${text}`, tone: 'good' },
  ),
};

const RESULTS = { PASSED: 'good', WARNED: 'warn', FAILED: 'bad' } as const;

const WAYS: Readonly<Record<string, string>> = {
  platform: 'by the platform',
  cf: 'by cf',
  hand: 'by hand',
  run: 'by a run',
};

/** The first 12 hex digits of the SHA-256 of a note's key, as `receipt.made` names it. */
function derHash(note: string): string {
  const [, base64 = ''] = /-----BEGIN PUBLIC KEY-----([^-]+)-----END/u.exec(note) ?? [];
  return hash('sha256', Buffer.from(base64, 'base64')).slice(0, 12);
}

function reader<Body>(schema: z.ZodType<Body>, say: (body: Body) => Sentence) {
  return (body: Json) => {
    const read = schema.safeParse(body);
    return read.success ? say(read.data) : undefined;
  };
}

/** Empty without a word. */
function after(lead: string, word: string | number | undefined): string {
  return word === undefined ? '' : `${lead}${word}`;
}

function comparedSentence({ proven, tables, checks }: z.infer<typeof Compared>): Sentence {
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
