import { EXIT, LifeboatError } from '../base/errors.ts';
import { planSubject } from '../base/plan-subject.ts';
import { mostSimilar } from '../base/similar.ts';
import { printableJson, show } from '../base/text.ts';
import type { CommandContext } from '../cli/context.ts';
import { printResult } from '../cli/print-result.ts';
import { openReaderOf } from '../compose/store-of.ts';
import {
  ALL_PROPERTIES,
  EVALUATION_FILE,
  EvaluationRecord,
  evaluationStatementOf,
  type RecordedEvaluation,
  SVR,
} from '../receipts/evaluation-statement.ts';
import type { JournalReader } from '../store/journal.ts';
import { newestEvaluationIn } from '../store/projections/evaluations.ts';
import { newestRecoveries, recoveryIn, touchedBy } from '../store/projections/recoveries.ts';
import { readRunEntry } from '../store/run-entries.ts';
import { assertSound } from './audit/export.ts';
import { commandsFor, writeReceipt } from './write-receipt.ts';

/** No instance or plan can have this name. */
const ALL = '*';

/**
 * `lifeboat receipt --evaluation [NAME]`: a new folder with the newest evaluation on record of an instance or
 * a plan, or of all, and a signed statement of the properties that hold by it. Evaluates nothing, and signs
 * only an intact record. Rejects with `receipt.not-evaluated`, exit 2, where nothing is on record.
 */
export async function evaluationReceipt(
  context: CommandContext,
  run: string | undefined,
  name: string | true,
  folder: string | undefined,
): Promise<number> {
  if (run !== undefined)
    throw new LifeboatError('usage.receipt', 'a receipt is for a run or for an evaluation, not for both', {
      hints: ['nothing was signed'],
      exitCode: EXIT.usage,
    });
  const evaluations = await recorded(context, name);
  await assertSound(context, undefined, []);
  const [only] = evaluations;
  const evaluation = name === true ? ALL : (only?.name ?? name);
  const out = folder ?? `lifeboat-receipt-evaluation${name === true ? '' : `-${evaluation}`}`;
  const record = EvaluationRecord.parse({ schema: 'lifeboat.evaluation-record/1', evaluations });
  const text = `${printableJson(record)}\n`;
  let properties: string[] = [];
  const sha256 = await writeReceipt(context, out, (installation) => {
    const statement = evaluationStatementOf(record.evaluations, text, installation);
    properties = statement.predicate.properties;
    return {
      ...{ statement, text, file: EVALUATION_FILE },
      made: (hashes) => ({ evaluation, properties, ...hashes }),
    };
  });
  await printResult(context, 'evaluation-receipt', { evaluation, path: out, properties, sha256 }, () => {
    const missing = ALL_PROPERTIES.filter((one) => !properties.includes(one));
    context.stdout.write(`written: ${show(out, 300)}\n`);
    if (missing.length > 0) context.stdout.write(`  does not hold: ${missing.join(', ')}\n`);
    if (properties.length > 0) context.stdout.write(`  holds: ${properties.join(', ')}\n`);
    context.stderr.write(commandsFor(out, SVR, EVALUATION_FILE));
  });
  return EXIT.closed;
}

/** By the entries, which the audit has verified; a projection is only a copy of them. */
async function recorded(
  context: CommandContext,
  name: string | true,
): Promise<readonly RecordedEvaluation[]> {
  const journal = await openReaderOf(context);
  try {
    const known = (await journal.streams('instance/')).map(({ stream }) => stream.slice('instance/'.length));
    const wanted = name === true ? known.toSorted() : [name, planSubject(name)];
    const found: RecordedEvaluation[] = [];
    for (const one of wanted) {
      const evaluated = newestEvaluationIn(await journal.read(`instance/${one}`));
      if (evaluated === undefined) continue;
      const { verdict, reason, at, since, findings } = evaluated;
      found.push({ name: one, verdict, reason, at, since, findings: [...findings] });
      if (name !== true) break;
    }
    if (found.length > 0) return await withRecoveries(journal, found);
    const others = known.filter((one) => one !== name);
    const [what, similar] = name === true ? ['', []] : [` of ${show(name, 80)}`, mostSimilar(name, others)];
    throw new LifeboatError('receipt.not-evaluated', `no evaluation${what} is on record`, {
      hints: ['nothing was signed', ...similar, 'evaluate first: lifeboat plans evaluate'],
      exitCode: EXIT.usage,
    });
  } finally {
    await journal.close();
  }
}

/** Adds the newest proven recovery of each, by the entries of its run. */
async function withRecoveries(
  journal: JournalReader,
  evaluations: readonly RecordedEvaluation[],
): Promise<readonly RecordedEvaluation[]> {
  const names = evaluations.map(({ name }) => name);
  const recovered = await newestRecoveries(journal, names);
  const found = evaluations.map(async (one): Promise<RecordedEvaluation> => {
    const runId = recovered.get(one.name)?.runId;
    if (runId === undefined) return one;
    const entries = await journal.read(`run/${runId}`);
    const [recovery] = entries.flatMap((entry) => recoveryIn(entry) ?? []);
    if (!touchedBy(recovery).includes(one.name)) return one;
    const closed = entries.find((entry) => {
      const read = entry.type === 'run.closed' ? readRunEntry(entry) : undefined;
      return read?.type === 'run.closed' && read.body.proven && read.body.simulated !== true;
    });
    return closed === undefined ? one : { ...one, restored: { runId, at: closed.at } };
  });
  return Promise.all(found);
}
