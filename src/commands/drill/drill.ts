import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { homeFolder } from '../../config/load.ts';
import { EXIT } from '../../errors.ts';
import { DEFAULT_INSTANCES, type InstanceWish } from '../../lab/instance-plan.ts';
import type { LabOptions } from '../../lab/lab.ts';
import { printableJson } from '../../text.ts';
import type { CommandContext } from '../context.ts';
import { scenarioFor, stopSignal } from '../lab.ts';
import { runbookNamed } from '../runbook-files.ts';
import type { Chapter, ChapterProof } from './chapter.ts';
import { chaptersFor } from './chapters.ts';
import { drillReport, drillSummary } from './drill-report.ts';
import { runReports } from './run-reports.ts';
import { journalIn, type Stage, setStage } from './stage.ts';

interface DrillFlags {
  readonly auto?: boolean;
  readonly report?: string;
  readonly revision: '61' | '62';
  readonly scenario?: string;
  readonly json?: boolean;
}

/**
 * `lifeboat drill`: a whole story on a lab, or one runbook of it: things happen to real databases, runs bring them back, every row is compared,
 * and it says what was proven. Lab, databases and keys are gone afterwards, whatever ends it; reports and journal stay.
 */
export async function drill(
  context: CommandContext,
  [name]: readonly string[],
  flags: DrillFlags,
): Promise<number> {
  const scenario = flags.scenario === undefined ? undefined : await scenarioFor(flags.scenario);
  const runbook = name === undefined ? undefined : runbookNamed(name).id;
  const chapters = chaptersFor({ runbook, scenario: scenario?.name, revision: flags.revision });
  const folder = flags.report === undefined ? defaultFolder(context) : resolve(flags.report);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const stop = stopSignal();
  const say = (line: string) => context.stderr.write(`${line}\n`);
  say('starting the lab: the service on this machine, on real PostgreSQL');
  try {
    await using stage = await setStage(context, {
      folder,
      auto: flags.auto ?? false,
      json: flags.json ?? false,
      signal: stop.signal,
      lab: {
        revision: flags.revision === '61' ? 61 : 62,
        instances: instancesFor(chapters),
        ...(scenario === undefined ? {} : { scenario }),
      },
    });
    const proofs = await playAll(stage, chapters);
    if (stop.signal.aborted) return left(say, folder);
    if (stage.ended !== undefined) {
      if (stage.ended === EXIT.interrupted) return left(say, folder);
      say(`the drill ends here: the run was not proven; ${whatStays(folder)}`);
      // Its lab is gone: there is no run left that could wait for anybody.
      return stage.ended === EXIT.waiting ? EXIT.failed : stage.ended;
    }
    return await conclude(context, stage, proofs, flags.json ?? false);
  } catch (thrown) {
    if (stop.signal.aborted) return left(say, folder);
    throw thrown;
  } finally {
    stop.release();
  }
}

/** A drill that somebody has left proves nothing, and has nothing to go on with: its lab is gone. */
function left(say: (line: string) => void, folder: string): number {
  say(
    `the drill was left: its lab and its databases are gone, and it cannot be resumed; ${whatStays(folder)}`,
  );
  return EXIT.interrupted;
}

function whatStays(folder: string): string {
  const journal = journalIn(folder);
  return existsSync(journal)
    ? `no report was written; the journal is ${journal}`
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

/** Writes the reports and says what was shown. */
async function conclude(
  context: CommandContext,
  stage: Stage,
  proofs: readonly ChapterProof[],
  json: boolean,
): Promise<number> {
  const { folder, workspace, config } = stage;
  const path = join(folder, 'report.md');
  const parts: string[] = [];
  for (const proof of proofs) {
    parts.push(...(await runReports(workspace.journal, folder, proof)));
    parts.push(drillReport(proof, config.instances));
  }
  await writeFile(path, parts.join('\n'), { mode: 0o600 });
  const proven = proofs.every((proof) => proof.proven);
  const ended = { proven, report: path, journal: journalIn(folder) };
  context.stdout.write(
    json
      ? `${printableJson({ drill: { ...ended, chapters: proofs } })}\n`
      : drillSummary(proofs, ended, config.instances),
  );
  return proven ? EXIT.closed : EXIT.failed;
}

/** The two that every lab has, and those that only a chapter needs. */
function instancesFor(chapters: readonly Chapter[]): NonNullable<LabOptions['instances']> {
  const known = new Set(DEFAULT_INSTANCES.map(({ name }) => name));
  const further = new Set(chapters.map(({ instance }) => instance).filter((name) => !known.has(name)));
  const made = [...further].map(
    (name): InstanceWish => ({ name, backupType: 'continuous_archiving', shop: true, key: true }),
  );
  return [...DEFAULT_INSTANCES, ...made];
}

function defaultFolder(context: CommandContext): string {
  const stamp = new Date().toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-');
  return join(homeFolder(context.env), 'drills', stamp);
}
