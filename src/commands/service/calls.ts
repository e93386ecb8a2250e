import { homeFolder, loadConfig } from '../../config/load.ts';
import { EXIT, LifeboatError } from '../../errors.ts';
import { formatTime } from '../../format.ts';
import { type OpenCall, openCalls, takeLedger } from '../../runner/call.ts';
import { printableJson, show } from '../../text.ts';
import type { CommandContext } from '../context.ts';
import { idFrom } from '../numbers.ts';
import { printJson } from '../print-json.ts';
import { printTable } from '../print-table.ts';
import { openJournalIfAny } from '../reading.ts';
import { openLedger } from '../workspace.ts';
import { chosenInstance } from './on-instance.ts';

/** `lifeboat calls list`: calls outside of runs that may have been sent, and of which nobody knows what became. */
export async function callsList(
  context: CommandContext,
  _: readonly string[],
  flags: { readonly instance?: string; readonly json?: boolean },
): Promise<number> {
  const journal = await openJournalIfAny(homeFolder(context.env));
  const heads = (await journal?.streams('instance/')) ?? [];
  const all = await Promise.all(
    heads.map(async ({ stream }) =>
      openCalls((await journal?.read(stream)) ?? []).map((call) => ({
        instance: stream.slice('instance/'.length),
        ...call,
      })),
    ),
  );
  await journal?.close();
  const wanted = all.flat().filter(({ instance }) => instance === (flags.instance ?? instance));
  if (flags.json) for (const call of wanted) printJson(context, call);
  else if (wanted.length === 0) context.stderr.write('no call is in doubt\n');
  else
    printTable(
      context,
      [{ title: 'instance' }, { title: 'sent (UTC)' }, { title: 'call' }, { title: 'what', gives: true }],
      wanted.map(({ instance, armedAt, intent, verb, input }) => [
        instance,
        formatTime(armedAt),
        intent,
        `${verb} ${printableJson(input)}`,
      ]),
    );
  return EXIT.closed;
}

/** `lifeboat calls settle --became ID|nothing`: a person's decision on a call that cannot be told from the service's lists. Sends nothing. */
export async function callsSettle(
  context: CommandContext,
  [word]: readonly string[],
  flags: { readonly instance?: string; readonly became: string; readonly reason: string },
): Promise<number> {
  const became = flags.became === 'nothing' ? undefined : idFrom(flags.became, '--became');
  const config = await loadConfig(context.env, context.configPath);
  const name = chosenInstance(config, flags.instance);
  const workspace = await openLedger(context, { operator: config.operator.name });
  try {
    const caller = await takeLedger({
      journal: workspace.journal,
      instance: name,
      activities: {},
      now: () => new Date(),
      signal: new AbortController().signal,
      sleep: async () => undefined,
      report: () => undefined,
    });
    try {
      const call = chosenCall(caller.open(), name, word);
      await caller.decide(call, became, flags.reason);
      const what = became === undefined ? 'became nothing' : `became ${became}`;
      context.stdout.write(`${show(`${call.verb} of ${formatTime(call.armedAt)} UTC`)} ${what}\n`);
      return EXIT.closed;
    } finally {
      caller.release();
    }
  } finally {
    await workspace.close();
  }
}

function chosenCall(open: readonly OpenCall[], instance: string, word: string | undefined): OpenCall {
  const fits = open.filter(({ intent }) => word === undefined || intent.startsWith(word));
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
