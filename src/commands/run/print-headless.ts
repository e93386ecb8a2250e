import { optionKey, type Question } from '../../../machines/parts/question.ts';
import { type ExitCode, failureOf } from '../../base/errors.ts';
import { readable } from '../../base/format.ts';
import { printableJson, show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { isForPeople, printRecord, type ResultOf } from '../../cli/print-result.ts';
import type { DrivenRun } from '../../compose/instances.ts';
import type { Entry, Journal, StreamName } from '../../store/journal.ts';

/**
 * `-o json`: prints the entries of a run and of its instances' ledgers, one per line, in the order of the
 * log, as they are written; of a new run also its first. The run does not wait for the printing; the returned
 * function prints what was written before its call, and never rejects.
 */
export async function printEntries(
  context: CommandContext,
  journal: Journal,
  { runId, instance, target }: Pick<DrivenRun, 'runId' | 'instance' | 'target'>,
): Promise<() => Promise<void>> {
  const streams: readonly StreamName[] = [
    ...new Set<StreamName>([`run/${runId}`, `instance/${instance}`, `instance/${target ?? instance}`]),
  ];
  let { size: next } = await journal.log.head();
  const last = new Map<string, number>();
  for (const stream of streams) last.set(stream, (await journal.head(stream)).seq);
  const print = async (entries: readonly Entry[]) => {
    for (const entry of entries) {
      if (entry.index < next) continue;
      next = entry.index + 1;
      if (!last.has(entry.stream)) continue;
      last.set(entry.stream, entry.seq);
      await printRecord(context, 'entry', entry);
    }
  };
  const written = await journal.read(`run/${runId}`);
  if (written.length === 1) for (const entry of written) await printRecord(context, 'entry', entry);

  const stop = new AbortController();
  const following = (async () => {
    for await (const entries of journal.follow(next, stop.signal)) await print(entries);
  })();
  following.catch(() => undefined);
  return async () => {
    stop.abort();
    try {
      await following;
      // The newest entries may not have arrived yet.
      const left = await Promise.all(
        streams.map((stream) => journal.read(stream, (last.get(stream) ?? 0) + 1)),
      );
      await print(left.flat().sort((one, other) => one.index - other.index));
    } catch (thrown) {
      const { shortMessage } = failureOf(thrown);
      context.stderr.write(`warning: the last entries are not printed: ${show(shortMessage)}\n`);
    }
  };
}

interface Waiting {
  readonly runId: string;
  readonly why: string;
  readonly exitCode: ExitCode;
  /** One line that says what holds from now on. */
  readonly after: string;
  /** The current question of the run; undefined if it was left for another reason. */
  readonly question: Question | undefined;
}

/** Prints on stderr why a run cannot continue here; for programs in the form of an error. */
export function printWaiting(context: CommandContext, waiting: Waiting): void {
  const { runId, why, exitCode, after, question } = waiting;
  const message = `the run waits: ${why}`;
  if (isForPeople(context)) {
    context.stderr.write(`lifeboat: ${readable(message, 2000)}\nhint: ${after}\n`);
    return;
  }
  const error: ResultOf<'error'> = {
    code: 'run.waits',
    message,
    hints: [after],
    runId,
    ...(question === undefined ? {} : { question: asked(question) }),
    exit: exitCode,
  };
  context.stderr.write(`${printableJson({ schema: 'lifeboat.error/1', ...error })}\n`);
}

function asked(question: Question): NonNullable<ResultOf<'error'>['question']> {
  const { kind, prompt, options } = question;
  return {
    kind,
    prompt,
    ...(question.kind === 'typed-name' ? { expected: question.expected } : {}),
    ...(question.kind === 'time' ? { earliest: question.earliest, latest: question.latest } : {}),
    options: options.map(({ event, label, recommended, disabled }) => ({
      event: optionKey(event),
      label,
      ...(recommended === true ? { recommended } : {}),
      ...(disabled === undefined ? {} : { disabled }),
    })),
  };
}
