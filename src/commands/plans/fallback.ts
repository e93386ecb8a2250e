import { join } from 'node:path';
import type { PlanInput } from '../../../machines/parts/plan.ts';
import { statePath } from '../../../machines/parts/states.ts';
import type { PlanContext } from '../../../machines/plan.ts';
import { planRunbook } from '../../../machines/plan-runbook.ts';
import { namesIn } from '../../base/bounded-file.ts';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { makePrivateFolder } from '../../base/folders.ts';
import { counted } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { Action } from '../../cli/define.ts';
import { printResult } from '../../cli/print-result.ts';
import { notWritten, writeNewFile } from '../../cli/write-new-file.ts';
import { openReaderOf } from '../../compose/store-of.ts';
import { loadConfig } from '../../config/load.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { childRunId } from '../../plans/child-id.ts';
import { type RestGroup, type RestLane, type RestStep, restOfPlan } from '../../plans/rest.ts';
import { markdownDocument } from '../../report/render/markdown-document.ts';
import { fold } from '../../runner/fold.ts';
import { inputOf } from '../../runner/run-log.ts';
import { findRun } from '../../runner/runs.ts';
import { type Entry, fieldsOf, type JournalReader } from '../../store/journal.ts';
import { readLedgers } from '../../store/projections/ledgers.ts';
import { childrenOf } from '../../store/projections/plan-children.ts';
import type { RunSummary } from '../../store/projections/run-summary.ts';
import { fallbackOf } from '../../view/fallback/render-fallback.ts';
import { whereRunIs } from '../drill/drill-homes.ts';
import { connectionOf } from '../run/fallback-script.ts';
import { checklistOf } from './checklist.ts';
import { isPlanRun } from './plan-report-of.ts';
import { stepRunOf } from './step-run.ts';

/**
 * `lifeboat plans fallback RUN`: what is left of a plan's run now, as a new folder: a script for each runbook
 * left of an instance, and a checklist. Needs no key, sends nothing.
 */
export const plansFallback: Action<{ readonly out?: string }> = async (given, [word = ''], flags) => {
  const context = await whereRunIs(given, word);
  const config = await loadConfig(context.env, context.configPath);
  const journal = await openReaderOf(context);
  try {
    const summary = await planRunOf(journal, await findRun(journal, word));
    const folder = flags.out ?? `lifeboat-fallback-${summary.runId}`;
    assertEmpty(folder);
    const { runId } = summary;
    const entries = await journal.read(`run/${runId}`);
    const input = inputOf(entries) as unknown as PlanInput;
    const { snapshot } = fold(planRunbook, input, entries);
    const rest = restOfPlan(snapshot.context as PlanContext, await childrenOf(journal, runId));
    const now = new Date();
    const scripts = await scriptsOf(rest, { journal, config, runId, folder, now });
    const fileOf = new Map(scripts.map(({ group, lane, step, file }) => [`${group}/${lane}/${step}`, file]));
    const ledgers = new Map(await readLedgers(journal));
    const checklist = checklistOf(rest, {
      runId,
      input,
      writtenAt: now,
      scriptOf: (...names) => fileOf.get(names.join('/')),
      cardOf: (instance) => ledgers.get(instance)?.card,
    });
    makePrivateFolder(folder);
    for (const { file, text } of [...scripts, { file: CHECKLIST, text: markdownDocument(checklist) }])
      write(join(folder, file), text);
    const listed = scripts.map(({ text: _, ...script }) => script);
    const result = { runId, folder, checklist: CHECKLIST, scripts: listed };
    await printResult(context, 'plan-fallback', result, () => {
      context.stdout.write(`${show(join(folder, CHECKLIST), 300)}\n`);
      for (const { file } of scripts) context.stdout.write(`${show(join(folder, file), 300)}\n`);
      context.stderr.write(`written: a checklist and ${counted(scripts.length, 'script')}\n`);
    });
    return EXIT.closed;
  } finally {
    await journal.close();
  }
};

/** The run of a plan that is meant: a run that it started, such as the last one, means it as well. */
async function planRunOf(journal: JournalReader, found: RunSummary): Promise<RunSummary> {
  if (isPlanRun(found)) return found;
  const [started] = await journal.read(`run/${found.runId}`);
  const { run } = fieldsOf(fieldsOf(started?.body)['plan']);
  if (typeof run !== 'string') throw notAPlan(found.runId);
  return findRun(journal, run);
}

const CHECKLIST = 'checklist.md';

interface Script {
  readonly group: string;
  readonly lane: string;
  readonly step: string;
  readonly file: string;
  readonly text: string;
}

interface Scene {
  readonly journal: JournalReader;
  readonly config: LoadedConfig;
  readonly runId: string;
  readonly folder: string;
  readonly now: Date;
}

async function scriptsOf(rest: readonly RestGroup[], scene: Scene): Promise<readonly Script[]> {
  const scripts: Script[] = [];
  for (const { group, lanes } of rest)
    for (const lane of lanes)
      for (const left of lane.out === undefined ? lane.steps : []) {
        const script = await scriptOf(group.id, lane, left, scene);
        if (script !== undefined) scripts.push(script);
      }
  return scripts;
}

/**
 * The script of a runbook that is left, from where its run is, or from its begin. Undefined for a step that
 * is none, and for an instance that lifeboat.yaml does not name: nobody knows where that is.
 */
async function scriptOf(
  group: string,
  { lane }: RestLane,
  { step, attempt, openRun }: RestStep,
  { journal, config, runId, folder, now }: Scene,
): Promise<Script | undefined> {
  if (step.kind !== 'runbook') return undefined;
  const { runbook, instance, target, input, rehearsal } = stepRunOf(step, lane, config);
  const [on, into] = [
    config.instances[instance],
    target === undefined ? undefined : config.instances[target],
  ];
  if (on === undefined || (target !== undefined && into === undefined)) return undefined;
  const entries: readonly Entry[] = openRun === undefined ? [] : await journal.read(`run/${openRun}`);
  const { snapshot } = fold(runbook, inputOf(entries) ?? input, entries);
  const file = `${group}.${lane.name}.${step.id}.sh`.replace(/[^\w.-]/gu, '_');
  const text = fallbackOf({
    runbook,
    state: statePath(snapshot),
    context: snapshot.context,
    runId: openRun ?? childRunId(runId, { group, lane: lane.name, step: step.id, attempt }),
    resume: runId,
    path: join(folder, file),
    instances: {
      instance: connectionOf({ name: instance, config: on }),
      ...(target === undefined || into === undefined
        ? {}
        : { target: connectionOf({ name: target, config: into }) }),
    },
    now,
    rehearsal,
  });
  return { group, lane: lane.name, step: step.id, file, text };
}

/** A script of another moment beside these could do a step twice. */
function assertEmpty(folder: string): void {
  if (namesIn(folder).length === 0) return;
  throw new LifeboatError('usage.out', `${show(folder, 200)} has files already`, {
    hints: [
      'a script of another moment could do a step twice: name a new folder with --out DIR',
      'nothing was written',
    ],
    exitCode: EXIT.usage,
  });
}

function write(path: string, text: string): void {
  try {
    writeNewFile(path, text);
  } catch (cause) {
    throw notWritten(path, cause);
  }
}

function notAPlan(runId: string): LifeboatError {
  return new LifeboatError('plan.none', `run ${runId} is not that of a plan`, {
    hints: [
      'the script of any other run is kept in the folder fallback of its home',
      '`lifeboat runs` lists them',
    ],
    exitCode: EXIT.usage,
  });
}
