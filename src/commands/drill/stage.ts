import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { Secret } from '../../base/secret.ts';
import type { CommandContext } from '../../cli/context.ts';
import { isForPeople } from '../../cli/print-result.ts';
import { keepSignals } from '../../cli/stop-signal.ts';
import { openInstances, servicesOfRun } from '../../compose/instances.ts';
import { runbookNamed } from '../../compose/runbook-files.ts';
import { openInstance } from '../../compose/service-of.ts';
import { openWorkspace, type Workspace } from '../../compose/workspace.ts';
import { parseConfig } from '../../config/load.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { memoryStore } from '../../keys/key-store.ts';
import { generateKey } from '../../keys/keyring.ts';
import type { Query } from '../../lab/engine/engine.ts';
import type { Lab, LabOptions } from '../../lab/lab.ts';
import { typedLine } from '../../plain/ask.ts';
import { canDraw } from '../../plain/terminal.ts';
import { readPlan } from '../../plans/plan-file.ts';
import { appendHolding } from '../../runner/holds.ts';
import { startRun } from '../../runner/runs.ts';
import type { DrillPlace } from '../../view/run-view.ts';
import { presentOf } from '../approvals/present.ts';
import { queryCommand } from '../lab/lab.ts';
import { runPlan } from '../plans/run.ts';
import { drive } from '../run/drive.ts';
import { inSeconds } from '../run/run.ts';
import { inputFrom, type RunFlags } from '../run/run-input.ts';
import { inDrill, journalIn } from './drill-homes.ts';

/** The stage of a drill: a lab, a journal of its own, and a key store that lives as long as the drill. */
export interface Stage extends AsyncDisposable {
  readonly lab: Lab;
  readonly config: LoadedConfig;
  readonly workspace: Workspace;
  readonly folder: string;
  /** Whether it runs without a person. */
  readonly auto: boolean;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  say(line: string): void;
  /** Begins a chapter: the screen shows its runs as parts of it. */
  chapter(place: DrillPlace, title: string): void;
  /** Waits, in a guided drill, until the team is ready. */
  pause(line: string): Promise<void>;
  /** Begins a run and drives it, with or without a person. Returns its id and exit code. */
  runRunbook(runbook: string, flags: RunFlags, confirm: string): Promise<{ runId: string; exitCode: number }>;
  /** Runs a plan on the lab, as a rehearsal; `tags` by instance. Returns its exit code. */
  runPlan(
    text: string,
    tags: Readonly<Record<string, readonly string[]>>,
    confirm: readonly string[],
  ): Promise<number>;
  /** The exit code of the last run that did not close. */
  readonly ended: number | undefined;
}

/** The proof for the follow-up of a run into a drill's target: the lab goes in any case. */
const LAB_GOES = { 'remove-target': 'the lab removes all its instances when this drill ends' };

/** How long a drill without a person may stand still before it ends: a person would have to answer. */
const PATIENCE_MS = 60_000;

export interface StageOptions {
  readonly folder: string;
  readonly auto: boolean;
  readonly lab: LabOptions;
  readonly signal: AbortSignal;
}

/** Its disposal removes everything, however the drill ended, except journal and reports in the folder. */
export async function setStage(context: CommandContext, options: StageOptions): Promise<Stage> {
  const { folder, signal } = options;
  await using opened = new AsyncDisposableStack();
  const say = (line: string) => context.stderr.write(`${line}\n`);
  let screenIsTaken = false;
  const { startLab } = await import('../../lab/lab.ts');
  const lab = await startLab({
    ...options.lab,
    queryCommand,
    // The broker forgets bindings of a deleted instance; otherwise a person would be needed.
    platform: { unbindLost: true },
    signal,
    // A log line of the lab would corrupt the screen.
    log: (line) => (screenIsTaken ? undefined : say(line)),
  });
  opened.defer(() => lab.close());
  // The initial events of a scenario make up the situation that the team finds.
  await lab.atRest();
  const here = inDrill(context, folder);
  const workspace = await openWorkspace(here, { store: memoryStore() });
  opened.defer(() => workspace.close());
  await takeLabKeys(lab, workspace);
  const config = parseConfig(lab.configYaml, join(lab.folder, 'lifeboat.yaml'));
  const auto = options.auto || !isForPeople(context) || !canDraw(context);
  let ended: number | undefined;
  let place: DrillPlace | undefined;

  const runRunbook: Stage['runRunbook'] = async (name, flags, confirm) => {
    // Until the run can be left, a signal would end only the lab, and the run would find the service gone.
    const early = keepSignals();
    using _ = { [Symbol.dispose]: () => void early.release() };
    signal.throwIfAborted();
    const runbook = runbookNamed(name);
    const input = await inputFrom(runbook, { reason: 'drill', ...flags }, new Date(), true);
    const { instance, target } = flags;
    const runId = await startRun(workspace.journal, {
      runbook,
      instance,
      target,
      input,
      mode: 'REHEARSAL',
      objectives: inSeconds(config.instances[instance]?.objectives ?? {}),
      services: servicesOfRun(config, { instance, target }),
      operator: workspace.operator,
      asked: await presentOf(config, workspace, { instance, target }),
      tool: { name: 'lifeboat', version: context.version, node: process.version },
    });
    const wish = { instance, target, source: runbook.touches(input).source };
    await using instances = await openInstances(here, config, workspace, wish);
    screenIsTaken = !auto;
    try {
      const run = { runId, runbook: runbook.id, version: runbook.version, instance, target };
      const options = {
        yes: auto,
        confirm: auto ? confirm : undefined,
        early,
        plain: auto,
        time: typeof input['time'] === 'string' ? input['time'] : undefined,
        proofs: LAB_GOES,
        patienceMs: auto ? PATIENCE_MS : undefined,
        chapter: place,
        gone: `its lab ends with the drill: the run cannot be resumed; journal: ${journalIn(folder)}`,
      };
      const exitCode = await drive(here, instances, workspace, run, options);
      if (exitCode !== EXIT.closed) ended = exitCode;
      return { runId, exitCode };
    } finally {
      screenIsTaken = false;
    }
  };

  const kept = opened.move();
  return {
    lab,
    config,
    workspace,
    folder,
    auto,
    signal,
    say,
    chapter: (next, title) => {
      place = next;
      if (next.of > 1) say(`chapter ${next.number}/${next.of}: ${title}`);
    },
    pause: async (line) => {
      say(line);
      if (!auto) await enterPressed(context, signal);
    },
    runRunbook,
    runPlan: async (text, tags, confirm) => {
      signal.throwIfAborted();
      const instances = Object.fromEntries(
        Object.entries(config.instances).map(([name, one]) => [
          name,
          { ...one, tags: [...(tags[name] ?? [])] },
        ]),
      );
      // The result of a drill is that of the drill alone.
      const setting = {
        context: { ...here, output: 'table' as const },
        config: { ...config, instances },
        workspace,
      };
      const code = await runPlan(setting, readPlan(text, 'plan'), { rehearsal: true, yes: true, confirm });
      if (code !== EXIT.closed) ended = code;
      return code;
    },
    get ended() {
      return ended;
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** Stores the keys of the lab's first backups, as a team would have them in its key store. */
async function takeLabKeys(lab: Lab, { keyring, journal }: Workspace): Promise<void> {
  for (const { name, keyFile } of lab.instances) {
    if (keyFile === undefined) continue;
    const key = new Secret((await readFile(keyFile, 'utf8')).trim());
    journal.guard(key);
    const fingerprint = await keyring.add(name, key);
    const body = { fingerprint, note: 'the key that the lab began with' };
    await appendHolding(journal, [{ stream: `instance/${name}`, type: 'key.added', body }]);
  }
}

/** A scenario may lose answers; the same key may be set again (service-api.md section 4.1 rule 1). */
const KEY_TRIES = 5;

/**
 * Gives a target its own key, as a team does that keeps one ready: without it nothing could open the backup
 * that ends a recovery. Rejects with `drill.broken` if the lab does not accept the key.
 */
export async function keyTarget(
  { config, workspace: { keyring, journal } }: Pick<Stage, 'config' | 'workspace'>,
  name: string,
): Promise<void> {
  const key = generateKey();
  journal.guard(key);
  const fingerprint = await keyring.add(name, key);
  await using instance = await openInstance(config, name, { store: async () => keyring.store });
  for (let tries = 1; ; tries++) {
    const { outcome } = await instance.service.changeBackupsConfig({ encryption_key: key });
    if (outcome === 'accepted') break;
    if (tries === KEY_TRIES)
      throw new LifeboatError('drill.broken', `the lab of this drill took no key for ${name}`);
  }
  const body = { fingerprint, note: 'set on the target before the drill' };
  await appendHolding(journal, [{ stream: `instance/${name}`, type: 'key.added', body }]);
}

/** Also returns on Ctrl-C or a closed terminal: check the signal. */
async function enterPressed(context: CommandContext, signal: AbortSignal): Promise<void> {
  await typedLine(context, 'press Enter when the team is ready ', signal);
}

/** Queries the database of an instance as its superuser. */
export function queryOf(lab: Lab, name: string): Query {
  return labInstance(lab, name).query;
}

/** An instance of the lab by its name; throws `drill.broken` if there is none. */
export function labInstance(lab: Lab, name: string): Lab['instances'][number] {
  const found = lab.instances.find((instance) => instance.name === name);
  if (found !== undefined) return found;
  throw new LifeboatError('drill.broken', `the lab of this drill has no instance ${name}`);
}
