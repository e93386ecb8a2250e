import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { replacesData, touchesOf } from '../../../machines/parts/touches.ts';
import { failureOf, LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { EvidenceRun } from '../../evidence/evidence-schema.ts';
import type { Brand } from '../../report/brand.ts';
import { objective } from '../../report/estate.ts';
import type { Report } from '../../report/model/model.ts';
import { renderPlanReport, renderReport } from '../../report/render-report.ts';
import { fieldsOf, type JournalReader } from '../../store/journal.ts';
import type { RunSummary } from '../../store/projections/run-summary.ts';
import { isPlanRun, planReportOf } from '../plans/plan-report-of.ts';
import { receiptOfRun } from '../receipt.ts';
import { reportOf } from '../run/run-report.ts';
import type { Pack } from './pack.ts';
import { type PackedRun, pastDamage } from './record.ts';

/** The record that runs are read from, and where they go. */
export interface Ground {
  readonly context: CommandContext;
  readonly journal: JournalReader;
  readonly pack: Pack;
  readonly brand: Brand;
  /** Missing where the record is not intact: a signature would vouch for it. */
  readonly bundle?: ((run: RunSummary) => Promise<Buffer>) | undefined;
  readonly receipts: ReadonlyMap<string, EvidenceRun['receipts']>;
  /** Makes a receipt for each run that is over and has none. */
  readonly makesReceipts: boolean;
  /** The drill that it is the record of. */
  readonly drill?: string | undefined;
  /** Takes what could not be packed, as a sentence. */
  readonly limit: (text: string) => void;
}

/**
 * Packs runs one at a time, each with its report and its bundle, and gives their rows of the index. The
 * bundle of a plan's run has those that it started in it, so they have none of their own beside it.
 */
export async function packRuns(ground: Ground, runs: readonly PackedRun[]): Promise<readonly EvidenceRun[]> {
  const there = new Set(runs.map(({ runId }) => runId));
  const rows: EvidenceRun[] = [];
  for (const run of runs) rows.push(await packed(ground, run, there));
  return rows;
}

async function packed(ground: Ground, run: PackedRun, there: ReadonlySet<string>): Promise<EvidenceRun> {
  const { runId, planRun, status, startedAt, lastAt } = run;
  const { runbook, instance, target, mode, by, result } = run;
  const folder = folderOf(runId);
  const kind = await kindOf(pastDamage(ground.journal, ground.limit), run);
  const report = await packReport(ground, run, folder);
  const ofPlan = planRun !== undefined && there.has(planRun) ? planRun : undefined;
  const made =
    status === 'open' || !ground.makesReceipts ? undefined : await packReceipt(ground, run, folder);
  return {
    ...{ runId, runbook, instance, mode, startedAt, status, kind, deviations: 0 },
    ...(target === undefined ? {} : { target }),
    ...(by === undefined ? {} : { by }),
    ...(result === undefined ? {} : { result }),
    ...(status === 'open' ? {} : { endedAt: lastAt }),
    ...(planRun === undefined ? {} : { planRun }),
    ...(ground.drill === undefined ? {} : { drill: ground.drill }),
    ...report,
    ...(ofPlan === undefined
      ? await packBundle(ground, run, folder)
      : ground.bundle === undefined
        ? {}
        : { bundle: `${folderOf(ofPlan)}/bundle.tar` }),
    receipts: [...(ground.receipts.get(runId) ?? []), ...(made === undefined ? [] : [made])],
    ...(made === undefined ? {} : { receipt: `${folder}/receipt` }),
  };
}

/** Ids are ULIDs; a record that says otherwise names no file. */
function folderOf(runId: string): string {
  return `runs/${runId.replaceAll(/[^\w-]/gu, '_').slice(0, 40)}`;
}

type Told = Pick<EvidenceRun, 'report' | 'rto' | 'rpo' | 'deviations'>;

async function packReport(ground: Ground, run: PackedRun, folder: string): Promise<Partial<Told>> {
  const { journal, pack, brand, limit } = ground;
  try {
    const { measured, deviations, textIn } = await reported(journal, run, brand);
    for (const format of ['html', 'json'] as const) pack.put(`${folder}/report.${format}`, textIn(format));
    return {
      report: `${folder}/report.html`,
      deviations: deviations.length,
      ...(measured && { rto: objective(measured.rto) }),
      ...(measured?.rpo && { rpo: objective(measured.rpo) }),
    };
  } catch (thrown) {
    limit(`${run.runId} has no report: ${reasonOf(thrown, ['output.file', 'evidence.secret'])}`);
    return {};
  }
}

type Measured = NonNullable<Report['measured']>;

interface Reported {
  readonly deviations: readonly object[];
  readonly measured?:
    | { readonly rto: Measured['rto']; readonly rpo?: Measured['rpo'] | undefined }
    | undefined;
  textIn(format: 'html' | 'json'): string;
}

async function reported(journal: JournalReader, run: PackedRun, brand: Brand): Promise<Reported> {
  const found = isPlanRun(run) ? await planReportOf(journal, run) : undefined;
  if (found !== undefined)
    return { ...found.plan, textIn: (format) => renderPlanReport(found.plan, format, brand) };
  const report = await reportOf(journal, run);
  return { ...report, textIn: (format) => renderReport(report, format, brand) };
}

async function packBundle(
  { bundle, pack, limit }: Ground,
  run: PackedRun,
  folder: string,
): Promise<Pick<EvidenceRun, 'bundle'>> {
  if (bundle === undefined) return {};
  try {
    const tar = await bundle(run);
    pack.put(`${folder}/bundle.tar`, tar);
    return { bundle: `${folder}/bundle.tar` };
  } catch (thrown) {
    limit(`${run.runId} has no bundle: ${reasonOf(thrown, ['output.file', 'evidence.secret'])}`);
    return {};
  }
}

/** The receipt of a run that has none, as `lifeboat receipt` makes it; undefined where there can be none. */
async function packReceipt(
  { context, pack, receipts, limit }: Ground,
  { runId }: PackedRun,
  folder: string,
): Promise<EvidenceRun['receipts'][number] | undefined> {
  if (receipts.has(runId)) return undefined;
  const made = mkdtempSync(join(tmpdir(), 'lifeboat-receipt-'));
  // The pack has said what limits its record; it is not said again for each run.
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  try {
    const out = join(made, 'receipt');
    const { result, sha256 } = await receiptOfRun({ ...context, stderr: silent }, runId, out);
    for (const name of readdirSync(out)) pack.put(`${folder}/receipt/${name}`, readFileSync(join(out, name)));
    return { result, sha256, at: new Date().toISOString() };
  } catch (thrown) {
    limit(`${runId} has no receipt: ${reasonOf(thrown, ['output.file', 'evidence.secret'])}`);
    return undefined;
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

/** What keeps one run out of the pack; throws what keeps the pack from being made. */
function reasonOf(thrown: unknown, fatal: readonly string[]): string {
  if (!(thrown instanceof LifeboatError) || fatal.includes(thrown.code)) throw thrown;
  return show(failureOf(thrown).shortMessage, 300);
}

async function kindOf(journal: Pick<JournalReader, 'read'>, run: PackedRun): Promise<EvidenceRun['kind']> {
  if (isPlanRun(run)) return 'plan';
  if (run.mode === 'REHEARSAL') return 'rehearsal';
  if (run.runbook === 'rotate-key') return 'rotation';
  return (await bringsDataBack(journal, run)) ? 'recovery' : 'other';
}

/** Whether a run brings data of its instance back, or into its target, by its first entry. */
export async function bringsDataBack(
  journal: Pick<JournalReader, 'read'>,
  { runId, runbook }: Pick<RunSummary, 'runId' | 'runbook'>,
): Promise<boolean> {
  const [started] = await journal.read(`run/${runId}`);
  if (started === undefined) return false;
  const touches = touchesOf(runbook, fieldsOf(started.body)['input']);
  return touches !== undefined && replacesData(touches);
}
