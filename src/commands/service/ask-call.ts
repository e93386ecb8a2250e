import { EXIT, LifeboatError } from '../../base/errors.ts';
import { formatTime, readable } from '../../base/format.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Action } from '../../cli/define.ts';
import { printResult } from '../../cli/print-result.ts';
import { stopSignal } from '../../cli/stop-signal.ts';
import { openForRun } from '../../compose/service-of.ts';
import { openWorkspace, type Workspace, workspaceFor } from '../../compose/workspace.ts';
import { chosenInstance, loadConfig } from '../../config/load.ts';
import { inDoubt, readDoubts } from '../../runner/assert-not-in-doubt.ts';
import type { CallEnd, Caller } from '../../runner/call.ts';
import type { OpenCall } from '../../store/projections/pending-calls.ts';
import { whoIs } from '../approvals/present.ts';
import { absentWords, outputOf, taskOf } from './call-outcome.ts';
import { chosenCall } from './calls.ts';
import { adoptedLine } from './doubts-first.ts';
import type { InstanceFlags } from './on-instance.ts';
import { progressLine } from './progress-line.ts';
import { activitiesOf, closing, takeCaller } from './take-caller.ts';

/**
 * `lifeboat calls ask`: asks the service what became of a call in doubt, as the next change of the instance
 * would, and ends there. Sends only GETs: records what it finds; if it finds nothing, the call stays in doubt
 * (exit 5). A call of an open run is left to that run (`call.in-doubt`, exit 5).
 */
export const callsAsk: Action<InstanceFlags> = async (context, [word], flags) => {
  const config = await loadConfig(context.env, context.configPath);
  const name = chosenInstance(config, flags.instance);
  const workspace = await openWorkspace(context, workspaceFor(config));
  const stop = stopSignal();
  const line = progressLine(context);
  try {
    await using instance = await openForRun(context, config, workspace, name, {
      tokenFile: flags.tokenFile,
    });
    const activities = await activitiesOf({ instance, workspace }, new Map());
    const by = { who: whoIs(config, workspace), signal: stop.signal, report: line.report };
    const caller = await takeCaller({ instance, workspace }, activities, by);
    const done = closing(caller, workspace);
    try {
      const call = await callFor(caller, workspace, name, word);
      const end = await caller.lookUp(call);
      line.end();
      await tell(context, name, call, end);
      return EXIT.closed;
    } finally {
      line.end();
      await done();
    }
  } catch (thrown) {
    if (stop.signal.aborted) throw left(thrown);
    throw thrown;
  } finally {
    stop.release();
    await workspace.close();
  }
};

async function callFor(
  caller: Caller,
  { journal }: Workspace,
  name: string,
  word: string | undefined,
): Promise<OpenCall> {
  const open = caller.open();
  const ofRun =
    open.length > 0 ? undefined : (await readDoubts(journal, name)).find(({ run }) => run?.isOpen);
  if (ofRun !== undefined) throw inDoubt(ofRun);
  return chosenCall(open, name, word);
}

async function tell(
  context: CommandContext,
  instance: string,
  { intent, verb, armedAt }: OpenCall,
  end: CallEnd,
): Promise<void> {
  const found = foundIn(end, instance, verb);
  await printResult(context, 'call', { instance, intent, verb, ...found }, () => {
    const { landed, became, reason } = found;
    const what = landed ? (became === undefined ? 'has arrived' : `became ${became}`) : 'became nothing';
    context.stdout.write(`${readable(`${verb} of ${formatTime(armedAt)} UTC ${what}: ${reason}`)}\n`);
  });
}

/** What became of the call, and how that is known. Throws (exit 5) if it is not known. */
function foundIn(end: CallEnd, instance: string, verb: string) {
  const { performed, lost } = end;
  const isAbsent = performed.how === 'done' && Reflect.get(Object(performed.output), 'landed') === false;
  if (isAbsent) return { landed: false, became: undefined, reason: readable(absentWords(lost)) };
  const { id } = outputOf(end, instance, verb);
  const shown = adoptedLine(end, taskOf(verb)) ?? 'the service shows that it was done';
  return { landed: true, became: typeof id === 'number' ? id : undefined, reason: readable(shown) };
}

function left(cause: unknown): LifeboatError {
  const hints = ['nothing was sent', 'the call stays in doubt: the same command looks again'];
  return new LifeboatError('call.left', 'interrupted', { hints, exitCode: EXIT.interrupted, cause });
}
