import type { Runbook } from '../../machines/parts/runbook.ts';
import type { PreflightFacts } from '../../machines/parts/verbs.ts';
import { homeFolder, loadConfig } from '../config/load.ts';
import { EXIT, errorFrom, exitOf } from '../errors.ts';
import { currentKey, foldEpochs } from '../keys/fold-epochs.ts';
import type { Keyring } from '../keys/key-store.ts';
import { printableJson, show } from '../text.ts';
import { metaAt, viewFact } from '../view/build-run-view.ts';
import type { CommandContext } from './context.ts';
import { printTable } from './print-table.ts';
import { openJournalIfAny } from './reading.ts';
import { refuseUnsupported } from './refuse-unsupported.ts';
import { runbookNamed } from './runbook-files.ts';
import { type OpenInstance, openInstance } from './service-of.ts';
import { expiryOf } from './token-expiry.ts';
import { openKeys } from './workspace.ts';

interface PlannedStep {
  readonly step: string;
  readonly title: string;
  readonly call?: string;
  readonly what?: string;
  readonly changes: boolean;
  readonly asks?: string;
  readonly wayBack?: string;
}

/** `lifeboat plan RUNBOOK`: the calls of a run in order, and what the instance looks like now. Sends nothing but GETs. */
export async function plan(
  context: CommandContext,
  [name = '']: readonly string[],
  flags: { readonly instance: string; readonly tokenFile?: string; readonly json?: boolean },
): Promise<number> {
  const runbook = runbookNamed(name);
  const config = await loadConfig(context.env, context.configPath);
  const keyring = await openKeys(context);
  const instance = await openInstance(config, flags.instance, {
    store: async () => keyring.store,
    tokenFile: flags.tokenFile,
    found: (line) => context.stderr.write(`${line}\n`),
  });
  try {
    refuseUnsupported(runbook, instance);
    const facts = await look(context, instance, keyring);
    const steps = stepsOf(runbook);
    if (flags.json)
      context.stdout.write(
        `${printableJson({ runbook: runbook.id, instance: flags.instance, steps, facts })}\n`,
      );
    else print(context, runbook, flags.instance, steps, facts);
    return facts.blockers.length === 0 ? EXIT.closed : EXIT.failed;
  } finally {
    await instance.service.close();
  }
}

/** The states of a run without trouble, with the calls each of them makes. Pure. */
export function stepsOf(runbook: Runbook): PlannedStep[] {
  return runbook.mainPath.flatMap((state): PlannedStep[] => {
    const meta = metaAt(runbook, state);
    if (meta === undefined) return [];
    const base = { step: meta.step, title: meta.title, changes: false };
    if (meta.question !== undefined) return [{ ...base, asks: meta.title }];
    const wayBack = meta.wayBack === undefined ? {} : { wayBack: meta.wayBack };
    return (meta.calls ?? []).map(({ method, path, what }) => ({
      ...base,
      call: `${method} …${path}`,
      what,
      changes: method !== 'GET',
      ...(method === 'GET' ? {} : wayBack),
    }));
  });
}

async function look(
  context: CommandContext,
  instance: OpenInstance,
  keyring: Keyring,
): Promise<PreflightFacts> {
  const { preflight } = await import('../activities/preflight.ts');
  const journal = await openJournalIfAny(homeFolder(context.env));
  const ledger = journal === undefined ? [] : await journal.read(`instance/${instance.name}`);
  await journal?.close();
  const verb = preflight({
    service: instance.service,
    keyring,
    folder: '',
    settleMs: instance.config.settle,
    currentKey: async () => currentKey(foldEpochs(ledger))?.fingerprint,
    tokenExpires: async () => expiryOf(await instance.token()),
    inHand: () => undefined,
  });
  const result = await verb.run(
    { instance: instance.name },
    {
      runId: 'plan',
      instance: instance.name,
      signal: new AbortController().signal,
      now: () => new Date(),
      report: () => undefined,
    },
  );
  if (result.ok) return result.output;
  throw errorFrom(result.failure, exitOf(result.failure));
}

function print(
  context: CommandContext,
  runbook: Runbook,
  instance: string,
  steps: readonly PlannedStep[],
  facts: PreflightFacts,
): void {
  const { stdout } = context;
  const rows = steps.map((step, index) => [
    String(index + 1),
    step.call ?? 'asks you',
    step.changes ? 'CHANGES' : '',
    step.what ?? step.asks ?? '',
    step.wayBack ?? '',
  ]);
  stdout.write(`${runbook.title}\ninstance: ${instance}\n\n`);
  const columns = [
    { title: '#', align: 'right' as const },
    { title: 'call' },
    { title: 'effect' },
    { title: 'what', gives: true },
    { title: 'way back', gives: true },
  ];
  printTable(context, columns, rows);
  stdout.write('\nwhat it finds now\n');
  const shown = runbook.facts({ ...START, instance, facts } as never).map(viewFact);
  for (const { label, value } of shown) stdout.write(`  ${label}: ${value}\n`);
  for (const blocker of facts.blockers) stdout.write(`  in the way: ${show(blocker.shortMessage)}\n`);
  context.stderr.write('nothing was changed\n');
}

/** A run before its first step, as far as the facts of a plan need it. */
const START = { drift: [], keyOrigin: 'generated', intents: 1, absences: 0, proven: false, skipped: [] };
