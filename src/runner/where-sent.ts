import { EXIT, LifeboatError } from '../base/errors.ts';
import { isSameInstance } from '../base/instance-url.ts';
import { show } from '../base/text.ts';
import { fieldsOf, type JournalReader } from '../store/journal.ts';
import { type Doubt, handedRun, readLedgerTail } from '../store/projections/pending-calls.ts';
import { type Named, progressOfOpenRuns, servicesIn } from '../store/projections/runs.ts';

/* A name's instance may change with the config, so a call's record also holds the address it was sent to. */

/** The address that a call in doubt was sent to; undefined if none is recorded. */
async function whereSent(
  journal: Pick<JournalReader, 'read' | 'rows' | 'head'>,
  { instance, intent, run }: Pick<Doubt, 'instance' | 'intent' | 'run'>,
): Promise<string | undefined> {
  const runId = run?.runId ?? handedRun(intent);
  if (runId !== undefined)
    return servicesIn((await journal.read(`run/${runId}`))[0]?.body).find((one) => one.instance === instance)
      ?.url;
  const entries = await readLedgerTail(journal, `instance/${instance}`);
  const begun = entries.find(({ type, body }) => type === 'call.begun' && fieldsOf(body)['call'] === intent);
  const { url } = fieldsOf(begun?.body);
  return typeof url === 'string' ? url : undefined;
}

/** The first call that was sent to one of these instances under another name. */
export async function underOtherName<Call extends Doubt>(
  journal: Pick<JournalReader, 'read' | 'rows' | 'head'>,
  calls: readonly Call[],
  named: readonly Named[],
): Promise<Call | undefined> {
  const others = calls.filter((call) => !named.some(({ instance }) => instance === call.instance));
  if (others.length === 0) return undefined;
  const open = new Map((await progressOfOpenRuns(journal)).map((run) => [run.runId, run.services ?? []]));
  for (const call of others) {
    const began = open.get(call.run?.runId ?? '');
    const sent =
      began === undefined
        ? await whereSent(journal, call)
        : began.find(({ instance }) => instance === call.instance)?.url;
    if (sent !== undefined && named.some(({ url }) => isSameInstance(sent, url) === true)) return call;
  }
  return undefined;
}

/** Rejects (`call.elsewhere`, exit 2) if the call was sent elsewhere: `url` cannot show its outcome. */
export async function assertSamePlace(
  journal: Pick<JournalReader, 'read' | 'rows' | 'head'>,
  call: Pick<Doubt, 'instance' | 'intent' | 'verb'>,
  url: string,
): Promise<void> {
  const sent = await whereSent(journal, call);
  if (sent === undefined || isSameInstance(sent, url) !== false) return;
  const { instance, verb } = call;
  throw new LifeboatError(
    'call.elsewhere',
    `${show(verb)} was sent to ${show(instance)} at ${show(sent)}, and the config has another instance under that name`,
    {
      hints: [
        'nothing was asked and nothing was sent: the call stays in doubt',
        'put back the address that it was sent to, then: lifeboat resume RUN --look',
        'give the other instance a name of its own',
      ],
      exitCode: EXIT.usage,
    },
  );
}
