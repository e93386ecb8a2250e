import { hash } from 'node:crypto';
import { arch, platform } from 'node:os';
import { runbookOf } from '../../../machines/index.ts';
import { childFile } from '../../audit/bundle/names.ts';
import type { BundleFiles } from '../../audit/bundle/pack.ts';
import { ownFile } from '../../base/own-program.ts';
import { printableJson, show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Brand } from '../../report/brand.ts';
import type { Report } from '../../report/model/model.ts';
import { FORMATS, renderPlanReport, renderReport } from '../../report/render-report.ts';
import { type Entry, fieldsOf, type JournalReader } from '../../store/journal.ts';
import type { RunSummary } from '../../store/projections/run-summary.ts';
import { type PlanNames, plannedSteps } from '../../view/dry-run-view.ts';
import { drawingsOf, machineTable } from '../../view/machine-drawing.ts';
import type { PlannedStep } from '../../view/plan-schema.ts';
import { isPlanRun, type PlanReports, planReportOf } from '../plans/plan-report-of.ts';
import { pathOf } from '../run/assert-supported.ts';
import { brandOf, reportOf } from '../run/run-report.ts';

/** Report, plan, machine, versions and verifier. */
export async function bundleDocuments(
  context: CommandContext,
  journal: JournalReader,
  summary: RunSummary,
  entries: readonly Entry[],
): Promise<BundleFiles> {
  const documents = new Map<string, string | Buffer>([
    ...(await reportFiles(context, journal, summary)),
    ...machineFiles(summary, entries),
    ['tools.json', `${printableJson(toolsOf(context, entries))}\n`],
    ['verify.mjs', ownFile('src/audit/bundle/verify.mjs')],
  ]);
  return new Map([...documents].map(([name, text]) => [name, Buffer.from(text)]));
}

async function reportFiles(
  context: CommandContext,
  journal: JournalReader,
  summary: RunSummary,
): Promise<[string, string][]> {
  const brand = await brandOf(context);
  const inAll = (report: Report, nameOf: (file: string) => string) =>
    FORMATS.map((format): [string, string] => [
      nameOf(`report.${format}`),
      renderReport(report, format, brand),
    ]);
  if (isPlanRun(summary)) {
    const others: [string, string][] = [];
    const found = await planReportOf(journal, summary, (run, report) => {
      others.push(...inAll(report, (file) => childFile(run, file)));
    });
    if (found !== undefined) return [...planFiles(found, brand), ...others];
  }
  return inAll(await reportOf(journal, summary), (file) => file);
}

/** The record of a plan's run, with links to that of each run that it started. */
function planFiles({ plan, children }: PlanReports, brand: Brand): [string, string][] {
  return FORMATS.map((format) => {
    const fileOf = (run: string) => (children.has(run) ? childFile(run, `report.${format}`) : undefined);
    return [`report.${format}`, renderPlanReport(plan, format, brand, fileOf)];
  });
}

/**
 * The plan that a run followed, and the machine of its runbook. If the run's version is not kept, says so:
 * the plan of another version is not the one that was followed.
 */
export function machineFiles(
  { runbook: id, version, instance, target }: RunSummary,
  entries: readonly Entry[],
): [string, string][] {
  const runbook = runbookOf(id, version);
  if (runbook === undefined) {
    const why = `the runbook ${id} in version ${version} is not known to this version of lifeboat\n`;
    return [
      ['plan.txt', why],
      ['machine.json', `${printableJson({ id, version, states: null })}\n`],
    ];
  }
  const { input } = (entries[0]?.body ?? {}) as { readonly input?: unknown };
  // The machine of a plan has a region for each of its groups.
  const machine = runbook.machineFor?.(input) ?? runbook.machine;
  const steps = plannedSteps(runbook, { instance, target }, pathOf(runbook, input));
  const states = machineTable(machine);
  const { text: pinned } = fieldsOf(input);
  const description = {
    id,
    version,
    title: runbook.title,
    initial: machine.root.initial.target.map(({ key }) => key),
    states,
  };
  return [
    ...(isPlanRun({ runbook: id }) && typeof pinned === 'string'
      ? [['plan.yaml', pinned] as [string, string]]
      : []),
    ['plan.txt', planText(runbook.title, { instance, target }, steps)],
    [
      'machine.json',
      `${printableJson({ ...description, sha256: hash('sha256', printableJson(states), 'hex') })}\n`,
    ],
    ['machine.mmd', `${drawingsOf(machine).join('\n')}\n`],
  ];
}

/** The programs that took part in a run, by its entries, and the one that made this bundle. */
export function toolsOf({ version }: CommandContext, entries: readonly Entry[]) {
  const { tool } = (entries[0]?.body ?? {}) as { readonly tool?: unknown };
  const { node, sqlite, openssl } = process.versions;
  return {
    run: tool ?? null,
    bundle: {
      lifeboat: version,
      node,
      sqlite: sqlite ?? null,
      openssl: openssl ?? null,
      system: `${platform()} ${arch()}`,
      packages: packagesOf(),
    },
  };
}

/** The build's package list; empty if there was no build. */
function packagesOf(): unknown {
  try {
    return JSON.parse(ownFile('dist/packages.json').toString('utf8'));
  } catch {
    return {};
  }
}

/** The plan of a run as readable lines: what it asks, calls and changes, in order. Looks nothing up. */
function planText(title: string, { instance, target }: PlanNames, steps: readonly PlannedStep[]): string {
  const on = target === undefined ? '' : `target: ${show(target, 80)}\n`;
  return `${show(title)}\ninstance: ${show(instance, 80)}\n${on}\n${steps.map(stepText).join('\n')}`;
}

function stepText(step: PlannedStep, at: number): string {
  const marks = `${step.changes ? ' [changes]' : ''}${step.destructive ? ' [destructive]' : ''}`;
  const lines = [
    ...(step.asks === undefined ? [] : ['asks the operator']),
    ...step.calls.map(
      ({ method, path, on, what }) =>
        `${method} ${path === '' ? 'the instance itself' : path} on ${on}: ${what}`,
    ),
    ...step.calls.flatMap(({ needs, forever }) => [
      ...(needs === undefined ? [] : [`what has to hold: ${needs}`]),
      ...(forever === undefined ? [] : [`what cannot be undone: ${forever}`]),
    ]),
    ...step.does,
    ...(step.wayBack === undefined ? [] : [`the way back: ${step.wayBack}`]),
  ];
  return `${at + 1}. ${step.title} (${step.state})${marks}\n${lines.map((line) => `   ${line}\n`).join('')}`;
}
