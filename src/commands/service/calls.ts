import { EXIT, failureOf, LifeboatError } from '../../base/errors.ts';
import { formatTime, readable } from '../../base/format.ts';
import { meantBy } from '../../base/similar.ts';
import { printableJson, show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Action } from '../../cli/define.ts';
import { idFrom } from '../../cli/numbers.ts';
import { printResult, printTable } from '../../cli/print-result.ts';
import { openJournalIfAny } from '../../compose/store-of.ts';
import { openWorkspace, workspaceFor } from '../../compose/workspace.ts';
import { chosenInstance, instanceNamed, loadConfig } from '../../config/load.ts';
import { callInWords, callName, readAllDoubts } from '../../runner/assert-not-in-doubt.ts';
import { takeLedger } from '../../runner/call.ts';
import type { ServiceClient } from '../../service/client.ts';
import type { Json } from '../../store/journal.ts';
import type { Doubt, OpenCall } from '../../store/projections/pending-calls.ts';
import { whoIs } from '../approvals/present.ts';
import { candidateLines, taskOf } from './call-outcome.ts';
import { type InstanceFlags, onInstance } from './on-instance.ts';

/**
 * `lifeboat calls list`: lists calls that may have been sent and whose outcome is unknown, whoever sent them.
 * Those of an open run carry its id, and stderr says how to continue it: the run asks about them itself.
 */
export const callsList: Action<{ readonly instance?: string }> = async (context, _, flags) => {
  const open = await wantedDoubts(context, flags.instance);
  await printResult(context, 'calls', { items: open.map(fieldsOf) }, () => {
    if (open.length === 0) context.stderr.write('no call is in doubt\n');
    else printCalls(context, open);
  });
  const ofRuns = open.filter(({ run }) => run?.isOpen);
  for (const doubt of ofRuns) {
    const what = `${callInWords(doubt)} on ${doubt.instance}, sent ${formatTime(doubt.armedAt)} UTC,`;
    const { runId } = doubt.run ?? { runId: '' };
    context.stderr.write(`${show(`${what} is in doubt in an open run: lifeboat resume ${runId}`)}\n`);
  }
  return EXIT.closed;
};

/**
 * The doubts of one instance, or all. Rejects with `config.instance` (exit 2) for a name that neither the
 * config nor the journal knows: for a mistyped name, "no call is in doubt" would be a false all-clear.
 */
async function wantedDoubts(context: CommandContext, name: string | undefined): Promise<readonly Doubt[]> {
  const journal = await openJournalIfAny(context);
  try {
    const all = journal === undefined ? [] : await readAllDoubts(journal);
    if (name === undefined) return all;
    const wanted = all.filter(({ instance }) => instance === name);
    const ledgers = wanted.length > 0 ? [] : await journal?.streams(`instance/${name}`);
    if (wanted.length === 0 && !ledgers?.some(({ stream }) => stream === `instance/${name}`))
      instanceNamed(await loadConfig(context.env, context.configPath), name);
    return wanted;
  } finally {
    await journal?.close();
  }
}

function printCalls(context: CommandContext, open: readonly Doubt[]): void {
  printTable(
    context,
    [{ title: 'instance' }, { title: 'sent (UTC)' }, { title: 'call' }, { title: 'what', gives: true }],
    open.map((doubt) => [
      doubt.instance,
      formatTime(doubt.armedAt),
      callName(doubt),
      `${doubt.verb} ${printableJson(doubt.input)}`,
    ]),
  );
  for (const doubt of open)
    for (const line of candidateLines(doubt.unclear, taskOf(doubt.verb)))
      context.stdout.write(`  ${readable(`${callName(doubt)} may be ${line}`)}\n`);
}

function fieldsOf(doubt: Doubt) {
  const { instance, armedAt, verb, input, unclear, run } = doubt;
  const candidates = unclear?.evidence['candidates'];
  const shown = candidates === undefined ? {} : { candidates: candidates as Json };
  const sender = run?.isOpen ? { run: run.runId } : {};
  return { instance, intent: callName(doubt), verb, armedAt, input: input as Json, ...shown, ...sender };
}

/**
 * `lifeboat calls resolve --became ID|nothing`: records a person's decision on a call whose outcome the
 * service's lists do not show. Sends nothing. Refuses an id that the service does not list (exit 2), unless
 * the service cannot be asked.
 */
export const callsResolve: Action<
  InstanceFlags & { readonly became: string; readonly reason: string }
> = async (context, [word], flags) => {
  const became = flags.became === 'nothing' ? undefined : idFrom(flags.became, '--became');
  const config = await loadConfig(context.env, context.configPath);
  const name = chosenInstance(config, flags.instance);
  const workspace = await openWorkspace(context, workspaceFor(config));
  try {
    const caller = await takeLedger({
      journal: workspace.journal,
      instance: name,
      url: instanceNamed(config, name).url,
      who: whoIs(config, workspace),
      activities: {},
      now: () => new Date(),
      signal: new AbortController().signal,
      sleep: async () => undefined,
      report: () => undefined,
      seal: async () => undefined,
    });
    try {
      const call = chosenCall(caller.open(), name, word);
      if (became !== undefined) await assertListed(context, { ...flags, instance: name }, call, became);
      await caller.decide(call, became, flags.reason);
      const { intent, verb, armedAt } = call;
      const landed = became !== undefined;
      const resolved = { instance: name, intent, verb, landed, became, reason: flags.reason };
      await printResult(context, 'call', resolved, () => {
        const what = became === undefined ? 'became nothing' : `became ${became}`;
        context.stdout.write(`${show(`${verb} of ${formatTime(armedAt)} UTC`)} ${what}\n`);
      });
      return EXIT.closed;
    } finally {
      await caller.release();
    }
  } finally {
    await workspace.close();
  }
};

/** The call in doubt that a word means; without a word, the only one. Rejects with `usage.call`, exit 2. */
export function chosenCall(open: readonly OpenCall[], instance: string, word: string | undefined): OpenCall {
  const fits =
    word === undefined
      ? open
      : meantBy(
          word,
          open,
          ({ intent }) => [intent],
          ({ armedAt }) => armedAt,
        );
  const [only, another] = fits;
  if (only !== undefined && another === undefined) return only;
  const which = word === undefined ? 'call' : `call ${show(word, 40)}`;
  throw new LifeboatError(
    'usage.call',
    only === undefined
      ? `no ${which} of ${instance} is in doubt`
      : `more than one ${which} of ${instance} is in doubt`,
    { hints: fits.slice(0, 5).map(({ intent, verb }) => `${intent}  ${verb}`), exitCode: EXIT.usage },
  );
}

const SHOWN = 10;

/**
 * Refuses an id that a call cannot have become (`usage.became`, exit 2): neither the service's earlier answer
 * nor its list now has it. A service that cannot be asked proves nothing: then it is a warning. A restart,
 * recreate or update becomes nothing with an id.
 */
async function assertListed(
  context: CommandContext,
  flags: InstanceFlags,
  call: OpenCall,
  became: number,
): Promise<void> {
  const list = LISTS[taskOf(call.verb)];
  const candidates = call.unclear?.evidence['candidates'];
  const known = Array.isArray(candidates)
    ? candidates.map((one) => (one as { readonly id?: unknown } | null)?.id)
    : [];
  if (list === undefined || known.includes(became)) return;
  let listed: Awaited<ReturnType<typeof list.read>>['value'];
  try {
    listed = (await onInstance(context, flags, ({ service }) => list.read(service))).value;
  } catch (thrown) {
    const why = failureOf(thrown).shortMessage;
    context.stderr.write(
      `warning: the service could not be asked whether ${became} is there: ${show(why)}\n`,
    );
    return;
  }
  if (listed.some(({ id }) => id === became)) return;
  const newest = listed.toSorted((one, other) => other.id - one.id).slice(0, SHOWN);
  throw new LifeboatError(
    'usage.became',
    `the service lists no ${list.what} ${became}; nothing was resolved`,
    {
      hints: [
        ...candidateLines(call.unclear, list.what),
        newest.length === 0
          ? `it lists no ${list.what} at all`
          : `it lists: ${newest.map(({ id, status }) => `${id} (${show(status, 20)})`).join(', ')}`,
      ],
      exitCode: EXIT.usage,
    },
  );
}

interface List {
  readonly what: string;
  readonly read: (
    service: ServiceClient,
  ) => Promise<{ readonly value: readonly { readonly id: number; readonly status: string }[] }>;
}

/** The list that shows what a call becomes. */
const LISTS: Readonly<Record<ReturnType<typeof taskOf>, List | undefined>> = {
  backup: { what: 'backup', read: (service) => service.backups() },
  restore: { what: 'restore', read: (service) => service.restores() },
  task: undefined,
};
