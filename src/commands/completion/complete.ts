import type { Command } from 'commander';
import { EXIT } from '../../base/errors.ts';
import type { CommandContext } from '../../cli/context.ts';
import { type Candidate, linesFor, offerFor, type Source } from './candidates.ts';

/** More runs are not offered: nobody reads them. */
const MOST_RUNS = 20;

/**
 * `lifeboat complete SHELL -- WORDS`: what fits for the last word, one line each, or the line `:files`. For
 * the scripts of `lifeboat completion`. It reads config and journal, and only reads; it asks no service, no
 * database of a team and no key store. Whatever goes wrong, it prints nothing and exits with 0.
 */
export function completeOn(program: Command) {
  return async (context: CommandContext, [shell = '', ...words]: readonly string[]): Promise<number> => {
    try {
      const typed = shell === 'bash' ? joined(words) : words;
      const offer = offerFor(program, typed);
      const here = { ...context, configPath: offer.config ?? context.configPath };
      const found = await Promise.all(
        offer.sources.map((source) => FINDERS[source](here, offer.named).catch(() => [])),
      );
      for (const line of linesFor(shell, typed.at(-1) ?? '', offer, found.flat()))
        context.stdout.write(`${line}\n`);
    } catch {
      // Somebody is typing: no error belongs between their words.
    }
    return EXIT.closed;
  };
}

/** Bash hands `--output=json` over as three words. */
function joined(words: readonly string[]): readonly string[] {
  const all: string[] = [];
  for (const word of words) {
    const before = all.at(-1) ?? '';
    const isEnd = word === '=' && /^--[\w-]+$/u.test(before);
    if (isEnd || /^--[\w-]+=$/u.test(before)) all[all.length - 1] = `${before}${word}`;
    else all.push(word);
  }
  return all;
}

type Finder = (context: CommandContext, named: readonly string[]) => Promise<readonly Candidate[]>;

const FINDERS: Readonly<Record<Source, Finder>> = {
  instances: async ({ env, configPath }) => {
    const { loadConfig } = await import('../../config/load.ts');
    const { instances } = await loadConfig(env, configPath);
    return Object.keys(instances).map((value) => ({ value, about: '' }));
  },
  runbooks: async () => {
    const { RUNBOOKS } = await import('../../cli/help-texts.ts');
    return RUNBOOKS.map(([value, about]) => ({ value, about }));
  },
  runs: async (context) => {
    const { listRuns } = await import('../../runner/runs.ts');
    const runs = (await reading(context, (journal) => listRuns(journal, MOST_RUNS))) ?? [];
    const newestFirst = runs.toReversed().map(({ runId, runbook, instance, status }) => ({
      value: runId,
      about: `${runbook} on ${instance}, ${status}`,
    }));
    return runs.length === 0 ? [] : [{ value: 'last', about: 'the newest' }, ...newestFirst];
  },
  followUps: async (context) => {
    const { gatherFollowUps } = await import('../../compose/open-follow-ups.ts');
    const open = (await reading(context, (journal) => gatherFollowUps(journal))) ?? [];
    return open
      .filter(({ followUp }) => followUp.closed === undefined)
      .map(({ followUp }) => ({ value: followUp.id, about: followUp.what }));
  },
  calls: async (context) => {
    const { readAllDoubts } = await import('../../runner/refuse-in-doubt.ts');
    const doubts = (await reading(context, (journal) => readAllDoubts(journal))) ?? [];
    return doubts
      .filter(({ run }) => run === undefined)
      .map(({ intent, verb, instance }) => ({ value: intent, about: `${verb} on ${instance}` }));
  },
  scenarios: async () => {
    const { SCENARIOS } = await import('../../lab/scenarios/scenarios.ts');
    return SCENARIOS.map(({ name, summary }) => ({ value: name, about: summary }));
  },
  schemas: async () => {
    const { listSchemas } = await import('../../cli/schemas/index.ts');
    return listSchemas().map(({ name, about }) => ({ value: name, about }));
  },
  targets: async ({ env, configPath }) => {
    const { loadConfig } = await import('../../config/load.ts');
    return (await loadConfig(env, configPath)).notify.map(({ name }) => ({ value: name, about: '' }));
  },
  fingerprints: async (context, named) => {
    const { readLedgers } = await import('../../store/projections/ledgers.ts');
    const ledgers = (await reading(context, (journal) => readLedgers(journal))) ?? [];
    const instances = await FINDERS.instances(context, named);
    const meant = named.filter((word) => instances.some(({ value }) => value === word));
    return ledgers
      .filter(([instance]) => meant.length === 0 || meant.includes(instance))
      .flatMap(([instance, { epochs }]) =>
        epochs
          .toReversed()
          .map(({ fingerprint, state }) => ({ value: fingerprint, about: `${instance}, ${state}` })),
      );
  },
};

type Journal = NonNullable<Awaited<ReturnType<typeof import('../../compose/store-of.ts').openJournalIfAny>>>;

/** The journal of this machine; the database of a team is behind a network. */
async function reading<T>(
  { env, configPath }: CommandContext,
  read: (journal: Journal) => Promise<T>,
): Promise<T | undefined> {
  const { storeNamed } = await import('../../config/store-named.ts');
  const { isPostgres } = await import('../../config/store-address.ts');
  if (isPostgres(await storeNamed(env, configPath))) return undefined;
  const { openJournalIfAny } = await import('../../compose/store-of.ts');
  const journal = await openJournalIfAny({ env, ...(configPath === undefined ? {} : { configPath }) });
  try {
    return journal && (await read(journal));
  } finally {
    await journal?.close();
  }
}
