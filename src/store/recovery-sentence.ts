import { z } from 'zod';
import { COMPARED, Compared, comparedSentence } from './compared.ts';
import type { Json } from './journal.ts';
import type { Sentence } from './said.ts';

/**
 * A fact of a recovery in the ledger of an instance as a sentence: a card, what was recovered, the follow-ups
 * (bodies in machines/parts). Undefined for any other type, and for a body that cannot be read.
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

/** How a follow-up was done. */
const WAYS: Readonly<Record<string, string>> = {
  platform: 'by the platform',
  cf: 'by cf',
  hand: 'by hand',
  run: 'by a run',
};

function reader<Body>(schema: z.ZodType<Body>, say: (body: Body) => Sentence) {
  return (body: Json) => {
    const read = schema.safeParse(body);
    return read.success ? say(read.data) : undefined;
  };
}

/** A word with what leads to it; nothing when there is no word. */
function after(lead: string, word: string | number | undefined): string {
  return word === undefined ? '' : `${lead}${word}`;
}
