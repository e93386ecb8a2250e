import { existsSync } from 'node:fs';
import { EXIT, failureOf, LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { wholeNumber } from '../../cli/numbers.ts';
import { printResult } from '../../cli/print-result.ts';
import { stopSignal } from '../../cli/stop-signal.ts';
import { runbookNamed } from '../../compose/runbook-files.ts';
import { loadConfig } from '../../config/load.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { locatePostgres } from '../../lab/engine/locate-postgres.ts';
import { DEFAULT_INSTANCES, type InstanceWish } from '../../lab/instance-plan.ts';
import type { LabOptions } from '../../lab/lab.ts';
import { type DrillRecord, drillReportOf, dueWords, isFailure } from '../../report/drill/drill-report.ts';
import { appendHolding } from '../../runner/holds.ts';
import type { Journal } from '../../store/journal.ts';
import { COMPARED, Compared } from '../../store/recovery-facts.ts';
import { scenarioFor } from '../lab/lab.ts';
import { brandOf } from '../run/run-report.ts';
import type { Chapter, ChapterProof } from './chapter.ts';
import { chaptersFor } from './chapters.ts';
import { drillCommand, journalIn, knowingStore, newStamp } from './drill-homes.ts';
import {
  beginDrill,
  chapterRecord,
  type DrillEnd,
  endedNow,
  keepNewest,
  knownDrills,
  type OpenRecord,
  type Played,
  recordOf,
} from './drill-records.ts';
import { drillReport, drillSummary, runReports, writeDrillReports } from './drill-report.ts';
import { assertWritable, writeJunit } from './junit.ts';
import { regionOfEight } from './region-of-eight.ts';
import { type Stage, type StageOptions, setStage } from './stage.ts';

interface DrillFlags {
  readonly auto?: boolean;
  readonly report?: string;
  readonly revision: '61' | '62';
  readonly scenario?: string;
  readonly junit?: string;
  readonly keep?: string;
  readonly plan?: boolean;
}

/** The course of a drill, as far as it is known when the drill ends for any reason. */
interface Course {
  readonly chapters: readonly Chapter[];
  readonly played: Played[];
  /** A person began it at a terminal, and may leave it. */
  readonly isAttended: boolean;
  /** Undefined until it has a folder. */
  open?: OpenRecord;
  /** Set once its record says how it ended. */
  record?: DrillRecord;
  outcome: DrillRecord['outcome'];
  failure?: string;
  instances: LoadedConfig['instances'];
  /** How often the config asks for a drill, in milliseconds; undefined if it does not. */
  readonly every: number | undefined;
}

/**
 * `lifeboat drill`: a full drill on a lab, or one runbook: damages real databases, recovers them with runs,
 * compares every row, and reports what was proven. Lab, databases and keys are gone afterwards, however it
 * ends; its record, reports and journal stay in a folder of its own.
 */
export async function drill(
  outside: CommandContext,
  [name]: readonly string[],
  flags: DrillFlags,
): Promise<number> {
  const scenario = flags.scenario === undefined ? undefined : await scenarioFor(flags.scenario);
  const runbook = name === undefined ? undefined : runbookNamed(name).id;
  const chapters =
    flags.plan === true
      ? [regionOfEight()]
      : chaptersFor({ runbook, scenario: scenario?.name, revision: flags.revision });
  const keep = flags.keep === undefined ? undefined : wholeNumber(flags.keep, '--keep', 1);
  if (flags.report === '') throw noReportFolder();
  if (flags.junit !== undefined) assertWritable(flags.junit);
  const config = await configIfAny(outside);
  if (config !== undefined) await refuseSimulated(config);
  const every = config?.drills?.every;
  // Check before the drill gets a folder of its own: without PostgreSQL it would leave an empty one.
  locatePostgres();
  const context = await knowingStore(outside);
  const rehearsed =
    flags.plan === true
      ? 'plan'
      : (runbook ?? (scenario === undefined ? 'full' : (chapters[0]?.runbook ?? 'full')));
  const about = {
    scope: scenario === undefined ? rehearsed : `${rehearsed}, ${scenario.name}`,
    revision: flags.revision,
    version: context.version,
  };
  const isAttended = flags.auto !== true && context.stdin.isTTY === true;
  const course: Course = { chapters, played: [], isAttended, outcome: 'failed', instances: {}, every };
  const problems: unknown[] = [];
  let code: number = EXIT.failed;
  let folder: string | undefined;
  const stop = stopSignal();
  try {
    ({ folder, open: course.open } = await beginDrill(context.env, flags.report, about));
    const lab: LabOptions = {
      revision: flags.revision === '61' ? 61 : 62,
      instances: instancesFor(chapters),
      ...(scenario === undefined ? {} : { scenario }),
    };
    code = await play(context, flags, { folder, lab, signal: stop.signal }, course);
  } catch (thrown) {
    course.failure = failureOf(thrown).shortMessage;
    problems.push(thrown);
  }
  stop.release();
  // Even if the record cannot be written, report what ended the drill.
  const unwritten = () => endedNow(course.open?.record ?? recordOf(newStamp(), about), endOf(course));
  const record = course.record ?? (await endRecord(course).catch(unwritten));
  problems.push(...(await endDrill(outside, record, { junit: flags.junit, keep, folder })));
  // Up to here the lock keeps other processes from taking its folder for that of an old drill.
  course.open?.release();
  const [first, ...others] = problems;
  for (const one of others) context.stderr.write(`warning: ${show(failureOf(one).shortMessage, 300)}\n`);
  if (first !== undefined) throw first;
  return code;
}

/** An empty path would mean the current folder. */
function noReportFolder(): LifeboatError {
  return new LifeboatError('usage.report', '--report names no folder: it is empty', {
    hints: ['nothing was started', 'name a folder, or leave --report out'],
    exitCode: EXIT.usage,
  });
}

async function play(
  context: CommandContext,
  { auto = false }: DrillFlags,
  where: Pick<StageOptions, 'folder' | 'lab' | 'signal'>,
  course: Course,
): Promise<number> {
  const { folder, signal } = where;
  const say = (line: string) => context.stderr.write(`${line}\n`);
  say('starting the lab: a simulator of the service on this machine, on real PostgreSQL');
  try {
    await using stage = await setStage(context, { ...where, auto });
    course.instances = stage.config.instances;
    await playAll(stage, course);
    if (signal.aborted) return left(context, folder, course);
    if (stage.ended !== undefined) {
      if (stage.ended === EXIT.interrupted) return left(context, folder, course);
      course.failure = 'its run was not proven';
      say(`the drill ends here: the run was not proven; ${whatStays(context, folder)}`);
      // Its lab is gone, so no run is left that could wait for an answer.
      return stage.ended === EXIT.waiting ? EXIT.failed : stage.ended;
    }
    return await conclude(context, stage, course);
  } catch (thrown) {
    if (signal.aborted) return left(context, folder, course);
    throw thrown;
  }
}

async function endRecord(course: Course): Promise<DrillRecord> {
  if (course.open === undefined) throw new LifeboatError('drill.broken', 'the drill has no folder');
  course.record = await course.open.end(endOf(course));
  return course.record;
}

function endOf({ chapters, played, instances, outcome, failure }: Course): DrillEnd {
  return {
    outcome,
    ...(failure === undefined ? {} : { failure }),
    chapters: chapters.map((chapter, at) =>
      chapterRecord(chapter, played[at], instances[chapter.instance]?.objectives),
    ),
  };
}

/**
 * A drill that was left proves nothing and cannot be resumed: its lab is gone. If it ended without a person
 * leaving it, it has failed, and those who rely on its schedule must learn of it.
 */
function left(context: CommandContext, folder: string, course: Course): number {
  course.outcome = course.isAttended ? 'left' : 'failed';
  if (!course.isAttended) course.failure = 'it was ended from outside before its end';
  const stays = whatStays(context, folder);
  context.stderr.write(
    `the drill was left: its lab and its databases are gone, and it cannot be resumed; ${stays}\n`,
  );
  return EXIT.interrupted;
}

function whatStays(context: CommandContext, folder: string): string {
  const journal = journalIn(folder);
  return existsSync(journal)
    ? `no report was written; the journal is ${journal}\n  its runs: ${drillCommand(context, folder, 'runs')}`
    : 'nothing has been recorded yet';
}

/** What a team reads before a guided drill: what will happen, and that their own systems are not touched. */
function openingOf(chapters: readonly Chapter[]): string {
  const list = chapters.map(({ title, runbook }, at) => `  ${at + 1}. ${title} (${runbook})`);
  return [
    '',
    'This is a drill: the service, its databases and its keys are a lab on this machine.',
    'Nothing of yours is touched, and whatever you answer breaks nothing but the lab. It goes through:',
    ...list,
    'Each run asks you as in an emergency; Enter at the end of one goes on with the next.',
    'Ctrl-C leaves the drill at any time. At the end there is a report.',
  ].join('\n');
}

/** Plays one chapter after the other; the first whose run is not closed ends the drill. */
async function playAll(stage: Stage, { chapters, played }: Course): Promise<void> {
  if (!stage.auto) await stage.pause(openingOf(chapters));
  for (const [at, chapter] of chapters.entries()) {
    stage.chapter({ number: at + 1, of: chapters.length }, chapter.title);
    const began = performance.now();
    const proof = await chapter.play(stage);
    played.push({ proof, seconds: (performance.now() - began) / 1000 });
    if (proof === undefined || stage.signal.aborted) return;
  }
}

/** Records the results of the comparison, writes the reports and prints what was shown. */
async function conclude(context: CommandContext, stage: Stage, course: Course): Promise<number> {
  const { folder, workspace, config } = stage;
  const proofs = course.played.flatMap(({ proof }) => proof ?? []);
  const parts: string[] = [];
  const brand = await brandOf(context);
  for (const proof of proofs) {
    await recordComparison(workspace.journal, proof);
    parts.push(...(await runReports(workspace.journal, folder, proof, brand)));
    parts.push(drillReport(proof, config.instances));
  }
  const proven = proofs.every((proof) => proof.proven);
  course.outcome = proven ? 'proven' : 'not-proven';
  const report = drillReportOf(await endRecord(course), knownDrills(context.env), course.every, new Date());
  const path = await writeDrillReports(folder, report, parts, brand);
  const ended = { proven, report: path, journal: journalIn(folder) };
  await printResult(context, 'drill', { ...ended, due: report.due, chapters: proofs }, () => {
    const commands = commandsAfter(context, folder, proofs);
    const words = { ...ended, due: dueWords(report.due), commands };
    context.stdout.write(drillSummary(proofs, words, config.instances));
  });
  return proven ? EXIT.closed : EXIT.failed;
}

/** Goes into the ledger of the instance, because the record of a run ends with the run. */
async function recordComparison(journal: Journal, proof: ChapterProof): Promise<void> {
  const { instance, title, proven, tables, checks, runIds } = proof;
  const body = { run: runIds.at(-1) ?? '', title, proven, tables, checks };
  await appendHolding(journal, [
    { stream: `instance/${instance}`, type: COMPARED, body: Compared.parse(body) },
  ]);
}

/** Commands for what remains after the drill, ready to copy. */
function commandsAfter(
  context: CommandContext,
  home: string,
  proofs: readonly ChapterProof[],
): readonly string[] {
  const runIds = proofs.flatMap((proof) => proof.runIds);
  return [
    drillCommand(context, home, 'runs'),
    drillCommand(context, home, 'audit', 'verify'),
    ...runIds.map((runId) => drillCommand(context, home, 'report', runId)),
  ];
}

/** The lab's default instances, and those that only these chapters need. */
export function instancesFor(chapters: readonly Chapter[]): NonNullable<LabOptions['instances']> {
  const own = chapters.flatMap(({ instances = [] }) => instances);
  if (own.length > 0) return own;
  const known = new Set(DEFAULT_INSTANCES.map(({ name }) => name));
  const further = new Set(chapters.map(({ instance }) => instance).filter((name) => !known.has(name)));
  const made = [...further].map(
    (name): InstanceWish => ({ name, backupType: 'continuous_archiving', sampleApp: true, key: true }),
  );
  return [...DEFAULT_INSTANCES, ...made];
}

/** Says how often a drill is due. A drill needs no config: an unreadable one is only reported on stderr. */
async function configIfAny(context: CommandContext): Promise<LoadedConfig | undefined> {
  try {
    return await loadConfig(context.env, context.configPath);
  } catch (thrown) {
    if (!(thrown instanceof LifeboatError)) throw thrown;
    if (thrown.code !== 'config.missing' || context.configPath !== undefined)
      context.stderr.write(`note: when the next drill is due is unknown: ${show(thrown.shortMessage)}\n`);
    return undefined;
  }
}

interface AfterDrill {
  readonly junit: string | undefined;
  readonly keep: number | undefined;
  /** Undefined for a drill that got no folder. */
  readonly folder: string | undefined;
}

/**
 * Writes the result of a drill that is over, notifies that it failed, and removes the drills that need not be
 * kept; a failure of one does not stop the others. Returns what went wrong. Never rejects.
 */
async function endDrill(
  context: CommandContext,
  record: DrillRecord,
  { junit, keep, folder }: AfterDrill,
): Promise<readonly unknown[]> {
  const problems: unknown[] = [];
  const attempt = async (act: () => Promise<void> | void) => {
    try {
      await act();
    } catch (thrown) {
      problems.push(thrown);
    }
  };
  if (junit !== undefined) await attempt(() => writeJunit(junit, record));
  await notifyFailure(context, record);
  if (keep !== undefined && folder !== undefined) await attempt(() => keepNewest(context, folder, keep));
  return problems;
}

/**
 * Unless a person watches, who is not asked for a vault's passphrase for this. Never rejects; the next
 * `lifeboat notify send` sends the rest.
 */
async function notifyFailure(context: CommandContext, drill: DrillRecord): Promise<void> {
  if (!isFailure(drill) || context.stdin.isTTY === true) return;
  try {
    if ((await loadConfig(context.env, context.configPath)).notify.length === 0) return;
    const { sendNow } = await import('../notify/notify.ts');
    await sendNow(context, { drill });
  } catch (thrown) {
    // Config errors were already reported before the drill.
    if (thrown instanceof LifeboatError && thrown.code.startsWith('config.')) return;
    const why = thrown instanceof Error ? thrown.message : 'for an unknown reason';
    context.stderr.write(`warning: the notification of the failed drill was not sent: ${show(why, 200)}\n`);
  }
}

/**
 * Rejects with `drill.simulated` where the lab of the config says that it is simulated: who drills beside one
 * may take the evidence for one of its instances. A lab that does not answer is none.
 */
async function refuseSimulated(config: LoadedConfig): Promise<void> {
  if (config.lab === undefined) return;
  const { labOf } = await import('../app/load-lab.ts');
  const { askLab, LabOverview } = await import('../../service/lab-client.ts');
  const look = { method: 'GET', path: '/lab' } as const;
  const lab = await askLab(await labOf(config), look, LabOverview).catch(() => undefined);
  if (lab?.simulated !== true) return;
  const what =
    'the lab of lifeboat.yaml is simulated: it restores nothing, so no drill beside it is evidence';
  throw new LifeboatError('drill.simulated', what, {
    hints: [
      'a drill makes a lab of its own, on real PostgreSQL: name another config with --config FILE or LIFEBOAT_CONFIG',
      'nothing was started',
    ],
    exitCode: EXIT.usage,
  });
}
