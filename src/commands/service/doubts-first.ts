import { EXIT, LifeboatError } from '../../base/errors.ts';
import { formatTime, readable } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Workspace } from '../../compose/workspace.ts';
import type { CallEnd, Caller } from '../../runner/call.ts';
import type { Json } from '../../store/journal.ts';
import type { RunSummary } from '../../store/projections/run-summary.ts';
import { candidateLines, outputOf, taskOf } from './call-outcome.ts';

/**
 * Runs before any change of an instance. Asks about a call in doubt of an earlier process, or of a closed
 * run, and ends this command whatever became of it. A call in doubt of an open run refuses the command
 * (`call.in-doubt`, exit 5): only that run can ask. A run that is merely open causes a warning; with
 * `refusesRuns` it refuses the command as it refuses another run (`run.open`, exit 3). Sends nothing.
 */
export async function doubtsFirst(
  context: CommandContext,
  { journal }: Workspace,
  caller: Caller,
  { name, url, refusesRuns }: { readonly name: string; readonly url: string; readonly refusesRuns: boolean },
): Promise<void> {
  await askAboutEarlier(context, caller, name);
  const { inDoubt, readAllDoubts, assertNotRenamed } = await import('../../runner/assert-not-in-doubt.ts');
  const doubts = await readAllDoubts(journal);
  const ofRun = doubts.find(({ instance, run }) => instance === name && run?.isOpen);
  if (ofRun !== undefined) throw inDoubt(ofRun);
  await assertNotRenamed(journal, doubts, [{ instance: name, url }]);
  const { openRunsOn, runIsOpen } = await import('../../runner/runs.ts');
  const [open, ...others] = await openRunsOn(journal, [name], [{ instance: name, url }]);
  if (open === undefined) return;
  if (refusesRuns) {
    const { followUpsOfRun } = await import('../../compose/open-follow-ups.ts');
    const followUps = await followUpsOfRun(journal, open);
    throw runIsOpen(open, name, { followUps, more: ['to do it anyway: add --anyway REASON'] });
  }
  for (const run of [open, ...others]) warnOfOpenRun(context, run, name);
}

async function askAboutEarlier(context: CommandContext, caller: Caller, name: string): Promise<void> {
  for (const open of caller.open()) {
    const what = show(`an earlier call, ${open.verb} of ${formatTime(open.armedAt)} UTC,`);
    context.stderr.write(`${what} is in doubt: asking the service what became of it\n`);
    const end = await caller.lookUp(open);
    const { id } = outputOf(end, name, open.verb);
    const adopted = adoptedLine(end, taskOf(open.verb));
    if (adopted !== undefined) context.stderr.write(`${readable(adopted)}\n`);
    throw new LifeboatError(
      'call.resolved',
      `${what} has arrived${typeof id === 'number' ? ` as ${id}` : ''}`,
      {
        hints: ['nothing was sent now', 'run the command again if another one is wanted'],
        exitCode: EXIT.waiting,
      },
    );
  }
}

/** Two people working on one instance see each other's changes only through this warning. */
function warnOfOpenRun({ stderr }: CommandContext, run: RunSummary, name: string): void {
  const role = run.instance === name ? `on ${name}` : `into ${name}`;
  stderr.write(
    `warning: run ${show(run.runId)} of ${show(run.runbook)} ${role} is open, at: ${show(run.where)}\n`,
  );
}

/** How certain it is that the service shows what was requested, in words. */
const GRADES: Readonly<Record<string, string>> = {
  certain: 'certainly ours',
  likely: 'likely ours',
  possible: 'possibly ours',
  unlikely: 'unlikely to be ours',
};

/**
 * One line about a call whose answer was lost and which the service shows to be done: what was adopted as its
 * result, and how certain that is. Undefined for a call that was answered. Its texts come from the service
 * and must still be cleaned.
 */
export function adoptedLine({ performed, lost, evidence }: CallEnd, what: string): string | undefined {
  if (performed.how !== 'done') return undefined;
  const output = performed.output as Readonly<Record<string, Json>> | null | undefined;
  if (output?.['adopted'] !== true && output?.['answer'] !== 'adopted') return undefined;
  const why = lost === undefined ? 'the answer was not recorded' : lost.shortMessage;
  return `adopted: ${why}, and ${seen(evidence, what)}`;
}

function seen(evidence: Json | undefined, what: string): string {
  const { candidate, certainty, signs } = (evidence ?? {}) as Readonly<Record<string, Json>>;
  if (candidate !== undefined) {
    const failure = { code: '', shortMessage: '', hints: [], evidence: { candidates: [candidate] } };
    const [line] = candidateLines(failure as never, what);
    if (line !== undefined) return `the service shows ${line}`;
  }
  const grade = GRADES[String(certainty)];
  const shown = Array.isArray(signs) && signs.length > 0 ? `: ${signs.join('; ')}` : '';
  return `the service shows that it was done${grade === undefined ? '' : ` (${grade})`}${shown}`;
}
