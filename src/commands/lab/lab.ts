import { existsSync, writeFileSync } from 'node:fs';
import { EXIT, errorCode, LifeboatError } from '../../base/errors.ts';
import { ownProgram } from '../../base/own-program.ts';
import { shellQuoted } from '../../base/shell-quote.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Action } from '../../cli/define.ts';
import { durationFrom, wholeNumber } from '../../cli/numbers.ts';
import { isForPeople, printResult, printTable } from '../../cli/print-result.ts';
import { stopSignal } from '../../cli/stop-signal.ts';
import type { LabOptions } from '../../lab/lab.ts';
import type { DownloadRule } from '../../lab/manager/instance-backups.ts';
import { type SimulatedFlags, simulatedLab } from './simulated-lab.ts';

interface LabFlags extends SimulatedFlags {
  readonly out?: string;
  readonly port?: string;
  readonly revision: '61' | '62';
  readonly folder?: string;
  readonly instance?: readonly string[];
  readonly scenario?: string;
  readonly workers?: string;
  readonly backupEvery?: string;
  readonly router?: string;
  readonly updateBlocking: boolean;
  readonly downloads: DownloadRule;
  readonly sso: boolean;
  readonly platform: boolean;
}

/**
 * `lifeboat lab`: runs the service until Ctrl-C. Writes the config to stdout, or to a new file, everything
 * else to stderr. Rejects with `usage.out` if the file exists, before anything is started.
 */
export async function lab(context: CommandContext, _: readonly string[], flags: LabFlags): Promise<number> {
  if (flags.scenario === 'list') return listScenarios(context);
  assertOutputForm(context);
  const out = flags.out === undefined ? undefined : newFile(flags.out);
  const { startLab } = await import('../../lab/lab.ts');
  const { stdout, stderr } = context;
  const options = await optionsOf(flags);
  const stop = stopSignal();
  const began = performance.now();
  try {
    const started = await startLab({
      ...options,
      queryCommand,
      signal: stop.signal,
      log: (line) => stderr.write(`${line}\n`),
    });
    try {
      if (out === undefined) stdout.write(started.configYaml);
      else writeNew(out, started.configYaml);
      const took = ((performance.now() - began) / 1000).toFixed(1);
      stderr.write(`the lab is ready after ${took} s: ${started.url}\n`);
      stderr.write(
        `hint: to see what runs: curl -H "Authorization: $(cat ${started.tokenFile})" ${started.url}/lab\n`,
      );
      stderr.write(
        out === undefined
          ? 'hint: save the config with `lifeboat lab --out lifeboat.yaml`, then work in another terminal\n'
          : `the config is in ${show(out, 200)}: work in another terminal\n`,
      );
      if (options.simulated !== undefined)
        stderr.write(simulatedWords(options.simulated.sources, started.keyFile));
      stderr.write('Ctrl-C ends the lab and removes everything that it made\n');
      await stop.stopped;
      stderr.write('ending the lab\n');
      return EXIT.closed;
    } finally {
      await started.close();
    }
  } catch (thrown) {
    if (stop.signal.aborted) return EXIT.interrupted;
    throw thrown;
  } finally {
    stop.release();
  }
}

function simulatedWords(sources: number, keyFile: string): string {
  return `it is simulated: ${sources} instances and their targets without databases; nothing is restored, and no run on it proves anything
hint: all of its instances begin with one key: lifeboat keys add sim-00001 --file ${shellQuoted(keyFile)}
`;
}

/** The path for a new config: a redirect would have emptied an existing one. */
function newFile(path: string): string {
  if (!existsSync(path)) return path;
  throw existing(path);
}

/** Readable only by its owner, as it names the file of the token. */
function writeNew(path: string, text: string): void {
  try {
    writeFileSync(path, text, { flag: 'wx', mode: 0o600 });
  } catch (thrown) {
    throw errorCode(thrown) === 'EEXIST' ? existing(path) : thrown;
  }
}

function existing(path: string): LifeboatError {
  return new LifeboatError('usage.out', `${show(path, 200)} already exists, and no config is overwritten`, {
    hints: [
      'name a new file with --out FILE, and use it with --config FILE or LIFEBOAT_CONFIG',
      'nothing was started',
    ],
    exitCode: EXIT.usage,
  });
}

async function optionsOf(flags: LabFlags): Promise<LabOptions> {
  const { port, folder, instance, scenario, workers, backupEvery, router } = flags;
  return {
    revision: flags.revision === '61' ? 61 : 62,
    sso: flags.sso,
    updateBlocking: flags.updateBlocking,
    downloads: flags.downloads,
    ...simulatedLab(flags),
    ...(router === undefined ? {} : { routerMs: durationFrom(router, 'router', ['1ms', '1d']) }),
    ...(flags.platform ? {} : { platform: false as const }),
    ...(port === undefined ? {} : { port: portNumber(port) }),
    ...(folder === undefined ? {} : { folder }),
    ...(instance === undefined ? {} : { instances: instance.map(instanceWish) }),
    ...(scenario === undefined ? {} : { scenario: await scenarioFor(scenario) }),
    ...(workers === undefined ? {} : { workers: wholeNumber(workers, '--workers', 1) }),
    ...(backupEvery === undefined ? {} : { backupEvery: wholeNumber(backupEvery, '--backup-every', 1) }),
  };
}

/** A scenario by its name, or from a YAML file. */
export async function scenarioFor(word: string): Promise<NonNullable<LabOptions['scenario']>> {
  const { scenarioNamed } = await import('../../lab/scenarios/scenario.ts');
  const { loadScenario } = await import('../../lab/scenarios/scenario.ts');
  return /[./\\]/u.test(word) ? await loadScenario(word) : scenarioNamed(word);
}

async function listScenarios(context: CommandContext): Promise<number> {
  const { SCENARIOS } = await import('../../lab/scenarios/scenario.ts');
  const items = SCENARIOS.map(({ name, summary }) => ({ name, summary }));
  await printResult(context, 'scenarios', { items }, () => {
    const rows = items.map(({ name, summary }) => [name, summary]);
    printTable(context, [{ title: 'scenario' }, { title: 'what you learn', gives: true }], rows);
  });
  return EXIT.closed;
}

/** A lab prints its config as a file, which has one format. */
function assertOutputForm(context: CommandContext): void {
  if (isForPeople(context)) return;
  throw new LifeboatError('usage.output', 'a lab prints a lifeboat.yaml, which has no other form', {
    hints: [`-o ${context.output} is for \`lifeboat lab --scenario list\``, 'nothing was started'],
    exitCode: EXIT.usage,
  });
}

/** `orders`, `orders:archiving`, `orders-dr:standard:empty`. */
function instanceWish(text: string): NonNullable<LabOptions['instances']>[number] {
  const [name = '', ...words] = text.split(':');
  const unknown = words.find((word) => !['standard', 'archiving', 'empty'].includes(word));
  if (unknown !== undefined) {
    throw new LifeboatError('usage.instance', `${show(unknown, 40)} is not a kind of instance`, {
      hints: ['write NAME, NAME:archiving, NAME:standard or NAME:standard:empty'],
      exitCode: EXIT.usage,
    });
  }
  const filled = !words.includes('empty');
  return {
    name,
    backupType: words.includes('archiving') ? 'continuous_archiving' : 'standard',
    sampleApp: filled,
    key: filled,
  };
}

function portNumber(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new LifeboatError('usage.port', `${show(text, 40)} is not a port`, { exitCode: EXIT.usage });
}

/** `lifeboat lab-query NAME --folder DIR`: the sample application's data, for the lab's reconciliation. */
export const labQuery: Action<{ readonly folder: string }> = async (context, [instance = ''], flags) => {
  const { querySampleData } = await import('../../lab/query-sample-data.ts');
  context.stdout.write(`${await querySampleData(flags.folder, instance)}\n`);
  return EXIT.closed;
};

/** The same as a shell command that starts this program. */
export function queryCommand(instance: string, folder: string): string {
  return [...ownProgram(), 'lab-query', instance, '--folder', folder].map(shellQuoted).join(' ');
}

/**
 * `lifeboat lab-app FILE`: runs the sample application of a lab, which a single executable starts as a
 * separate process. FILE has its settings. It runs until it is ended.
 */
export async function labApp(): Promise<never> {
  await import('../../lab/cloud-foundry/sample-app.ts');
  return await new Promise<never>(() => undefined);
}
