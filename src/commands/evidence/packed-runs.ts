import type { LogBundle } from '../../audit/bundle/log-bundle.ts';
import { JOURNAL, runFile } from '../../audit/bundle/names.ts';
import type { EvidenceRun } from '../../evidence/evidence-schema.ts';
import type { Brand } from '../../report/brand.ts';
import { objective } from '../../report/estate.ts';
import type { Report } from '../../report/model/model.ts';
import { renderPlanReport, renderReport } from '../../report/render-report.ts';
import type { JournalReader } from '../../store/journal.ts';
import { childrenOf } from '../../store/projections/plan-children.ts';
import { bringsDataBack } from '../../store/projections/recoveries.ts';
import { machineFiles } from '../audit/bundle-documents.ts';
import { isPlanRun, planReportOf } from '../plans/plan-report-of.ts';
import { reportOf } from '../run/run-report.ts';
import type { Part } from './pack.ts';
import { reasonOf } from './reason-of.ts';
import { type PackedRun, pastDamage, type ReportReader } from './record.ts';

export interface RunGround {
  readonly journal: Pick<JournalReader, 'read'>;
  readonly reader: ReportReader;
  readonly part: Part;
  /** Where the part is in the pack: empty, or the folder of a drill with a slash. */
  readonly at: string;
  readonly brand: Brand;
  /** The receipts on record, by run. */
  readonly receipts: ReadonlyMap<string, EvidenceRun['receipts']>;
  /** The drill that it is the record of. */
  readonly drill?: string | undefined;
  /** Takes what could not be packed, as a sentence. */
  readonly limit: (text: string) => void;
  /** Missing where the record is not intact: a signature would vouch for it. */
  readonly bundle?: LogBundle | undefined;
  /** The receipts that were made for this pack, by run. */
  readonly made?: ReadonlyMap<string, EvidenceRun['receipts'][number]>;
}

/** Packs runs one at a time, each with its report and its entries, and gives their rows of the index. */
export async function packRuns(
  ground: RunGround,
  runs: readonly PackedRun[],
): Promise<readonly EvidenceRun[]> {
  const rows: EvidenceRun[] = [];
  const runbooks = new Set<string>();
  for (const run of runs) rows.push(await packed(ground, run, runbooks));
  return rows;
}

async function packed(ground: RunGround, run: PackedRun, runbooks: Set<string>): Promise<EvidenceRun> {
  const { runId, planRun, status, startedAt, lastAt } = run;
  const { runbook, instance, target, mode, by, result } = run;
  const { at, drill, receipts } = ground;
  const folder = folderOf(runId);
  const kind = await kindOf(pastDamage(ground.journal, ground.limit), run);
  const report = await packReport(ground, run, folder);
  const made = ground.made?.get(runId);
  return {
    ...{ runId, runbook, instance, mode, startedAt, status, kind, deviations: 0 },
    ...(target === undefined ? {} : { target }),
    ...(by === undefined ? {} : { by }),
    ...(result === undefined ? {} : { result }),
    ...(status === 'open' ? {} : { endedAt: lastAt }),
    ...(planRun === undefined ? {} : { planRun }),
    ...(drill === undefined ? {} : { drill }),
    ...report,
    ...(await packEntries(ground, run, runbooks)),
    receipts: [...(receipts.get(runId) ?? []), ...(made === undefined ? [] : [made])],
    ...(made === undefined ? {} : { receipt: `${at}${folder}/receipt` }),
  };
}

/** Ids are ULIDs; a record that says otherwise names no file. */
function folderOf(runId: string): string {
  return `runs/${runId.replaceAll(/[^\w-]/gu, '_').slice(0, 40)}`;
}

type Told = Pick<EvidenceRun, 'report' | 'rto' | 'rpo' | 'deviations'>;

async function packReport(ground: RunGround, run: PackedRun, folder: string): Promise<Partial<Told>> {
  const { reader, part, at, brand, limit } = ground;
  try {
    const { measured, deviations, textIn } = await reported(reader, run, brand);
    for (const format of ['html', 'json'] as const) part.put(`${folder}/report.${format}`, textIn(format));
    return {
      report: `${at}${folder}/report.html`,
      deviations: deviations.length,
      ...(measured && { rto: objective(measured.rto) }),
      ...(measured?.rpo && { rpo: objective(measured.rpo) }),
    };
  } catch (thrown) {
    limit(`${run.runId} has no report: ${reasonOf(thrown)}`);
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

async function reported(reader: ReportReader, run: PackedRun, brand: Brand): Promise<Reported> {
  const found = isPlanRun(run) ? await planReportOf(reader, run) : undefined;
  if (found !== undefined)
    return { ...found.plan, textIn: (format) => renderPlanReport(found.plan, format, brand) };
  const report = await reportOf(reader, run);
  return { ...report, textIn: (format) => renderReport(report, format, brand) };
}

/** The entries of a run and what explains them; the machine of a runbook is the same for all of its runs. */
async function packEntries(
  { bundle, part, at, limit }: RunGround,
  run: PackedRun,
  runbooks: Set<string>,
): Promise<Pick<EvidenceRun, 'journal'>> {
  if (bundle === undefined) return {};
  const { runId, runbook, version } = run;
  try {
    const entries = await bundle.run(runId);
    const shared = isPlanRun(run) ? runFile(runId, '') : `runbooks/${runbook}-${version}/`;
    for (const [name, text] of machineFiles(run, entries)) {
      const file = name.startsWith('machine.') ? `${shared}${name}` : runFile(runId, name);
      if (runbooks.has(file)) continue;
      if (name.startsWith('machine.')) runbooks.add(file);
      part.put(file, text);
    }
    return { journal: `${at}${runFile(runId, JOURNAL)}` };
  } catch (thrown) {
    limit(`${runId} has no signed record: ${reasonOf(thrown)}`);
    return {};
  }
}

/** Also steps that are no runbooks. */
export async function stepsOf(
  journal: Pick<JournalReader, 'rows'>,
  { runId }: PackedRun,
): Promise<readonly string[]> {
  return (await childrenOf(journal, runId)).map((child) => child.runId);
}

async function kindOf(journal: Pick<JournalReader, 'read'>, run: PackedRun): Promise<EvidenceRun['kind']> {
  if (isPlanRun(run)) return 'plan';
  if (run.mode === 'REHEARSAL') return 'rehearsal';
  if (run.runbook === 'rotate-key') return 'rotation';
  return (await bringsDataBack(journal, run)) ? 'recovery' : 'other';
}
