import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EXIT } from '../../base/errors.ts';
import type { CommandContext } from '../../cli/context.ts';
import { printResult } from '../../cli/print-result.ts';
import { stopSignal } from '../../cli/stop-signal.ts';
import { runbookNamed } from '../../compose/runbook-files.ts';
import { locatePostgres } from '../../lab/engine/locate-postgres.ts';
import { DEFAULT_INSTANCES, type InstanceWish } from '../../lab/instance-plan.ts';
import type { LabOptions } from '../../lab/lab.ts';
import { appendHolding } from '../../runner/holds.ts';
import { COMPARED, Compared } from '../../store/compared.ts';
import type { Journal } from '../../store/journal.ts';
import { scenarioFor } from '../lab/lab.ts';
import { brandOf } from '../run/brand-of.ts';
import type { Chapter, ChapterProof } from './chapter.ts';
import { chaptersFor } from './chapters.ts';
import { drillCommand, journalIn, knowingStore, newDrillHome } from './drill-homes.ts';
import { drillReport, drillSummary } from './drill-report.ts';
import { runReports } from './run-reports.ts';
import { type Stage, setStage } from './stage.ts';

interface DrillFlags {
  readonly auto?: boolean;
  readonly report?: string;
  readonly revision: '61' | '62';
  readonly scenario?: string;
}

/**
 * `lifeboat drill`: a full drill on a lab, or one runbook: real databases are damaged, runs bring them
 * back, every row is compared, and it says what was proven. Lab, databases and keys are gone afterwards,
 * whatever ends it; reports and journal stay.
 */
export async function drill(
  outside: CommandContext,
  [name]: readonly string[],
  flags: DrillFlags,
): Promise<number> {
  const scenario = flags.scenario === undefined ? undefined : await scenarioFor(flags.scenario);
  const runbook = name === undefined ? undefined : runbookNamed(name).id;
  const chapters = chaptersFor({ runbook, scenario: scenario?.name, revision: flags.revision });
  // Before the drill gets a folder of its own: without PostgreSQL it would leave an empty one.
  locatePostgres();
  const context = await knowingStore(outside);
  const folder = await newDrillHome(context.env, flags.report);
  const stop = stopSignal();
  const say = (line: string) => context.stderr.write(`${line}\n`);
  say('starting the lab: a simulator of the service on this machine, on real PostgreSQL');
  try {
    await using stage = await setStage(context, {
      folder,
      auto: flags.auto ?? false,
      signal: stop.signal,
      lab: {
        revision: flags.revision === '61' ? 61 : 62,
        instances: instancesFor(chapters),
        ...(scenario === undefined ? {} : { scenario }),
      },
    });
    const proofs = await playAll(stage, chapters);
    if (stop.signal.aborted) return left(context, folder);
    if (stage.ended !== undefined) {
      if (stage.ended === EXIT.interrupted) return left(context, folder);
      say(`the drill ends here: the run was not proven; ${whatStays(context, folder)}`);
      // Its lab is gone: there is no run left that could wait for anybody.
      return stage.ended === EXIT.waiting ? EXIT.failed : stage.ended;
    }
    return await conclude(context, stage, proofs);
  } catch (thrown) {
    if (stop.signal.aborted) return left(context, folder);
    throw thrown;
  } finally {
    stop.release();
  }
}

/** A drill that was left proves nothing and cannot be resumed: its lab is gone. */
function left(context: CommandContext, folder: string): number {
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
    : 'nothing was recorded yet';
}

/** One chapter after the other; the first whose run is not closed ends the drill. */
async function playAll(stage: Stage, chapters: readonly Chapter[]): Promise<ChapterProof[]> {
  const proofs: ChapterProof[] = [];
  for (const [at, chapter] of chapters.entries()) {
    if (chapters.length > 1) stage.say(`chapter ${at + 1}/${chapters.length}: ${chapter.title}`);
    const proof = await chapter.play(stage);
    if (proof === undefined || stage.signal.aborted) return proofs;
    proofs.push(proof);
  }
  return proofs;
}

/** Puts what the databases said on record, writes the reports and says what was shown. */
async function conclude(
  context: CommandContext,
  stage: Stage,
  proofs: readonly ChapterProof[],
): Promise<number> {
  const { folder, workspace, config } = stage;
  const path = join(folder, 'report.md');
  const parts: string[] = [];
  const brand = await brandOf(context);
  for (const proof of proofs) {
    await recordComparison(workspace.journal, proof);
    parts.push(...(await runReports(workspace.journal, folder, proof, brand)));
    parts.push(drillReport(proof, config.instances));
  }
  await writeFile(path, parts.join('\n'), { mode: 0o600 });
  const proven = proofs.every((proof) => proof.proven);
  const ended = { proven, report: path, journal: journalIn(folder) };
  await printResult(context, 'drill', { ...ended, chapters: proofs }, () => {
    const commands = commandsAfter(context, folder, proofs);
    context.stdout.write(drillSummary(proofs, { ...ended, commands }, config.instances));
  });
  return proven ? EXIT.closed : EXIT.failed;
}

/** In the ledger of the instance: the record of a run ends with the run. */
async function recordComparison(journal: Journal, proof: ChapterProof): Promise<void> {
  const { instance, title, proven, tables, checks, runIds } = proof;
  const body = { run: runIds.at(-1) ?? '', title, proven, tables, checks };
  await appendHolding(journal, [
    { stream: `instance/${instance}`, type: COMPARED, body: Compared.parse(body) },
  ]);
}

/** What can be done with what stays, ready to be copied. */
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

/** The two that every lab has, and those that only a chapter needs. */
function instancesFor(chapters: readonly Chapter[]): NonNullable<LabOptions['instances']> {
  const known = new Set(DEFAULT_INSTANCES.map(({ name }) => name));
  const further = new Set(chapters.map(({ instance }) => instance).filter((name) => !known.has(name)));
  const made = [...further].map(
    (name): InstanceWish => ({ name, backupType: 'continuous_archiving', sampleApp: true, key: true }),
  );
  return [...DEFAULT_INSTANCES, ...made];
}
